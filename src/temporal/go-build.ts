import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { temporalCliVersion } from './binary-cache.ts';
import { programFile, lastLine, runChild } from './programs.ts';

/** A command of a public Go module at a version without replace directives, which `go install` would refuse. */
export interface GoProgram {
  /** As whoever waits for the build is told. */
  title: string;
  module: string;
  version: string;
  /** The command's folder in the module; the program has the name of its last part. */
  command: string;
}

/** Temporal's CLI, with its dev server. */
export const temporalCli: GoProgram = {
  title: 'Temporal',
  module: 'github.com/temporalio/cli',
  version: temporalCliVersion,
  command: 'cmd/temporal',
};

export interface GoBuildInput {
  /** Path of the `go` program. */
  go: string;
  workFolder: string;
  onProgress: (line: string) => void;
  limits: GoLimits;
  signal?: AbortSignal | undefined;
}

/** Milliseconds. */
export interface GoLimits {
  goProbeTimeoutMs: number;
  goBuildTimeoutMs: number;
  /** Every so often a line tells that the build still runs. */
  progressEveryMs: number;
}

/** What a blocked network, or a slow machine, is given. */
export const goLimits: GoLimits = { goProbeTimeoutMs: 45_000, goBuildTimeoutMs: 900_000, progressEveryMs: 10_000 };

/**
 * Builds a program from its public module, into the work folder, and answers its path. The module source is probed first with a short
 * limit, because a blocked one would otherwise show only after minutes. Throws with the reason in one line.
 */
export async function buildWithGo(program: GoProgram, input: GoBuildInput): Promise<string> {
  const { title, module, version, command } = program;
  const { go, workFolder, limits, signal } = input;
  const shared = { command: go, env: { GOBIN: workFolder, CGO_ENABLED: '0' }, cwd: workFolder, signal };
  const probe = await runChild({
    ...shared,
    args: ['list', '-m', `${module}@v${version}`],
    timeoutMs: limits.goProbeTimeoutMs,
  });
  if (probe.code !== 0) throw new Error(`go cannot reach the module source (${probe.fault ?? lastLine(probe.stderr)})`);

  input.onProgress(`building ${title} once with ${go}, 2-4 minutes`);
  const startedAt = performance.now();
  const ticker = setInterval(() => {
    input.onProgress(`building ${title}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, limits.progressEveryMs);
  try {
    const built = await runChild({
      ...shared,
      args: ['install', '-trimpath', '-ldflags=-s -w', `${module}/${command}@v${version}`],
      timeoutMs: limits.goBuildTimeoutMs,
    });
    if (built.code !== 0) throw new Error(`the build failed (${built.fault ?? lastLine(built.stderr)})`);
  } finally {
    clearInterval(ticker);
  }
  const path = join(workFolder, programFile(basename(command)));
  await access(path);
  input.onProgress(`${title} built in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return path;
}
