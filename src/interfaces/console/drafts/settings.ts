import type { ViewRequest } from '../core/view.ts';
import { ProblemError } from '../../api/core/problem.ts';
import { mayAct } from '../../../ledger/console/tokens.ts';
import { findDraft, saveDraft, type Draft, type DraftList } from '../../../ledger/console/drafts.ts';
import type { ListSample } from '../../../list/sample.ts';
import type { FormStep } from './steps.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import type { Store } from '../../../ledger/open-ledger.ts';
import { campaignIdFrom } from '../../../campaign/file/settings/caller.ts';
import type { FieldProblem } from './reading.ts';

/** What was written, by the name of its field; as it was written, so that it can be shown again. */
export type DraftFields = Readonly<Record<string, string>>;

/** What a draft holds beside the bytes of its list. */
export interface DraftSettings {
  fields: DraftFields;
  /** Steps that somebody has gone through. */
  done: readonly FormStep[];
  sample: ListSample;
}

/** A draft that somebody works on. */
export interface OpenDraft extends DraftSettings {
  draft: Draft;
}

const gone =
  'This draft is not here: it was started or discarded, or nobody has touched it for seven days. A campaign that was started stands among the campaigns.';

/** Opens a draft of the holder's own; an admin opens anybody's. Throws ProblemError, the same for one of somebody else as for none. */
export async function openDraft({ context, holder, params }: ViewRequest): Promise<OpenDraft> {
  const draft = await findDraft(context.store, params['draft'] ?? '', context.now());
  if (draft === undefined || !isTheirs(draft, holder)) throw new ProblemError(404, 'unknown_draft', gone);
  return { draft, ...(JSON.parse(draft.settings) as DraftSettings) };
}

/** Whether somebody may see and change a draft. */
export function isTheirs({ tokenId }: Pick<Draft, 'tokenId'>, holder: ViewRequest['holder']): boolean {
  return tokenId === holder.tokenId || mayAct(holder.role, 'admin');
}

/** Saves a draft as it is now. Throws ProblemError when it has gone meanwhile. */
export async function keepDraft({ context }: ViewRequest, { draft, fields, done, sample }: OpenDraft, list?: DraftList): Promise<void> {
  const settings = JSON.stringify({ fields, done, sample } satisfies DraftSettings);
  const kept = await saveDraft(context.store, draft.draftId, {
    settings,
    nowReal: context.now(),
    ...(list === undefined ? {} : { list }),
  });
  if (!kept) throw new ProblemError(404, 'unknown_draft', gone);
}

/** Whether the id is that of a campaign which exists, as a problem of its field. */
export async function findTakenId(store: Store, fields: DraftFields): Promise<FieldProblem[]> {
  const id = fields['id']?.trim() ?? '';
  if (id === '' || (await findCampaign(store.db, id)) === undefined) return [];
  return [{ field: 'id', message: `There is a campaign ${id} already; write another id.` }];
}

/** An id after the name of the list that no campaign has. */
export async function freeId(store: Store, listName: string): Promise<string> {
  const id = campaignIdFrom(listName.replace(/\.\w{1,5}$/, '')).slice(0, 60);
  for (let at = 2, free = id; ; at += 1, free = `${id}-${at}`) if ((await findCampaign(store.db, free)) === undefined) return free;
}
