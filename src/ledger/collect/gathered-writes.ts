import type { Tx, Store } from '../tx.ts';

interface Write {
  id: string;
  work: (tx: Tx) => Promise<void>;
}

const mostAtOnce = 25;

/**
 * On SQLite several writes commit together, and each by itself where one fails; on PostgreSQL each has its own transaction. `onFailed` gets
 * those that could not be written.
 */
export function gatherWrites(store: Pick<Store, 'dialect' | 'transaction'>, onFailed: (id: string, error: unknown) => void) {
  let gathered: Write[] = [];
  const alone = ({ id, work }: Write) => store.transaction(work).catch((error: unknown) => onFailed(id, error));

  const flush = async (): Promise<void> => {
    const together = gathered;
    gathered = [];
    if (together.length === 0) return;
    const writeAll = async (tx: Tx) => {
      for (const { work } of together) await work(tx);
    };
    try {
      await store.transaction(writeAll);
    } catch {
      for (const write of together) await alone(write);
    }
  };

  return {
    /** Resolves when there is room for the next one; this one may not be written yet. */
    async add(write: Write): Promise<void> {
      if (store.dialect === 'postgres') return alone(write);
      gathered.push(write);
      if (gathered.length >= mostAtOnce) await flush();
    },
    /** Resolves when everything that was added is written, or has failed. */
    flush,
  };
}
