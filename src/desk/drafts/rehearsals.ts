import type { ApiContext } from '../../api/core/context.ts';
import { codeOf } from '../../input/error-code.ts';
import { withDraftFiles } from './draft-files.ts';
import type { OpenDraft } from './settings.ts';

/** A rehearsal of a draft, as far as it has come. */
export interface Rehearsal {
  /** What was rehearsed: settings and list as they were then. */
  of: string;
  /** Null while it is under way. Text: why there is no report. */
  ended: object | string | null;
  /** The newest line of progress; null: none yet. */
  line: string | null;
  stop: () => void;
}

/** Enough to see how a campaign goes, and soon over. */
export const mostRehearsedRows = 200;

/** Rehearsals of drafts, one at a time since each takes a machine's share. They end with the process, which forgets their reports. */
export class Rehearsals {
  readonly #context: ApiContext;
  /** By the draft. */
  readonly #kept = new Map<string, Rehearsal>();

  constructor(context: ApiContext) {
    this.#context = context;
  }

  get isOffered(): boolean {
    return this.#context.rehearse !== undefined;
  }

  of(draftId: string): Rehearsal | null {
    return this.#kept.get(draftId) ?? null;
  }

  /** Begins one, unless one is under way: then false. */
  begin(open: OpenDraft): boolean {
    const { rehearse, store, logger } = this.#context;
    if (rehearse === undefined || this.#running() !== undefined) return false;
    const ending = new AbortController();
    const rehearsal: Rehearsal = { of: editionOf(open), ended: null, line: null, stop: () => ending.abort() };
    this.#kept.set(open.draft.draftId, rehearsal);
    void withDraftFiles(store, open, async ({ folder, write }) => {
      const tell = (text: string): string => text.replaceAll(`${folder}/`, '');
      const path = await write();
      const onLine = (line: string): void => void (rehearsal.line = tell(line));
      const answer = await rehearse({ path, rows: mostRehearsedRows, signal: ending.signal, onLine });
      return typeof answer === 'string' ? tell(answer) : answer;
    })
      .catch((error: unknown) => {
        logger.error({ code: codeOf(error) }, 'a rehearsal failed');
        return 'The rehearsal broke off, and why is not known. Begin it again.';
      })
      .then((ended) => (rehearsal.ended = ended));
    return true;
  }

  forget(draftId: string): void {
    this.#kept.get(draftId)?.stop();
    this.#kept.delete(draftId);
  }

  close(): void {
    this.#running()?.stop();
  }

  #running(): Rehearsal | undefined {
    return [...this.#kept.values()].find(({ ended }) => ended === null);
  }
}

/** Tells a draft from itself after a change. */
export function editionOf({ draft, fields }: OpenDraft): string {
  return JSON.stringify([draft.list.listId, fields]);
}
