import type { RequestNotes } from '../../activities/request-notes.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import type { Submitting } from './campaign-loop.ts';

/** What Temporal keeps of the submit under way, from one of its tries to the next. */
export class Witness {
  submitting: Submitting | null = null;
  /** Counts the tries of activities: Temporal hears of the last one alone. */
  tries = 0;
  /** For how many more batches submits went on, and where they were taken up. */
  readonly submits: string[] = [];
  /** How far each try of a submit goes on. */
  readonly #chains: Random;

  constructor(seed: number | string) {
    this.#chains = new Random('chains', seed);
  }

  /** A try that is over hears that it is no task any more. */
  open(): RequestNotes {
    const [submitting, entry] = [this.submitting, this.tries];
    if (submitting === null) throw new Error('No submit is under way.');
    let last = submitting.noted;
    if (last !== null && last.batchId !== submitting.batchId) this.submits.push('taken up at a later batch');
    let more = Math.floor(this.#chains.between(0, 5));
    return {
      get last() {
        return last;
      },
      get mayGoOn() {
        return more >= 0;
      },
      note: async (post) => {
        last = post;
        if (entry !== this.tries) throw new Error('no such task');
        submitting.noted = post;
      },
      answered: () => {
        more -= 1;
      },
      beat: () => {},
      close: () => {},
    };
  }
}
