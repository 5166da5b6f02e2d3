import { empty, link, panel, figure, instant, muted, table, type Row } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { readNewestEvents, type CampaignEvent } from '../../../ledger/events.ts';
import { readEventKinds } from '../../../ledger/read/event-feed.ts';
import { campaignNav, campaignPath, withQuery, rowPath } from '../core/links.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import type { View, ViewRequest } from '../core/view.ts';
import type { EventType } from '../../../rules/events.ts';
import { eventTypes } from '../../../presentation/words/events.ts';
import { eventText } from '../../../presentation/words/history.ts';

const pageSize = 50;
const kindsWithinMs = 60;
const soonMs = 1_000;

/** The log of one campaign, the newest line first: all of it, or one kind of lines. */
export async function campaignEventsView(request: ViewRequest): Promise<View> {
  const { campaignId, db } = await openCampaign(request);
  const kind = request.query('kind');
  const before = Number(request.query('before'));
  const isLater = Number.isSafeInteger(before) && before > 0;
  const found = await readNewestEvents(db, campaignId, {
    types: typesOfKind(kind),
    limit: pageSize + 1,
    beforeSeq: isLater ? before : undefined,
  });
  const lines = await request.cache.readWithin(kindsWithinMs, `kinds ${campaignId}`, () => readEventKinds(db, campaignId));
  const events = found.slice(0, pageSize);
  const next = found.length > pageSize ? events.at(-1)?.seq : undefined;
  return {
    title: `Events of ${campaignId}`,
    // An older page stays as it is.
    ...(isLater ? {} : { follows: campaignId }),
    ...(lines === null ? { againMs: soonMs } : {}),
    ...inCampaign(campaignId),
    body: [
      campaignNav(campaignId, 'events'),
      kindChips(campaignId, kind, lines),
      panel('Events', [
        eventTable('Events, the newest first', events, nothing(campaignId, kind)),
        html`<p class="pages">
          ${isLater ? link(eventsPath(campaignId, { kind }), 'Newest') : null}
          ${next === undefined ? null : link(eventsPath(campaignId, { kind, before: next }), 'Older')}
        </p>`,
      ]),
    ],
  };
}

function eventsPath(campaignId: string, { kind, before }: { kind: string; before?: number }): string {
  return withQuery(campaignPath(campaignId, '/events'), { kind, before });
}

function nothing(campaignId: string, kind: string): Html {
  return kind === ''
    ? empty('Nothing yet', 'What happens to the campaign stands here.')
    : empty('No event of this kind', link(eventsPath(campaignId, { kind: '' }), 'All events'));
}

/** Lines of the log, newest first, without any number or text of a person. */
export function eventTable(caption: string, events: readonly CampaignEvent[], whenEmpty: HtmlValue): HtmlValue {
  const hasRows = events.some((event) => rowOf(event) !== null);
  return table(
    caption,
    events.map((event) => lineOf(event, hasRows)),
    whenEmpty,
  );
}

function lineOf(event: CampaignEvent, hasRows: boolean): Row {
  const row = rowOf(event);
  const told = eventText(event);
  const cells = {
    'What happened': told === event.type ? muted(wordsOf(event.type)) : told,
    When: instant(event.at, 'full'),
    ...(hasRows ? { Row: row === null ? '–' : link(rowPath(event.campaignId, row), figure(row)) } : {}),
  };
  return { key: `event-${event.seq}`, cells };
}

/** A recipient's id ends with its row, an attempt's with row and number. */
function rowOf({ campaignId, recipientId, attemptId }: CampaignEvent): number | null {
  const id = recipientId ?? attemptId;
  return id === undefined ? null : Number(id.slice(campaignId.length + 1).split('/')[0]);
}

/** The kinds of lines that are asked for together, by what they are about. */
const kinds: readonly (readonly [name: string, words: string, prefixes: readonly string[]])[] = [
  ['campaign', 'Campaign', ['campaign.', 'round.', 'operator.', 'account.', 'schedule.']],
  ['batches', 'Batches', ['batch.', 'post.']],
  ['calls', 'Calls', ['attempt.']],
  ['rows', 'Rows', ['recipient.']],
  ['do-not-call', 'Do not call', ['suppression.']],
  ['surroundings', 'Numbers, clocks and hooks', ['caller.', 'clock.', 'hook.', 'webhook.']],
];

/** The types of events of a kind, or the one that is named; null: all. */
function typesOfKind(kind: string): EventType[] | null {
  if (kind === '') return null;
  const prefixes = kinds.find(([name]) => name === kind)?.[2];
  return eventTypes.filter((type) => prefixes?.some((prefix) => type.startsWith(prefix)) ?? type === kind);
}

/** A choice of what is shown of the log: the kinds, then the types of the chosen one. `lines`: of each type; null: not known yet. */
function kindChips(campaignId: string, here: string, lines: ReadonlyMap<EventType, number> | null): Html {
  const chip = (kind: string, { words, isHere }: { words: string; isHere: boolean }): Html =>
    html`<a
      href="${campaignPath(campaignId, `/events${kind === '' ? '' : `?kind=${kind}`}`)}"
      ${isHere ? html`aria-current="${kind === here ? 'page' : 'true'}"` : null}
      >${words}${figureOf(lines, typesOfKind(kind))}</a
    > `;
  const chosen = kinds.find(([name]) => name === here || typesOfKind(name)?.some((type) => type === here));
  const types = (chosen === undefined ? [] : (typesOfKind(chosen[0]) ?? [])).filter((type) => type === here || (lines?.get(type) ?? 0) > 0);
  return html`<nav aria-label="Kinds of events">
    <p class="chips">
      ${chip('', { words: 'All', isHere: here === '' })}
      ${kinds.map(([name, words]) => chip(name, { words, isHere: name === chosen?.[0] }))}
    </p>
    ${
      types.length < 2 && types[0] !== here
        ? null
        : html`<p class="chips">${types.map((type) => chip(type, { words: wordsOf(type), isHere: type === here }))}</p>`
    }
  </nav>`;
}

function figureOf(lines: ReadonlyMap<EventType, number> | null, types: readonly EventType[] | null): string {
  if (lines === null) return '';
  const all = (types ?? [...lines.keys()]).reduce((sum, type) => sum + (lines.get(type) ?? 0), 0);
  return ` (${all.toLocaleString('en')})`;
}

function wordsOf(type: EventType): string {
  return type.replaceAll('.', ': ').replaceAll('_', ' ');
}
