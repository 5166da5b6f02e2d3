import { createHash } from 'node:crypto';
import type { ApiContext } from '../../api/core/app.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import { beginRehearsal, endRehearsal, findRehearsal } from '../../../ledger/console/rehearsals.ts';
import { withDraftFiles } from './content.ts';
import type { OpenDraft } from './draft-types.ts';

export interface Rehearsal {
  of: string;
  /** Null while it runs. Text: why there is no report. */
  ended: object | string | null;
  line: string | null;
}

interface Running {
  draftId: string;
  line: string | null;
  stop: () => void;
}

/** Enough to see how a campaign goes, and soon over. */
export const mostRehearsedRows = 200;

/** Rehearsals of drafts, one at a time per process because of the load; reports are in the database. */
export class Rehearsals {
  readonly #context: ApiContext;
  #running: Running | null = null;

  constructor(context: ApiContext) {
    this.#context = context;
  }

  get isOffered(): boolean {
    return this.#context.rehearse !== undefined;
  }

  async of(of: Parameters<typeof findRehearsal>[1]): Promise<Rehearsal | null> {
    const found = await findRehearsal(this.#context.store, of);
    if (found === null) return null;
    const { draftId, edition, report } = found;
    const here = this.#running?.draftId === draftId ? this.#running : null;
    if (report === null && here === null) return { of: edition, ended: elsewhere, line: null };
    return {
      of: edition,
      ended: report === null ? null : (JSON.parse(report) as object | string),
      line: here?.line ?? null,
    };
  }

  /** Starts one unless this process runs one; true if that is this draft's. */
  async begin(open: OpenDraft): Promise<boolean> {
    const { rehearse, store, logger } = this.#context;
    const { draftId } = open.draft;
    if (rehearse === undefined) return false;
    if (this.#running !== null) return this.#running.draftId === draftId;
    const ending = new AbortController();
    const running: Running = { draftId, line: null, stop: () => ending.abort() };
    this.#running = running;
    await beginRehearsal(store, draftId, editionOf(open)).catch((error: unknown) => {
      this.#running = null;
      throw error;
    });
    void withDraftFiles(store, open, async ({ folder, write }) => {
      const withoutFolder = (text: string): string => text.replaceAll(`${folder}/`, '');
      const path = await write();
      const onLine = (line: string): void => void (running.line = withoutFolder(line));
      const answer = await rehearse({ path, rows: mostRehearsedRows, signal: ending.signal, onLine });
      return typeof answer === 'string' ? withoutFolder(answer) : answer;
    })
      .catch((error: unknown) => {
        logger.error({ code: codeOf(error) }, 'a rehearsal failed');
        return 'The rehearsal broke off, and why is not known. Begin it again.';
      })
      .then((ended) => endRehearsal(store, draftId, JSON.stringify(ended)))
      .catch((error: unknown) => logger.error({ code: codeOf(error) }, 'the report of a rehearsal was not kept'))
      .finally(() => (this.#running = null));
    return true;
  }

  stop(draftId: string): void {
    if (this.#running?.draftId === draftId) this.#running.stop();
  }

  close(): void {
    this.#running?.stop();
  }
}

const elsewhere =
  'Another process of carillon serve plays this rehearsal, or that process has ended before it. Load this page again, or start it again.';

/** Changes with every change of the draft. */
export function editionOf({ draft, fields }: OpenDraft): string {
  return createHash('sha256')
    .update(JSON.stringify([draft.list.listId, fields]))
    .digest('hex');
}
