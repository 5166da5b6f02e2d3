import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { temporalCliVersion } from './binary-cache.ts';
import { programFile } from './binary-probe.ts';
import { lastLine, runChild } from './child-run.ts';

const module = 'github.com/temporalio/cli';

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

/**
 * Builds the CLI with its dev server from the public module, into the work folder, and answers the program's path. The module source is
 * probed first with a short limit, because a blocked one would otherwise show only after minutes. Throws with the reason in one line.
 */
export async function buildBinaryWithGo(input: GoBuildInput): Promise<string> {
  const { go, workFolder, limits, signal } = input;
  const shared = { command: go, env: { GOBIN: workFolder, CGO_ENABLED: '0' }, cwd: workFolder, signal };
  const probe = await runChild({
    ...shared,
    args: ['list', '-m', `${module}@v${temporalCliVersion}`],
    timeoutMs: limits.goProbeTimeoutMs,
  });
  if (probe.code !== 0) throw new Error(`go cannot reach the module source (${probe.fault ?? lastLine(probe.stderr)})`);

  input.onProgress(`building Temporal once with ${go}, 2-4 minutes`);
  const startedAt = performance.now();
  const ticker = setInterval(() => {
    input.onProgress(`building Temporal: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, limits.progressEveryMs);
  try {
    const built = await runChild({
      ...shared,
      args: ['install', '-trimpath', '-ldflags=-s -w', `${module}/cmd/temporal@v${temporalCliVersion}`],
      timeoutMs: limits.goBuildTimeoutMs,
    });
    if (built.code !== 0) throw new Error(`the build failed (${built.fault ?? lastLine(built.stderr)})`);
  } finally {
    clearInterval(ticker);
  }
  const path = join(workFolder, programFile('temporal'));
  await access(path);
  input.onProgress(`Temporal built in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return path;
}
