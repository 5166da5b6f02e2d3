import { badge, figure, instant, muted, outcome as outcomeDot, since } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { capital, plural } from '../../../shared/input/figures.ts';
import { outcomeOf } from '../../../rules/outcome.ts';
import type { CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import type { NumberViewRow } from '../../../ledger/read/callee.ts';
import { reasonText, verdictReason } from '../../../presentation/words/causes.ts';
import { dispositionText } from '../../../presentation/words/history.ts';
import { dispositionOf, type Disposition } from '../../../rules/disposition.ts';
import { rowBadge, rowStateWord } from '../core/rows.ts';

type RowStatus = Pick<
  CampaignRow,
  'state' | 'outcome' | 'reason' | 'result' | 'attempts' | 'disposition' | 'lastDialedAt' | 'dueAt' | 'terms'
>;

export function statusOf(row: RowStatus, now: number): Html {
  const { state, outcome } = row;
  if (isRecordAwaited(row)) return withDetail('waiting', 'Answered', 'their record is awaited');
  const detail = detailOf(row, now);
  if (outcome === null || detail === null) return detail === null ? rowBadge(row) : withDetail(state === 'open' ? 'calling' : 'waiting', rowStateWord(state), detail); // prettier-ignore
  const { tone, short, word } = outcomeOf[outcome];
  return withDetail(tone, short ?? word, detail);
}

/** Answered; the next step is decided once the call's record is complete. */
function isRecordAwaited({ state, disposition, result }: RowStatus): boolean {
  return state === 'open' && disposition === 'answered' && result === null;
}

function withDetail(tone: Parameters<typeof outcomeDot>[0], word: string, detail: HtmlValue): Html {
  return outcomeDot(tone, html`${word} <span class="soft">${detail}</span>`);
}

function detailOf(
  { state, outcome, reason, result, attempts, disposition, lastDialedAt, dueAt, terms }: RowStatus,
  now: number,
): HtmlValue {
  if (state === 'open') return lastDialedAt === null || disposition !== null ? 'next' : html`for ${since(lastDialedAt, now)}`;
  if (state === 'waiting') {
    if (dueAt === null || dueAt <= now) return 'next in line';
    if (terms.notBefore === dueAt) return 'for the date in their row';
    return attempts > 0 && disposition !== null ? `to retry after ${dispositionText(disposition)}` : null;
  }
  if (outcome === 'exhausted') return `${plural(attempts, 'call')} made`;
  if (outcome === 'completed' && result !== null) return reasonText(result);
  if (outcome === 'completed' || outcome === 'opted_out' || outcome === 'suppressed' || reason === null) return null;
  return reasonText(reason);
}

export function lastCallOf({ state, disposition, lastDialedAt }: RowStatus): Html {
  if (lastDialedAt === null) return muted('None');
  if (state === 'open' && disposition === null) return html`<span class="soft">Now, since ${instant(lastDialedAt, 'brief')}</span>`;
  const { short, text } = dispositionOf[(disposition ?? 'unknown') as Disposition];
  return html`${short ?? capital(text)} <small>${instant(lastDialedAt, 'brief')}</small>`;
}

export function nextCallOf({ state, outcome, dueAt }: Pick<RowStatus, 'state' | 'outcome' | 'dueAt'>, now: number): HtmlValue {
  if (outcome !== null) return outcomeOf[outcome].next;
  if (state === 'open') return 'After this call';
  return dueAt === null || dueAt <= now ? 'Now' : html`<span class="cap">${instant(dueAt, 'minute')}</span>`;
}

/** By the current rules, and why. */
export function nextCallSentence({ campaign, recipient, verdict }: NumberViewRow): HtmlValue {
  if (recipient.state !== 'waiting') return nextCallOf({ state: recipient.state, outcome: recipient.outcome, dueAt: null }, 0);
  if (verdict === null) return `None while the campaign is ${campaign.state}`;
  if (verdict.verdict === 'final') return `None: ${verdictReason(verdict.reason)}`;
  const paused = campaign.state === 'paused' ? ' once the campaign is resumed' : '';
  if (verdict.verdict === 'dial') return `As soon as it is their turn${paused}`;
  return html`<span class="cap">${instant(verdict.until, 'minute')}</span>${paused}: ${verdictReason(verdict.reason)}`;
}

export function rowStatusBadge({ state, outcome }: Pick<RowStatus, 'state' | 'outcome'>): Html {
  if (outcome === null) return state === 'open' ? badge('live', rowStateWord(state)) : badge('quiet', rowStateWord(state), 'clock');
  const { badge: [tone, drawing], short, word } = outcomeOf[outcome]; // prettier-ignore
  return badge(tone, short ?? word, drawing);
}

export function callsOf(attempts: number, most: number): Html {
  return html`${figure(attempts)} of ${figure(most)}`;
}
