import type { Draft } from '../../../ledger/console/drafts.ts';
import type { ListSample } from '../../../list/sample.ts';

export interface FieldProblem {
  field: string;
  message: string;
}

/** By field name, as typed, so that it can be shown again. */
export type DraftFields = Readonly<Record<string, string>>;

export interface DraftSettings {
  fields: DraftFields;
  sample: ListSample;
  /** The source campaign, and those of its settings that the page does not have. */
  copied?: { campaignId: string; more: Readonly<Record<string, unknown>> } | undefined;
}

export interface OpenDraft extends DraftSettings {
  draft: Draft;
}

/** In a temporary file. */
export interface ReceivedList {
  name: string;
  sample: ListSample;
  fields: DraftFields;
  content: AsyncIterable<Buffer>;
}
