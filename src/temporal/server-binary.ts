import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readProxies, type Config } from '../shared/config.ts';
import { cachedBinaryPath, installBinary, temporalCliVersion, withCacheLock } from './binary-cache.ts';
import {
  downloadBinary,
  downloadLimits,
  officialArchive,
  type Archive,
  type DownloadLimits,
  buildWithGo,
  goLimits,
  temporalCli,
  type GoLimits,
} from './binary-fetch.ts';
import { findOnPath, probeBinary } from './programs.ts';

/** `CARILLON_TEMPORAL_BIN`, PATH, cache, download or build. */
export type BinaryStep = 'configured' | 'path' | 'cache' | 'download' | 'go';

/** A program proven to run and to contain a dev server. */
export interface TemporalBinary {
  path: string;
  step: BinaryStep;
  /** Of the server inside, such as `1.29.1`. */
  serverVersion: string;
}

type BinaryConfig = Pick<Config, 'CARILLON_TEMPORAL_BIN' | 'PATH' | 'XDG_CACHE_HOME' | 'HOME'>;

export interface ResolveBinaryInput {
  config: BinaryConfig;
  onProgress?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Default: Temporal's release archive. */
  archive?: Archive;
  limits?: Partial<FetchLimits>;
}

interface FetchLimits extends DownloadLimits, GoLimits {
  /** Maximum wait for another process that fills the cache. */
  cacheLockTimeoutMs: number;
}

const fetchLimits: FetchLimits = {
  ...downloadLimits,
  ...goLimits,
  cacheLockTimeoutMs: 1_200_000,
};

/** Thrown without a usable program; its message lists each step's result and what to do. */
export class TemporalBinaryError extends Error {
  override readonly name = 'TemporalBinaryError' as const;
  readonly isBadInput = false;
}

const choices = `Choose one:
  - install the Temporal CLI and have it on PATH (https://docs.temporal.io/cli), or name it in CARILLON_TEMPORAL_BIN
  - install Go (https://go.dev/dl) and run this again: Temporal is then built once, 2-4 minutes
  - set TEMPORAL_ADDRESS to a Temporal server that runs already`;

/** Searches without network: `CARILLON_TEMPORAL_BIN` (throws when unusable), else `temporal` on PATH, else the cache, else null. */
export async function findTemporalBinary(
  config: BinaryConfig,
  onSkip: (reason: string) => void = () => {},
): Promise<TemporalBinary | null> {
  const configured = config.CARILLON_TEMPORAL_BIN;
  if (configured !== undefined)
    return tryProgram(configured, 'configured', (reason) => {
      const what = `CARILLON_TEMPORAL_BIN names ${configured}, which cannot be used: ${reason}`;
      throw new TemporalBinaryError(`${what}. Correct it or unset it.`);
    });
  const onPath = await findOnPath('temporal', config.PATH);
  if (onPath === null) onSkip('PATH: no temporal');
  const found = onPath === null ? null : await tryProgram(onPath, 'path', (reason) => onSkip(`${onPath}: ${reason}`));
  return found ?? findCached(cachedBinaryPath(config), onSkip);
}

async function findCached(path: string, onSkip: (reason: string) => void): Promise<TemporalBinary | null> {
  return existsSync(path) ? tryProgram(path, 'cache', (reason) => onSkip(`${path}: ${reason}`)) : null;
}

/** Null when unusable, with the reason given to `onFault`. */
async function tryProgram(path: string, step: BinaryStep, onFault: (reason: string) => void): Promise<TemporalBinary | null> {
  const probe = await probeBinary(path);
  if (probe.usable) return { path, step, serverVersion: probe.version };
  onFault(probe.reason);
  return null;
}

/**
 * Finds the program by `findTemporalBinary`, else the official download, else a Go build; the last two fill the cache, once per machine and
 * user. Every step has a limit, so that a blocked network fails over. Throws TemporalBinaryError.
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
  // Another process may have filled the cache meanwhile.
  const cached = await findCached(target, () => {});
  if (cached !== null) return cached;
  const install = async (step: 'download' | 'go', make: (workFolder: string) => Promise<string>): Promise<TemporalBinary> => {
    let serverVersion = '';
    await installBinary(target, async (workFolder) => {
      const made = await make(workFolder);
      // A truncated or foreign program in the cache would block every later start.
      const probe = await probeBinary(made);
      if (!probe.usable) throw new Error(probe.reason);
      serverVersion = probe.version;
      return made;
    });
    return { path: target, step, serverVersion };
  };

  const archive = input.archive ?? officialArchive();
  if (archive === null) {
    fail(`download: no checksum is known of Temporal ${temporalCliVersion} for ${process.platform} ${process.arch}`);
  } else {
    const { host } = new URL(archive.url);
    onProgress(`fetching Temporal ${temporalCliVersion} from ${host}`);
    try {
      return await install('download', (workFolder) =>
        downloadBinary({ archive, workFolder, limits, proxies: readProxies(config), signal }),
      );
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
    return await install('go', (workFolder) => buildWithGo(temporalCli, { go, onProgress, limits, signal, workFolder }));
  } catch (error) {
    signal?.throwIfAborted();
    fail(`go install: ${reasonOf(error)}`);
    return null;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = error.message === '' && 'code' in error ? String(error.code) : error.message;
  return reason.split('\n')[0] ?? '';
}
