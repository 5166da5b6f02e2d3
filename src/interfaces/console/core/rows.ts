import { requireCampaign } from '../../../operations/control/ledger.ts';
import { ProblemError, problemOf, type Problem } from '../../api/core/problem.ts';
import { printable, maskedNumber } from '../../../shared/input/printable.ts';
import { readCampaignRows, type CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import { type ViewRequest, may } from './view.ts';
import { phone, badge, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { campaignPath } from './links.ts';
import { showTranscript } from '../../api/core/shown.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { Outcome } from '../../../rules/outcome.ts';

/** The campaign that the path names, with its database. Throws UnknownCampaignError. */
export async function openCampaign({ context: { store }, params }: Pick<ViewRequest, 'context' | 'params'>) {
  const campaign = await requireCampaign(store, params['campaign'] ?? '');
  return { campaign, campaignId: campaign.campaignId, db: store.db };
}

/** Where a view about a campaign stands; `below`: what lies between the two. */
export function inCampaign(campaignId: string, ...below: (readonly [path: string, text: string])[]) {
  return { section: 'campaigns', crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], ...below] } as const;
}

/** The row that the path names. Throws ProblemError where the campaign has none such. */
export async function requireRow(
  { context, now, params }: Pick<ViewRequest, 'context' | 'now' | 'params'>,
  campaignId: string,
): Promise<CampaignRow> {
  const text = params['row'] ?? '';
  const isNumber = /^\d{1,9}$/.test(text);
  const [row] = isNumber ? await readCampaignRows(context.store.db, campaignId, { search: `#${text}` }, now) : [];
  if (row === undefined) throw new ProblemError(404, 'unknown_row', `Campaign ${campaignId} has no row ${printable(text).slice(0, 40)}.`);
  return row;
}

/** A number of a person: whole where this holder has asked for the numbers of the campaign, else masked. */
export function shownNumber(request: ViewRequest, campaignId: string, e164: string | null): Html | string {
  if (e164 === null) return '–';
  return phone(request.numbersShown(campaignId) ? e164 : maskedNumber(e164));
}

/**
 * Asks for whole numbers, or has them masked again; nothing for whoever may not. `to`: where it leads. With `search` the view itself is
 * asked by POST with these fields, so that what was searched for stays.
 */
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
    <button class="btn sm" title="${shown ? 'Masks them again' : 'For 15 minutes; the log says that you asked'}">
      ${shown ? 'Hide numbers' : 'Show numbers'}
    </button>
  </form>`;
}

/** What was said in a call, or why it cannot be told now, as the API refuses it. */
export async function askTranscript(
  { context, holder }: Pick<ViewRequest, 'context' | 'holder'>,
  named: { campaignId: string; row: number; call: number },
): Promise<{ shown: ShownCall; refusal: null } | { shown: null; refusal: Problem }> {
  try {
    return { shown: await showTranscript(context, holder, named), refusal: null };
  } catch (error) {
    const refusal = problemOf(error);
    if (refusal.status === 500) throw error;
    return { shown: null, refusal };
  }
}

export type ShownCall = Awaited<ReturnType<typeof showTranscript>>;

const states: Readonly<Record<Campaign['state'], readonly [Tone, string]>> = {
  importing: ['wait', 'Importing'],
  draft: ['quiet', 'Not started'],
  scheduled: ['wait', 'Scheduled'],
  running: ['live', 'Running'],
  paused: ['bad', 'Paused'],
  draining: ['wait', 'Draining'],
  completed: ['good', 'Completed'],
  cancelled: ['quiet', 'Cancelled'],
  failed: ['bad', 'Failed'],
};

export function stateBadge(state: Campaign['state']): Html {
  const [tone, word] = states[state];
  return badge(tone, word);
}

const outcomeTones: Readonly<Record<Outcome, readonly [Tone, string]>> = {
  completed: ['good', 'Completed'],
  exhausted: ['quiet', 'Exhausted'],
  opted_out: ['quiet', 'Opted out'],
  suppressed: ['quiet', 'Suppressed'],
  rejected: ['bad', 'Rejected'],
  undialable: ['bad', 'Undialable'],
  expired: ['quiet', 'Expired'],
  cancelled: ['quiet', 'Cancelled'],
  unresolved: ['bad', 'Unresolved'],
};

const stateTones: Readonly<Record<CampaignRow['state'], readonly [Tone, string]>> = {
  waiting: ['wait', 'Waiting'],
  open: ['live', 'Call open'],
  done: ['quiet', 'Ended'],
};

/** How a row stands: its outcome once it has one. */
export function rowBadge({ state, outcome }: Pick<CampaignRow, 'state' | 'outcome'>): Html {
  const [tone, word] = outcome === null ? stateTones[state] : outcomeTones[outcome];
  return badge(tone, word);
}

/** The name of an outcome as the page writes it. */
export function outcomeWord(outcome: Outcome): string {
  return outcomeTones[outcome][1];
}

export function rowStateWord(state: CampaignRow['state']): string {
  return stateTones[state][1];
}
