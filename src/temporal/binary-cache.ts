import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../shared/config.ts';
import { programFile } from './programs.ts';
import { tryProcessLock } from '../ledger/worker-lock.ts';

/** 1.5.1 is the newest that `go install` accepts: later ones have replace directives. */
export const temporalCliVersion = '1.5.1';

const workFolderPrefix = '.work-';

type CacheConfig = Pick<Config, 'XDG_CACHE_HOME' | 'HOME'>;

/** Shared by all clones of one user. `XDG_CACHE_HOME` counts only when absolute, as its standard says. */
export function temporalCache(config: CacheConfig): string {
  const xdg = config.XDG_CACHE_HOME;
  const cache = xdg !== undefined && isAbsolute(xdg) ? xdg : join(config.HOME ?? homedir(), '.cache');
  return join(cache, 'carillon', 'temporal');
}

export function cachedBinaryPath(config: CacheConfig): string {
  return join(temporalCache(config), `v${temporalCliVersion}`, programFile('temporal'));
}

export interface CacheLockInput {
  folder: string;
  timeoutMs: number;
  onWait: () => void;
  signal?: AbortSignal | undefined;
}

/** Holds this machine's cache lock. Throws when the cache is not writable, or after waiting `timeoutMs`. */
export async function withCacheLock<T>(input: CacheLockInput, work: () => Promise<T>): Promise<T> {
  await mkdir(input.folder, { recursive: true });
  const path = join(input.folder, '.lock');
  const deadline = Date.now() + input.timeoutMs;
  let lock = tryProcessLock(path);
  if (lock === null) input.onWait();
  while (lock === null) {
    if (Date.now() > deadline) throw new Error(`another process has held ${path} for ${input.timeoutMs / 1000} s`);
    await delay(250, undefined, input.signal === undefined ? {} : { signal: input.signal });
    lock = tryProcessLock(path);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Has `fill` make the program in a work folder, then renames it into place atomically. Removes leftovers: call it under the lock. */
export async function installBinary(target: string, fill: (workFolder: string) => Promise<string>): Promise<void> {
  const folder = join(target, '..');
  for (const entry of await readdir(folder)) {
    if (entry.startsWith(workFolderPrefix)) await rm(join(folder, entry), { recursive: true, force: true });
  }
  const workFolder = await mkdtemp(join(folder, workFolderPrefix));
  try {
    const made = await fill(workFolder);
    await chmod(made, 0o755);
    await rename(made, target);
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}
