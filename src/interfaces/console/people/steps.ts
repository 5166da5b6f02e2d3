import { duration, instant, link, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { capital, count, span } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { Disposition } from '../../../rules/disposition.ts';
import type { NumberViewCall, NumberViewRow } from '../../../ledger/read/callee.ts';
import type { CampaignEvent } from '../../../ledger/events.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import { dispositionText, eventText } from '../../../presentation/words/history.ts';
import { rowOf } from '../campaign/activity.ts';
import { callPath } from '../core/links.ts';
import { outcomeOf } from '../../../rules/outcome.ts';

interface Step {
  key: string;
  at: number;
  tone: Tone;
  drawing: IconName;
  title: HtmlValue;
  when: HtmlValue;
  more?: HtmlValue;
}

/** Shorter ones are normal queueing. */
const shortestWaitMs = 60_000;

/** Events of the row itself rather than of a call. */
const ownEvents: ReadonlySet<CampaignEvent['type']> = new Set([
  'recipient.added',
  'recipient.corrected',
  'recipient.withdrawn',
  'recipient.retried',
  'recipient.decided',
  'attempt.corrected',
] as const);

/** Newest first. `mayListen`: transcripts may be read. */
export function stepsOf(own: NumberViewRow, events: readonly CampaignEvent[], mayListen: boolean): Html {
  const { campaign, recipient, calls } = own;
  const steps = [
    ...outcomeStep(own),
    ...calls.flatMap((call, index) => [...waitStep(calls[index - 1], call), callStep(own, call, mayListen)]),
    ...events
      .filter((event) => ownEvents.has(event.type) && event.campaignId === campaign.campaignId && rowOf(event) === recipient.row_number)
      .map((event): Step => ({
        key: `step-event-${event.seq}`,
        at: event.at,
        tone: 'quiet',
        drawing: 'person',
        title: capital(eventText(event)),
        when: instant(event.at, 'brief'),
      })),
    {
      key: 'step-list',
      at: campaign.createdAt,
      tone: 'quiet',
      drawing: 'file',
      title: 'Added from the list',
      when: instant(campaign.createdAt, 'brief'),
      more: `Row ${count(recipient.row_number)}`,
    } satisfies Step,
  ];
  return html`<ol class="steps">
    ${steps
      .toSorted((a, b) => b.at - a.at)
      .map(
        ({ key, tone, drawing, title, when, more }) =>
          html`<li id="${key}" class="is-${tone}">
            <span class="knob">${icon(drawing)}</span><b>${title}</b><span class="soft small">${when}</span>
            ${more === undefined ? null : html`<p>${more}</p>`}
          </li>`,
      )}
  </ol>`;
}

function outcomeStep({ recipient: { outcome, reason, changed_at: at } }: NumberViewRow): Step[] {
  if (outcome === null) return [];
  const [tone, drawing]: [Tone, IconName] =
    outcome === 'completed' ? ['good', 'done'] : outcome === 'unresolved' ? ['wait', 'person'] : ['quiet', 'x'];
  const why = reason === null || outcome === 'completed' ? '' : `: ${reasonText(reason)}`;
  return [{ key: 'step-outcome', at: at + 1, tone, drawing, title: `${outcomeOf[outcome].word}${why}`, when: instant(at, 'brief') }];
}

function callStep({ campaign, recipient }: NumberViewRow, { attempt, facts }: NumberViewCall, mayListen: boolean): Step {
  const { number, planned_at: plannedAt, posted_at: postedAt, settled_at: settledAt, disposition, conversation_id: conversation } = attempt;
  const at = postedAt ?? plannedAt;
  const talked = facts?.durationMs == null ? [] : [duration(facts.durationMs)];
  const details = attempt.detail === null ? [] : [reasonText(attempt.detail)];
  const came = attempt.result === null ? [] : [`came to: ${reasonText(attempt.result)}`];
  const uses = disposition !== null && attempt.counted === 0 ? ['uses up no attempt'] : [];
  const summary = capital([...talked, ...details, ...came, ...uses].join(', '));
  const listen =
    conversation !== null && mayListen ? link(callPath(campaign.campaignId, recipient.row_number, number), 'Listen and read') : null;
  return {
    key: `step-call-${number}`,
    at: settledAt === null ? at : Math.max(at, settledAt - 1),
    ...styleOf(disposition),
    title: callTitle(attempt),
    when: postedAt === null ? html`planned ${instant(plannedAt, 'brief')}` : instant(at, 'brief'),
    ...(summary === '' && listen === null ? {} : { more: html`${summary}${summary === '' || listen === null ? '' : '. '}${listen}` }),
  };
}

export function callTitle({ number, disposition, state }: NumberViewCall['attempt']): string {
  const words = { planned: 'planned', posting: 'being sent', open: 'on the line' } as Readonly<Record<string, string>>;
  return `Call ${number}: ${printable(disposition === null ? (words[state] ?? reasonText(state)) : dispositionText(disposition))}`;
}

function styleOf(disposition: Disposition | null): Pick<Step, 'tone' | 'drawing'> {
  if (disposition === null) return { tone: 'live', drawing: 'phone' };
  if (disposition === 'unknown') return { tone: 'wait', drawing: 'alert' };
  if (disposition === 'voicemail') return { tone: 'quiet', drawing: 'voicemail' };
  return disposition === 'answered' || disposition === 'opted_out' ? { tone: 'good', drawing: 'phone' } : { tone: 'quiet', drawing: 'x' };
}

function waitStep(before: NumberViewCall | undefined, { attempt }: NumberViewCall): Step[] {
  const from = before?.attempt.settled_at ?? null;
  const until = attempt.posted_at ?? attempt.planned_at;
  if (before === undefined || from === null || until - from < shortestWaitMs) return [];
  const { disposition } = before.attempt;
  return [
    {
      key: `step-wait-${attempt.number}`,
      at: until - 1,
      tone: 'wait',
      drawing: 'clock',
      title: `Waited ${span(until - from)}${disposition === null ? '' : ` after ${dispositionText(disposition)}`}`,
      when: html`${instant(from, 'brief')} – ${instant(until, 'brief')}`,
    },
  ];
}
