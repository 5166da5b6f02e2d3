import type { Notice } from '../../control/campaign-message.ts';
import type { Control } from '../../control/control.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { OperationId } from '../list.ts';
import type { Answer, Taken } from '../schemas/all.ts';

/** What an operation is carried out with, and who hears of it on the way. */
export interface Doing extends Control {
  /** Hears of a change of a campaign as soon as it is committed, before its workflow is told. */
  onCommitted?: (campaign: Campaign) => void;
  /** Told how many conversations of the service have been read. */
  onProgress?: (conversations: number) => void;
}

/** How an operation is carried out. */
export interface Run<Id extends OperationId> {
  /** What the log calls the change; null: this one changes nothing, as a dry run. */
  action: string | ((input: Taken<Id>) => string | null);
  /** Throws as what it calls; the names of errors say to API and command line what they mean. */
  run: (doing: Doing, input: Taken<Id>) => Promise<Answer<Id>>;
}

/** How these operations are carried out. */
export type Runs<Ids extends OperationId> = { readonly [Id in Ids]: Run<Id> };

/** Why the workflow of a campaign does not know yet of a change that holds; null: it knows. */
export function noticeText(notice: Notice): string | null {
  return notice.told ? null : notice.why;
}
