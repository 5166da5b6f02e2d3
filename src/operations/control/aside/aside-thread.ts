import { setPriority } from 'node:os';
import { platform } from 'node:process';
import { workerData } from 'node:worker_threads';
import { openStore, type StoreLocation } from '../../../ledger/open-ledger.ts';
import { createSqliteDialect } from '../../../ledger/sqlite-dialect.ts';
import { answerOwner } from '../../../ledger/threads/thread.ts';
import { streams, works } from './works.ts';
import type { Store } from '../../../ledger/tx.ts';

/** Thread program for background work, one job at a time, over its own connection. */
const { location } = workerData as BackgroundInput;
/** Waits longer for the write lock than foreground work. */
const sqlite = { cacheKib: 16 * 1024, looksForMs: 60_000 };
/** Lets requests for pages go first. On Linux it is the thread's own priority; elsewhere the whole process's. */
const niceness = 5;
let store: Store | null = null;

if (platform === 'linux') setPriority(niceness);

answerOwner(
  ({ name, told }: BackgroundRequest) => (name in works ? work(name, told) : pieces(name, told)),
  () => store?.close(),
);

async function work(name: string, args: unknown[]): Promise<unknown> {
  return (works as Named)[name]?.(await open(), ...args);
}

async function* pieces(name: string, args: unknown[]): AsyncGenerator {
  yield* (streams as Named)[name]?.(await open(), ...args) as AsyncIterable<unknown>;
}

async function open(): Promise<Store> {
  return (store ??= await openStore(location, 'as-is', (path) => createSqliteDialect(path, sqlite)));
}

type Named = Record<string, ((store: Store, ...args: unknown[]) => unknown) | undefined>;

export interface BackgroundInput {
  location: StoreLocation;
}

export interface BackgroundRequest {
  name: string;
  told: unknown[];
}
