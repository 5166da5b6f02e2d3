import type { StoreLocation } from '../../../ledger/open-ledger.ts';
import { programBeside, Threads } from '../../../ledger/threads/thread.ts';
import type { BackgroundInput, BackgroundRequest } from './aside-thread.ts';
import type { Background } from './works.ts';

const program = programBeside('aside-thread', import.meta.url);
/** Limits imports and files at once, since each holds memory. */
const mostWorks = 2;

/** Background work in threads: one permanent for reads, and one per other job. */
export function backgroundInThreads(location: StoreLocation): Background {
  const input: BackgroundInput = { location };
  const reading = new Threads<BackgroundRequest>(program, input, { most: 1, keep: true });
  const working = new Threads<BackgroundRequest>(program, input, { most: mostWorks, keep: false });
  const background = {
    read: (name: string, ...args: unknown[]) => reading.ask({ name, told: args }),
    work: (name: string, ...args: unknown[]) => working.ask({ name, told: args }),
    stream: (name: string, ...args: unknown[]) => working.pieces({ name, told: args }),
    close: async () => {
      await Promise.all([reading.close(), working.close()]);
    },
  };
  return background as unknown as Background;
}
