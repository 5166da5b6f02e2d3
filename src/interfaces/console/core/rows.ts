import { outcomeOf } from '../../../rules/outcome.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { problemOf, type Problem } from '../../../operations/runs/problem.ts';
import { readRow } from '../../../operations/runs/run.ts';
import { printable, maskedNumber } from '../../../shared/input/printable.ts';
import type { CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import { type ViewRequest, may } from './view.ts';
import { phone, badge, outcome as outcomeDot, type OutcomeTone, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { campaignPath } from './links.ts';
import { showTranscript } from '../../api/core/shown.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';

/** The campaign in the path. Throws UnknownCampaignError. */
export async function openCampaign({ context: { store }, params }: Pick<ViewRequest, 'context' | 'params'>) {
  const campaign = await requireCampaign(store, params['campaign'] ?? '');
  return { campaign, campaignId: campaign.campaignId, db: store.db };
}

/** Section and crumbs of a campaign's view; `below`: further crumbs. */
export function inCampaign(campaign: Pick<Campaign, 'campaignId' | 'name'>, ...below: (readonly [path: string, text: string])[]) {
  const own = [campaignPath(campaign.campaignId), campaignName(campaign)] as const;
  return { section: 'campaigns', crumbs: [['/', 'Campaigns'], own, ...below] } as const;
}

/** The row in the path. Throws ProblemError if the campaign has no such row. */
export function requireRow(
  { context, now, params }: Pick<ViewRequest, 'context' | 'now' | 'params'>,
  campaignId: string,
): ReturnType<typeof readRow> {
  return readRow(context.store.db, { campaignId, row: params['row'] ?? '', now });
}

/** Whole if the user has requested the campaign's numbers, else masked. */
export function shownNumber(request: ViewRequest, campaignId: string, e164: string | null): Html | string {
  if (e164 === null) return '–';
  return phone(request.numbersShown(campaignId) ? e164 : maskedNumber(e164));
}

/** Null without the right. `to`: target. With `search` it posts the view again, to keep the search. */
export function numbersForm(
  request: ViewRequest,
  campaignId: string,
  { to, search }: { to: string; search?: URLSearchParams },
): Html | null {
  if (!may(request, 'operate')) return null;
  const shown = request.numbersShown(campaignId);
  const fields = [...(search ?? new URLSearchParams({ to }))].filter(([name]) => name !== 'show');
  return html`<form id="numbers" class="inline" method="post" action="${search === undefined ? campaignPath(campaignId, '/numbers') : to}">
    ${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <input type="hidden" name="show" value="${shown ? 'no' : 'yes'}" />
    <button class="btn" title="${shown ? 'Masks them again' : 'For 15 minutes; the log says that you asked'}">
      ${icon('eye')} ${shown ? 'Hide numbers' : 'Show numbers'}
    </button>
  </form>`;
}

/** Transcript of a call, or the API's refusal. */
export async function askTranscript(
  { context, holder }: Pick<ViewRequest, 'context' | 'holder'>,
  named: { campaignId: string; row: number; call: number },
): Promise<{ shown: CallTranscript; refusal: null } | { shown: null; refusal: Problem }> {
  try {
    return { shown: await showTranscript(context, holder, named), refusal: null };
  } catch (error) {
    const refusal = problemOf(error);
    if (refusal.status === 500) throw error;
    return { shown: null, refusal };
  }
}

export type CallTranscript = Awaited<ReturnType<typeof showTranscript>>;

const states: Readonly<Record<Campaign['state'], readonly [Tone, string, IconName]>> = {
  importing: ['wait', 'Importing', 'upload'],
  draft: ['quiet', 'Not started', 'pencil'],
  scheduled: ['quiet', 'Scheduled', 'calendar'],
  running: ['live', 'Calling', 'phone'],
  paused: ['wait', 'Paused', 'pause'],
  draining: ['live', 'Finishing', 'out'],
  completed: ['good', 'Done', 'check'],
  cancelled: ['quiet', 'Cancelled', 'x'],
  failed: ['bad', 'Failed', 'alert'],
};

/** `word`: replaces the usual one. */
export function stateBadge(state: Campaign['state'], word?: HtmlValue): Html {
  const [tone, usual, drawing] = states[state];
  return badge(tone, word ?? usual, drawing);
}

const rowTones: Readonly<Record<CampaignRow['state'], readonly [OutcomeTone, string]>> = {
  waiting: ['waiting', 'Waiting'],
  open: ['calling', 'Calling'],
  done: ['stopped', 'Done'],
};

export function rowBadge({ state, outcome }: Pick<CampaignRow, 'state' | 'outcome'>): Html {
  const [tone, word] = outcome === null ? rowTones[state] : ([outcomeOf[outcome].tone, outcomeOf[outcome].word] as const);
  return outcomeDot(tone, word);
}

export function rowStateWord(state: CampaignRow['state']): string {
  return rowTones[state][1];
}

export { looksLikeNumber } from '../../../shared/input/phone-number.ts';

/** The list's own id, else by row. */
export function personName(row: number, externalId: string | null): string {
  return externalId === null || externalId === '' ? `Person ${row}` : printable(externalId);
}

export function campaignName({ campaignId, name }: Pick<Campaign, 'campaignId' | 'name'>): string {
  return name === null || name === '' ? campaignId : printable(name);
}
