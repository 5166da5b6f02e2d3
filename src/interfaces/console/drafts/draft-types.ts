import type { Draft } from '../../../ledger/console/drafts.ts';
import type { ListSample } from '../../../list/sample.ts';

export interface FieldProblem {
  field: string;
  message: string;
}

/** What was written, by the name of its field; as it was written, so that it can be shown again. */
export type DraftFields = Readonly<Record<string, string>>;

export interface DraftSettings {
  fields: DraftFields;
  sample: ListSample;
  /** Of a campaign of which this is a copy: its id, and what its file says that the page does not ask. */
  copied?: { campaignId: string; more: Readonly<Record<string, unknown>> } | undefined;
}

export interface OpenDraft extends DraftSettings {
  draft: Draft;
}

/** A list that was received, in a file that is gone after the work. */
export interface ReceivedList {
  name: string;
  sample: ListSample;
  fields: DraftFields;
  content: AsyncIterable<Buffer>;
}
