import { setTimeout as pause } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { DoNotCallLockNeeded, lockToWrite } from './locks.ts';
import type { NewEvent } from '../rules/events.ts';
import { collectEvents } from './events.ts';
import { isPostgres, type Tx } from './tx.ts';
import type { Database } from './schema.ts';

const mostTries = 8;
/** A retry at once could overtake the transaction it made way for. */
const pauseMs = 25;

/** Rolls back and reruns a transaction that read what another was changing. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken' as const;
}

/** Deadlock and serialization failure: PostgreSQL undid everything and expects a rerun. */
const brokenOff = ['40P01', '40001'];

function isBrokenOff(error: unknown): boolean {
  return error instanceof Overtaken || brokenOff.includes((error as { code?: string }).code ?? '');
}

/**
 * Runs `work` in a transaction, again where the database or the lock order requires it. `onCommitted` gets its events, and must not throw.
 */
export async function runTransaction<Result>(
  db: Kysely<Database>,
  work: (tx: Tx) => Promise<Result>,
  onCommitted: (events: readonly NewEvent[]) => void,
): Promise<Result> {
  // SQLite has one writer at a time.
  let writesDoNotCall = !isPostgres(db);
  for (let tries = 1; ; tries += 1) {
    try {
      let events: readonly NewEvent[] = [];
      const result = await db
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (tx) => {
          events = collectEvents(tx);
          if (writesDoNotCall) await lockToWrite(tx);
          return work(tx);
        });
      onCommitted(events);
      return result;
    } catch (error) {
      if (tries === mostTries) throw error;
      if (error instanceof DoNotCallLockNeeded) writesDoNotCall = true;
      else if (isBrokenOff(error)) await pause(tries * pauseMs);
      else throw error;
    }
  }
}
