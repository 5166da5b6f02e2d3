import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../config.ts';
import { cachedBinaryPath, installBinary, temporalCliVersion, withCacheLock } from './binary-cache.ts';
import {
  downloadBinary,
  downloadLimits,
  officialArchive,
  type Archive,
  type DownloadLimits,
} from './binary-download.ts';
import { findOnPath, probeBinary } from './binary-probe.ts';
import { buildBinaryWithGo, type GoLimits } from './go-build.ts';

/** How the program was come by: set by `CARILLON_TEMPORAL_BIN`, on PATH, in the cache, downloaded now, built now. */
export type BinaryStep = 'configured' | 'path' | 'cache' | 'download' | 'go';

/** A `temporal` program that was run once and carries a dev server. */
export interface TemporalBinary {
  path: string;
  step: BinaryStep;
  /** Version of the server inside, such as `1.29.1`. */
  serverVersion: string;
}

type BinaryConfig = Pick<Config, 'CARILLON_TEMPORAL_BIN' | 'PATH' | 'XDG_CACHE_HOME' | 'HOME'>;

export interface ResolveBinaryInput {
  config: BinaryConfig;
  onProgress?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** What is fetched; default: the archive of Temporal's own release. */
  archive?: Archive;
  limits?: Partial<FetchLimits>;
}

interface FetchLimits extends DownloadLimits, GoLimits {
  /** How long to wait for another process that is filling the cache. */
  cacheLockTimeoutMs: number;
}

const fetchLimits: FetchLimits = {
  ...downloadLimits,
  goProbeTimeoutMs: 45_000,
  goBuildTimeoutMs: 900_000,
  progressEveryMs: 10_000,
  cacheLockTimeoutMs: 1_200_000,
};

/** Thrown when no step gave a usable program; its message lists what each step found and what to do. */
export class TemporalBinaryError extends Error {
  override readonly name = 'TemporalBinaryError' as const;
  readonly isBadInput = false;
}

const choices = `Choose one:
  - install the Temporal CLI and have it on PATH (https://docs.temporal.io/cli), or name it in CARILLON_TEMPORAL_BIN
  - install Go (https://go.dev/dl) and run this again: Temporal is then built once, 2-4 minutes
  - set TEMPORAL_ADDRESS to a Temporal server that runs already`;

/**
 * What is usable on this machine without network: `CARILLON_TEMPORAL_BIN`, else `temporal` on PATH, else the cache; null when none is.
 * A configured program that cannot be used is an error and never passed over.
 */
export async function findTemporalBinary(
  config: BinaryConfig,
  onSkip: (reason: string) => void = () => {},
): Promise<TemporalBinary | null> {
  if (config.CARILLON_TEMPORAL_BIN !== undefined) return await useConfigured(config.CARILLON_TEMPORAL_BIN);
  const onPath = await findOnPath('temporal', config.PATH);
  if (onPath === null) onSkip('PATH: no temporal');
  const candidates = [
    { step: 'path', path: onPath },
    { step: 'cache', path: await existing(cachedBinaryPath(config)) },
  ] as const;
  for (const { step, path } of candidates) {
    if (path === null) continue;
    const probe = await probeBinary(path);
    if (probe.usable) return { path, step, serverVersion: probe.version };
    onSkip(`${path}: ${probe.reason}`);
  }
  return null;
}

/**
 * The `temporal` program to start a dev server with. Order: what `findTemporalBinary` finds, else the official download, else a build
 * with Go; the last two fill the cache, once per machine and user. Every step has a limit, so that a blocked network fails over.
 * Throws TemporalBinaryError.
 */
export async function resolveTemporalBinary(input: ResolveBinaryInput): Promise<TemporalBinary> {
  const onProgress = input.onProgress ?? (() => {});
  const failures: string[] = [];
  const fail = (reason: string): void => void failures.push(reason);
  const found = await findTemporalBinary(input.config, fail);
  if (found !== null) return found;

  const target = cachedBinaryPath(input.config);
  const limits = { ...fetchLimits, ...input.limits };
  const lock = {
    folder: dirname(target),
    timeoutMs: limits.cacheLockTimeoutMs,
    onWait: () => onProgress('another process is fetching Temporal; waiting for it'),
    signal: input.signal,
  };
  try {
    const fetched = await withCacheLock(lock, () => fetchBinary({ ...input, onProgress, limits, target, fail }));
    if (fetched !== null) return fetched;
  } catch (error) {
    input.signal?.throwIfAborted();
    fail(`cache ${dirname(target)}: ${reasonOf(error)}`);
  }
  throw new TemporalBinaryError(
    `No Temporal server program was found or could be fetched:\n${failures.map((line) => `  - ${line}`).join('\n')}\n${choices}`,
  );
}

interface FetchInput extends ResolveBinaryInput {
  onProgress: (line: string) => void;
  limits: FetchLimits;
  target: string;
  fail: (reason: string) => void;
}

async function fetchBinary(input: FetchInput): Promise<TemporalBinary | null> {
  const { config, target, limits, onProgress, signal, fail } = input;
  const cached = await probeExisting(target, 'cache');
  if (cached !== null) return cached;

  const archive = input.archive ?? officialArchive();
  if (archive === null) {
    fail(`download: no checksum is known of Temporal ${temporalCliVersion} for ${process.platform} ${process.arch}`);
  } else {
    const { host } = new URL(archive.url);
    onProgress(`fetching Temporal ${temporalCliVersion} from ${host}`);
    try {
      await installBinary(target, (workFolder) => checked(downloadBinary({ archive, workFolder, limits, signal })));
      return await probeExisting(target, 'download');
    } catch (error) {
      signal?.throwIfAborted();
      fail(`download from ${host}: ${reasonOf(error)}`);
      onProgress(`the download failed (${reasonOf(error)}); trying Go`);
    }
  }

  const go = await findOnPath('go', config.PATH);
  if (go === null) {
    fail('go install: no go on PATH');
    return null;
  }
  try {
    const build = { go, onProgress, limits, signal };
    await installBinary(target, (workFolder) => checked(buildBinaryWithGo({ ...build, workFolder })));
    return await probeExisting(target, 'go');
  } catch (error) {
    signal?.throwIfAborted();
    fail(`go install: ${reasonOf(error)}`);
    return null;
  }
}

/** Nothing enters the cache that was not run once: a truncated or foreign program would block every later start. */
async function checked(made: Promise<string>): Promise<string> {
  const path = await made;
  const probe = await probeBinary(path);
  if (!probe.usable) throw new Error(probe.reason);
  return path;
}

async function useConfigured(path: string): Promise<TemporalBinary> {
  const probe = await probeBinary(path);
  if (probe.usable) return { path, step: 'configured', serverVersion: probe.version };
  throw new TemporalBinaryError(
    `CARILLON_TEMPORAL_BIN names ${path}, which cannot be used: ${probe.reason}. Correct it or unset it.`,
  );
}

async function existing(path: string): Promise<string | null> {
  return await access(path).then(
    () => path,
    () => null,
  );
}

async function probeExisting(path: string, step: BinaryStep): Promise<TemporalBinary | null> {
  if ((await existing(path)) === null) return null;
  const probe = await probeBinary(path);
  return probe.usable ? { path, step, serverVersion: probe.version } : null;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = error.message === '' && 'code' in error ? String(error.code) : error.message;
  return reason.split('\n')[0] ?? '';
}
