import { once } from 'node:events';
import { setPriority } from 'node:os';
import { platform } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { openStore, type StoreLocation } from '../../../ledger/open-ledger.ts';
import { createSqliteDialect } from '../../../ledger/sqlite-dialect.ts';
import { carryError, type CarriedError } from '../../../ledger/threads/thread.ts';
import { streams, works } from './works.ts';
import type { Store } from '../../../ledger/tx.ts';

/** The program of a thread that does works over a connection of its own to the same database, one at a time. */
const { location } = workerData as AsideInput;
/** It waits for its turn to write for longer than anybody does whom others wait for. */
const sqlite = { cacheKib: 16 * 1024, looksForMs: 60_000 };
/** Whoever asks for a page goes first. On Linux this is the thread's own; elsewhere it would be that of the whole process. */
const niceness = 5;
let store: Store | null = null;

if (platform === 'linux') setPriority(niceness);

async function run({ name, told }: AsideQuestion): Promise<AsideAnswer> {
  try {
    store ??= await openStore(location, 'as-is', (path) => createSqliteDialect(path, sqlite));
    if (name in works) return { value: await (works as Named)[name]?.(store, ...told) };
    const pieces = (streams as Named)[name]?.(store, ...told) as AsyncIterable<string | Uint8Array>;
    for await (const piece of pieces) {
      parentPort?.postMessage({ piece } satisfies AsideAnswer, []);
      const [more] = (await once(parentPort as never, 'message')) as ['more' | 'enough'];
      if (more === 'enough') break;
    }
    return { value: undefined };
  } catch (error) {
    return { error: carryError(error) };
  }
}

parentPort?.on('message', (question: AsideQuestion | 'more' | 'enough' | 'close') => {
  if (question === 'close') return void Promise.resolve(store?.close()).then(() => parentPort?.close());
  // Whoever hands out pieces hears it.
  if (typeof question === 'string') return;
  void run(question).then((answer) => parentPort?.postMessage(answer, []));
});

type Named = Record<string, ((store: Store, ...told: unknown[]) => unknown) | undefined>;

export interface AsideInput {
  location: StoreLocation;
}

export interface AsideQuestion {
  name: string;
  told: unknown[];
}

export type AsideAnswer = { value: unknown } | { error: CarriedError } | { piece: string | Uint8Array };
