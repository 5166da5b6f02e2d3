import { draftLastsMs, listDrafts, type Draft, type DraftList } from '../../../ledger/console/drafts.ts';
import { mayAct } from '../../../ledger/console/tokens.ts';
import { may, type ViewRequest } from './view.ts';

export interface ListedDraft {
  draftId: string;
  name: string;
  id: string;
  list: DraftList;
  tokenId: string;
  touchedReal: number;
  /** Deleted at this real time unless touched before. */
  lastsUntilReal: number;
}

/** The user's drafts, last touched first; an admin sees all. */
export async function readDrafts(request: Pick<ViewRequest, 'context' | 'holder'>): Promise<ListedDraft[]> {
  if (!may(request, 'operate')) return [];
  const { context } = request;
  const drafts = (await listDrafts(context.store, context.now())).filter((draft) => isTheirs(draft, request.holder));
  return drafts.map(({ draftId, list, tokenId, touchedReal, settings }) => {
    const { fields } = JSON.parse(settings) as { fields: Readonly<Record<string, string>> };
    const id = fields['id']?.trim() ?? '';
    return { draftId, name: draftName(fields, list.name), id, list, tokenId, touchedReal, lastsUntilReal: touchedReal + draftLastsMs };
  });
}

export function isTheirs({ tokenId }: Pick<Draft, 'tokenId'>, holder: ViewRequest['holder']): boolean {
  return tokenId === holder.tokenId || mayAct(holder.role, 'admin');
}

export function draftName(fields: Readonly<Record<string, string>>, listName: string): string {
  return fields['name']?.trim() || fields['id']?.trim() || listName;
}

export function draftPath(draftId: string, more = ''): string {
  return `/new/${encodeURIComponent(draftId)}${more}`;
}
