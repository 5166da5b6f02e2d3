import type { Tx, Store } from '../tx.ts';

interface Write {
  id: string;
  work: (tx: Tx) => Promise<void>;
}

const mostAtOnce = 25;

/**
 * On SQLite several writes share a commit, or get their own if one fails; on PostgreSQL each has its own. `onFailed` gets failed writes.
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
    /** Resolves when more may be added, not when written. */
    async add(write: Write): Promise<void> {
      if (store.dialect === 'postgres') return alone(write);
      gathered.push(write);
      if (gathered.length >= mostAtOnce) await flush();
    },
    /** Resolves when all writes are committed or failed. */
    flush,
  };
}
