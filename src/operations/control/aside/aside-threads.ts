import type { StoreLocation } from '../../../ledger/open-ledger.ts';
import { programBeside, Threads } from '../../../ledger/threads/thread.ts';
import type { AsideInput, AsideQuestion } from './aside-thread.ts';
import type { Aside } from './works.ts';

const program = programBeside('aside-thread', import.meta.url);
/** Limits imports and files at once, since each holds memory. */
const mostWorks = 2;

/** Background work in threads: one permanent for reads, and one per other job. */
export function asideInThreads(location: StoreLocation): Aside {
  const input: AsideInput = { location };
  const reading = new Threads<AsideQuestion>(program, input, { most: 1, keep: true });
  const working = new Threads<AsideQuestion>(program, input, { most: mostWorks, keep: false });
  const aside = {
    read: (name: string, ...told: unknown[]) => reading.ask({ name, told }),
    work: (name: string, ...told: unknown[]) => working.ask({ name, told }),
    stream: (name: string, ...told: unknown[]) => working.pieces({ name, told }),
    close: async () => {
      await Promise.all([reading.close(), working.close()]);
    },
  };
  return aside as unknown as Aside;
}
