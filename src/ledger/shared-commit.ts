import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from './open-ledger.ts';
import type { Tx } from './tx.ts';

/**
 * A `transaction` for many small pieces of work that do not depend on each other. On SQLite, where transactions take turns and each commit
 * waits for the disk, those that are ready at the same time commit together; where one fails, each is run by itself. On PostgreSQL, where
 * they run beside each other, each has its own.
 */
export function shareCommits(store: Pick<Store, 'dialect' | 'transaction'>): Store['transaction'] {
  if (store.dialect === 'postgres') return (work) => store.transaction(work);
  let ready: ((tx: Tx) => Promise<unknown>)[] = [];
  let commit: Promise<Map<unknown, unknown> | null> | null = null;

  const commitReady = async (): Promise<Map<unknown, unknown> | null> => {
    // Answers that have arrived by now are read first, and bring their work along.
    await nextTurn();
    const works = ready;
    [ready, commit] = [[], null];
    const results = new Map<unknown, unknown>();
    const done = store.transaction(async (tx) => {
      for (const work of works) results.set(work, await work(tx));
    });
    return done.then(
      () => results,
      () => null,
    );
  };

  return async <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => {
    ready.push(work);
    commit ??= commitReady();
    const results = await commit;
    return results === null ? store.transaction(work) : (results.get(work) as Result);
  };
}
