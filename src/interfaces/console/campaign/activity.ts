import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { instant, link, withInstants, type Tone } from '../../../presentation/html/elements.ts';
import { describeAdjustment, describeEvent } from '../../../presentation/words/events.ts';
import { eventText } from '../../../presentation/words/history.ts';
import { capital, count, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { pausedByOperator } from '../../../rules/lifecycle.ts';
import type { EventData, EventType } from '../../../rules/events.ts';
import type { CampaignEvent } from '../../../ledger/events.ts';
import type { Queries } from '../../../ledger/tx.ts';
import { rowPath } from '../core/links.ts';
import { personName } from '../core/rows.ts';

interface Told {
  seq: number;
  at: number;
  tone: Tone;
  drawing: IconName;
  text: HtmlValue;
}

/** An action and its consequences lie this close together. */
const nearMs = 60_000;

/** What a person did to a campaign, as words after their name. */
export const acts: Readonly<Record<string, readonly [words: string, drawing: IconName]>> = {
  start: ['started it', 'play'],
  pause: ['paused it', 'pause'],
  resume: ['resumed it', 'play'],
  drain: ['lets it finish early', 'out'],
  cancel: ['cancelled it', 'x'],
  recover: ['recovered it from the database', 'retry'],
  retry: ['put people into the next round', 'retry'],
  adjust: ['changed its limits', 'gauge'],
  update: ['changed the list', 'people'],
  add: ['added people', 'people'],
  withdraw: ['removed people from the campaign', 'people'],
  numbers_shown: ['looked at whole numbers', 'eye'],
  results_exported: ['downloaded the results', 'download'],
  report_exported: ['downloaded the report', 'download'],
  transcript_shown: ['read a transcript', 'eye'],
  recording_shown: ['listened to a recording', 'eye'],
};

const actsOfState: Readonly<Record<string, readonly string[]>> = {
  running: ['start', 'resume', 'retry', 'recover'],
  scheduled: ['start', 'resume', 'retry'],
  paused: ['pause'],
  draining: ['drain', 'cancel'],
};

export async function readNames(db: Queries, campaignId: string, events: readonly CampaignEvent[]): Promise<ReadonlyMap<number, string>> {
  const rows = [...new Set(events.flatMap((event) => rowOf(event) ?? []))];
  if (rows.length === 0) return new Map();
  const found = await db
    .selectFrom('recipients')
    .select(['row_number', 'external_id'])
    .where('campaign_id', '=', campaignId)
    .where('row_number', 'in', rows)
    .execute();
  return new Map(found.map(({ row_number: row, external_id: id }) => [row, personName(row, id)]));
}

/** A recipient's id ends with its row, an attempt's with row and number. */
export function rowOf({ campaignId, recipientId, attemptId }: CampaignEvent): number | null {
  const id = recipientId ?? attemptId;
  return id === undefined ? null : Number(id.slice(campaignId.length + 1).split('/')[0]);
}

/** Newest first; consequences of one action are one line. `all`: a line per event. */
export function renderEventLines(events: readonly CampaignEvent[], names: ReadonlyMap<number, string>, all = false): Told[] {
  const lines: Told[] = [];
  let placed: { line: Told; calls: number } | null = null;
  for (const event of events) {
    const calls = all ? null : callsPlaced(event);
    if (calls !== null && placed !== null && placed.line.at - event.at < nearMs && placed.line === lines.at(-1)) {
      placed.calls += calls;
      placed.line.text = `${plural(placed.calls, 'call')} placed`;
      continue;
    }
    const line = all ? wholeLine(event, names) : lineOf(event, { events, names });
    if (line === null) continue;
    lines.push(line);
    placed = calls === null ? null : { line, calls };
  }
  return lines;
}

export function feed(lines: readonly Told[]): Html {
  return html`<ol class="feed">
    ${lines.map(
      ({ seq, at, tone, drawing, text }) =>
        html`<li id="event-${seq}" class="is-${tone}">${icon(drawing)}<span>${text}</span>${instant(at, 'brief')}</li>`,
    )}
  </ol>`;
}

function callsPlaced(event: CampaignEvent): number | null {
  if (event.type !== 'batch.state') return null;
  const state = event.data;
  return state.state === 'confirmed' && 'calls_initiated' in state ? state.calls_initiated : null;
}

interface Around {
  events: readonly CampaignEvent[];
  names: ReadonlyMap<number, string>;
}

interface EventContext {
  line: Line;
  /** Who did one of these near the event; null: unknown, or a command in an older log. */
  actor: (...actions: readonly string[]) => string | null;
  who: Html | null;
}

type EventRenderer<Type extends EventType> = (
  event: Extract<CampaignEvent, { type: Type }>,
  context: EventContext,
) => Told | null | undefined;

/** Sentences of the console; null: part of another event's line; undefined: the usual text. */
const tellers: { readonly [Type in EventType]?: EventRenderer<Type> } = {
  'campaign.imported': ({ data: { rows, rejected } }, { line }) => {
    const cannot = rejected === 0 ? '' : `; ${count(rejected)} of them cannot be called`;
    return line('quiet', 'file', `The list has ${plural(rows, 'person', 'people')}${cannot}`);
  },
  'campaign.state': ({ data: { to, reason } }, { line, actor }) =>
    actor(...(actsOfState[to] ?? [])) === null ? stateLine(to, reason, line) : null,
  'campaign.adjusted': ({ data }, { line, actor }) =>
    line('quiet', 'gauge', `${actor('adjust') ?? 'Somebody'} changed ${describeAdjustment(data)}`),
  'campaign.edited': (event, { line }) =>
    line(
      'quiet',
      'people',
      capital((describeEvent(event) ?? '').replaceAll(/\brows?\b/g, (word) => (word === 'row' ? 'person' : 'people'))),
    ),
  'operator.acted': ({ data: { name, action } }, { line, who }) => {
    if (action === 'adjust') return null;
    const [words, drawing] = acts[action] ?? [action.replaceAll('_', ' '), 'person'];
    const about = who === null ? null : [': ', who];
    return line('quiet', drawing, [`${capital(printable(name))} ${words}`, about]);
  },
  'round.started': ({ data: { round } }, { line }) => (round === 1 ? null : line('live', 'play', `Round ${round} began`)),
  'round.ended': () => null,
  'suppression.added': ({ attemptId }, { line, who }) =>
    attemptId === undefined || who === null
      ? undefined
      : line('quiet', 'ban', [who, ' asked not to be called again. The number is on the do-not-call list']),
  'recipient.decided': (_event, { line, who }) => line('quiet', 'person', ['Somebody decided about ', who ?? 'a person']),
  'batch.state': (event, { line }) => {
    const calls = callsPlaced(event);
    return calls === null ? undefined : line('quiet', 'phone', `${plural(calls, 'call')} placed`);
  },
};

const troubles = ['post.verdict', 'hook.failed', 'caller.out', 'clock.stepped', 'account.pace', 'batch.withdrawing'];

function lineOf(event: CampaignEvent, { events, names }: Around): Told | null {
  const { seq, at, type } = event;
  const line: Line = (tone, drawing, text) => ({ seq, at, tone, drawing, text });
  const actor = (...actions: readonly string[]): string | null => {
    for (const other of events)
      if (other.type === 'operator.acted' && Math.abs(other.at - at) < nearMs && actions.includes(other.data.action))
        return printable(other.data.name);
    return null;
  };
  const rendered = (tellers[type] as EventRenderer<EventType> | undefined)?.(event, { line, actor, who: personLink(event, names) });
  if (rendered !== undefined) return rendered;
  const text = describeEvent(event);
  if (text === null) return null;
  const isTrouble = troubles.includes(type);
  return line(isTrouble ? 'wait' : 'quiet', isTrouble ? 'alert' : 'info', withInstants(capital(text.replace(/^batch \d+: /, ''))));
}

type Line = (tone: Tone, drawing: IconName, text: HtmlValue) => Told;

function stateLine(to: EventData['campaign.state']['to'], reason: string | null, line: Line): Told | null {
  const why = reason === null || reason === '' ? '' : `: ${printable(reason)}`;
  switch (to) {
    case 'importing':
    case 'draft':
      return null;
    case 'running':
      return line('live', 'play', 'Calling began');
    case 'scheduled':
      return line('quiet', 'calendar', 'It was started, and waits for its start time');
    case 'paused':
      return reason === pausedByOperator ? line('wait', 'pause', 'A person paused it') : line('bad', 'alert', `It stopped by itself${why}`);
    case 'draining':
      return line('quiet', 'out', 'No new calls are placed; open calls end');
    case 'completed':
      return line('good', 'done', 'Done: every person has an outcome');
    case 'cancelled':
      return line('quiet', 'x', 'Cancelled: every person has an outcome');
    case 'failed':
      return line('bad', 'alert', `It failed${why}`);
  }
}

function wholeLine(event: CampaignEvent, names: ReadonlyMap<number, string>): Told {
  const { seq, at, type } = event;
  const description = eventText(event);
  const who = personLink(event, names);
  const text = description === type ? html`<span class="soft">${type.replaceAll('.', ': ').replaceAll('_', ' ')}</span>` : description;
  return { seq, at, tone: 'quiet', drawing: 'right', text: who === null ? text : [who, ': ', text] };
}

function personLink(event: CampaignEvent, names: ReadonlyMap<number, string>): Html | null {
  const row = rowOf(event);
  return row === null ? null : link(rowPath(event.campaignId, row), names.get(row) ?? personName(row, null));
}
