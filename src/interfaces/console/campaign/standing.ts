import { capital, count, plural } from '../../../shared/input/figures.ts';
import { pausedByOperator } from '../../../rules/lifecycle.ts';
import { badge, instant, withInstants, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import type { LastActs } from '../../../ledger/read/campaign-view.ts';
import type { LineLimits } from '../../../ledger/limits/line-limits.ts';
import type { Reader } from '../../../presentation/words/reader.ts';
import { readingOf, type Why, type WhyAction, type WhyReading } from '../../../presentation/words/why.ts';
import { printable } from '../../../shared/input/printable.ts';
import { campaignPath } from '../core/links.ts';
import { stateBadge } from '../core/rows.ts';

/** Problem, consequence and fix. */
export interface Reason {
  tone: Tone;
  drawing: IconName;
  title: HtmlValue;
  /** As a line in the list of campaigns. */
  short: HtmlValue;
  body: HtmlValue;
  at?: readonly [path: string, words: string] | undefined;
}

/** Idle reasons that pass by themselves: calls follow one another. */
const passing = ['capacity', 'share', 'pacing', 'planned'];

type Counts = Pick<CampaignStatus, 'open' | 'planned' | 'waiting'>;

/** Also true if calls are about to be placed. */
export function isCalling({ campaign, idle }: Why, { open, planned }: Counts): boolean {
  if (campaign.state !== 'running') return false;
  return open + planned > 0 || idle === null || passing.includes(idle.reason);
}

/** `lines`: those in use, as the page shows them below. */
export function statusBadge(why: Why, status: Counts, at: Reader, lines: LinesInUse | null = null): Html {
  const { campaign, idle } = why;
  const { state, stateReason } = campaign;
  if (state === 'paused' && stateReason !== pausedByOperator) return badge('bad', 'Stopped by itself', 'alert');
  if (state !== 'running') return stateBadge(state);
  if (causes[readingOf(why, at)?.cause ?? '']?.tone === 'bad') return badge('bad', 'Stopped', 'alert');
  if (!isCalling(why, status)) return badge('quiet', 'Waiting', 'clock');
  // The list reads no limits; the idle reason has the counts.
  const inUse = lines ?? (idle?.lines == null ? null : { open: idle.calls ?? 0, allowed: idle.lines });
  return idle?.reason === 'capacity' && inUse !== null
    ? stateBadge('running', html`<span class="why">Calling: ${linesText(inUse)}</span>`)
    : stateBadge('running');
}

type LinesInUse = Pick<LineLimits, 'open' | 'allowed'>;

/** `18 of 20 lines`: open calls of those allowed. */
export function linesText({ open, allowed }: LinesInUse): string {
  return `${count(open)} of ${plural(allowed, 'line')}`;
}

/** Display of causes; others show their sentence only. */
const causes: Readonly<Record<string, { tone: Tone; drawing: IconName; title?: string }>> = {
  temporal: { tone: 'bad', drawing: 'plug', title: 'Temporal does not answer' },
  workflow_lost: { tone: 'bad', drawing: 'plug', title: 'Temporal does not run this campaign' },
  no_worker: { tone: 'bad', drawing: 'plug', title: 'No worker is running' },
  service: { tone: 'bad', drawing: 'plug', title: 'The service does not answer' },
  step_fails: { tone: 'wait', drawing: 'retry', title: 'A step fails, and is tried again' },
  key_refused: { tone: 'bad', drawing: 'key', title: 'The service refuses the key' },
  breaker: { tone: 'bad', drawing: 'alert', title: 'Too many calls failed' },
  paused_by_itself: { tone: 'bad', drawing: 'alert', title: 'It has paused by itself' },
  failed: { tone: 'bad', drawing: 'alert', title: 'The campaign has failed' },
  not_sent: { tone: 'wait', drawing: 'plug' },
  not_witnessed: { tone: 'wait', drawing: 'plug' },
  rate_limited: { tone: 'wait', drawing: 'gauge' },
  unknown: { tone: 'wait', drawing: 'alert' },
  outside_hours: { tone: 'quiet', drawing: 'moon' },
  scheduled: { tone: 'quiet', drawing: 'calendar' },
};

const buttons: Readonly<Record<WhyAction, readonly [more: string, words: string]>> = {
  resume: ['/resume', 'Resume…'],
  recover: ['/recover', 'Recover…'],
  decide: ['/unresolved', 'Decide'],
  limits: ['/limits', 'Change limits…'],
};

/** Why no call is placed, or why results would not arrive; null: nothing is wrong or awaited. */
export function reasonOf(why: Why, { status, acts, at }: { status: Counts; acts: LastActs; at: Reader }): Reason | null {
  const { campaign, idle, undecided } = why;
  const { campaignId, state, rules } = campaign;
  if (state === 'draft')
    return {
      tone: 'quiet',
      drawing: 'pencil',
      title: 'It is imported, and not started',
      short: 'Not started',
      body: html`<p>Nobody is called. To start it: run <code>carillon start</code> with its campaign file.</p>`,
    };
  const reading = readingOf(why, at);
  if (reading === null || reading.cause === 'unknown_yet' || state === 'draining') return null;
  const { cause, action } = reading;
  if (cause === 'paused') return pausedReason({ status, acts, reading });
  const { tone, drawing, title } = causes[cause] ?? { tone: 'quiet', drawing: 'clock' };
  if (cause === 'undecided')
    return {
      tone: 'wait',
      drawing: 'person',
      title: decisionTitle(undecided),
      short: firstClause(reading),
      body: reasonBody(reading),
      at: atButton(campaignId, action),
    };
  // While calls are placed, only what would stop them or their results is worth a note.
  if (tone !== 'bad' && cause !== 'step_fails' && isCalling(why, status)) return null;
  const until = idle?.until ?? null;
  const heading =
    title ?? (until !== null && tone === 'quiet' ? html`Nobody is called until ${instant(until, 'minute')}` : firstClause(reading));
  const short = cause === 'scheduled' && rules.startsAt !== null ? html`Starts ${instant(rules.startsAt, 'minute')}` : firstClause(reading);
  return { tone, drawing, title: heading, short, body: reasonBody(reading), at: atButton(campaignId, action) };
}

export function decisionTitle(people: number): string {
  return plural(people, 'person needs a decision', 'people need a decision');
}

function atButton(campaignId: string, action: WhyAction | null): Reason['at'] {
  // The page has its own resume button.
  if (action === null || action === 'resume') return undefined;
  const [more, words] = buttons[action];
  return [campaignPath(campaignId, more), words];
}

function firstClause({ text }: WhyReading): Html {
  return html`<span class="why">${withInstants(capital(text.split(/, (?:since|until|tried again) /)[0] ?? text))}</span>`;
}

function reasonBody({ text, todo }: WhyReading): Html {
  const sentence = html`<span class="why">${withInstants(capital(text))}.</span>`;
  if (todo === null) return html`<p>${sentence} You need not do anything.</p>`;
  const byItself = /^Nothing: (.*)/.exec(todo)?.[1];
  if (byItself !== undefined) return html`<p>${sentence} ${capital(byItself)}</p>`;
  return html`<p>${sentence}</p>
    <p><strong>To fix it:</strong> ${todo.charAt(0).toLowerCase()}${todo.slice(1)}</p>`;
}

function pausedReason({ status, acts: { acted }, reading }: { status: Counts; acts: LastActs; reading: WhyReading }): Reason {
  const who = acted?.action === 'pause' ? printable(acted.name) : null;
  const open =
    status.open === 0 ? '' : ` ${plural(status.open, 'call goes', 'calls go')} on until ${status.open === 1 ? 'it ends' : 'they end'}.`;
  return {
    tone: 'wait',
    drawing: 'pause',
    title: who === null ? 'Nobody is called: a person paused it' : `Nobody is called: ${who} paused it`,
    short: who === null ? firstClause(reading) : html`<span class="why">${capital(who)} paused it</span>`,
    body: html`<p>
      <span class="why">${withInstants(capital(reading.text))}.</span>
      ${plural(status.waiting, 'person waits', 'people wait')}.${open}
    </p>`,
  };
}
