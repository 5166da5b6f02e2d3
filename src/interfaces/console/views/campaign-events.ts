import { empty, link, panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { readNewestEvents } from '../../../ledger/events.ts';
import { readEventKinds } from '../../../ledger/read/event-feed.ts';
import { campaignNav, campaignPath, withQuery } from '../core/links.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { chip, pager } from '../core/tools.ts';
import type { View, ViewRequest } from '../core/view.ts';
import type { EventType } from '../../../rules/events.ts';
import { eventTypes, describedEvents } from '../../../presentation/words/events.ts';
import { feed, readNames, renderEventLines } from '../campaign/activity.ts';

const pageSize = 50;
const kindsWithinMs = 60;
const soonMs = 1_000;

/** Newest first; or the log, whole or by kind. */
export async function campaignEventsView(request: ViewRequest): Promise<View> {
  const { campaign, campaignId, db } = await openCampaign(request);
  const kind = request.query('kind');
  const before = Number(request.query('before'));
  const isLater = Number.isSafeInteger(before) && before > 0;
  const found = await readNewestEvents(db, campaignId, {
    types: kind === '' ? describedEvents : typesOfKind(kind),
    limit: pageSize + 1,
    beforeSeq: isLater ? before : undefined,
  });
  const lines = await request.cache.readWithin(kindsWithinMs, `kinds ${campaignId}`, () => readEventKinds(db, campaignId));
  const events = found.slice(0, pageSize);
  const feedLines = renderEventLines(events, await readNames(db, campaignId, events), kind !== '');
  const next = found.length > pageSize ? events.at(-1)?.seq : undefined;
  const ways = pager(
    (at) => withQuery(campaignPath(campaignId, '/events'), { kind, ...at }),
    [isLater && ['Newest', {}], next !== undefined && ['Older', { before: next }]],
  );
  return {
    title: 'Activity',
    // Older pages do not change.
    ...(isLater ? {} : { follows: campaignId }),
    ...(lines === null ? { againMs: soonMs } : {}),
    ...inCampaign(campaign),
    tabs: campaignNav(campaign, 'events'),
    body: [
      kindChips(campaignId, kind, lines),
      panel(kind === '' ? 'Activity' : 'Log', [
        feedLines.length === 0 ? nothing(campaignId, kind) : feed(feedLines),
        isLater || next !== undefined ? html`<footer>${ways}</footer>` : null,
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
    : empty('Nothing of this kind', link(eventsPath(campaignId, { kind: '' }), 'All activity'));
}

const kinds: readonly (readonly [name: string, words: string, prefixes: readonly string[]])[] = [
  ['campaign', 'Campaign', ['campaign.', 'round.', 'operator.', 'account.', 'schedule.']],
  ['batches', 'Batches', ['batch.', 'post.']],
  ['calls', 'Calls', ['attempt.']],
  ['rows', 'People', ['recipient.']],
  ['do-not-call', 'Do not call', ['suppression.']],
  ['surroundings', 'Numbers, clocks and hooks', ['caller.', 'clock.', 'hook.', 'webhook.']],
];

/** Types of a kind, or the named type; null: all. */
function typesOfKind(kind: string): EventType[] | null {
  if (kind === 'all') return null;
  const prefixes = kinds.find(([name]) => name === kind)?.[2];
  return eventTypes.filter((type) => prefixes?.some((prefix) => type.startsWith(prefix)) ?? type === kind);
}

/** Kinds, then types of the chosen one. `lines`: counts by type; null: not known yet. */
function kindChips(campaignId: string, here: string, lines: ReadonlyMap<EventType, number> | null): Html {
  const chipOf = (kind: string, words: string, isHere: boolean): Html =>
    chip(
      eventsPath(campaignId, { kind }),
      words,
      kind === '' ? null : countLines(lines, typesOfKind(kind)),
      isHere && (kind === here || 'within'),
    );
  const chosen = kinds.find(([name]) => name === here || typesOfKind(name)?.some((type) => type === here));
  const types = (chosen === undefined ? [] : (typesOfKind(chosen[0]) ?? [])).filter((type) => type === here || (lines?.get(type) ?? 0) > 0);
  return html`<nav aria-label="Kinds of events">
    <p class="chips">
      ${chipOf('', 'In short', here === '')} ${chipOf('all', 'Whole log', here === 'all')}
      ${kinds.map(([name, words]) => chipOf(name, words, name === chosen?.[0]))}
    </p>
    ${types.length < 2 && types[0] !== here ? null : html`<p class="chips">${types.map((type) => chipOf(type, wordsOf(type), type === here))}</p>`}
  </nav>`;
}

/** Null: not known yet. */
function countLines(lines: ReadonlyMap<EventType, number> | null, types: readonly EventType[] | null): number | null {
  return lines === null ? null : (types ?? [...lines.keys()]).reduce((sum, type) => sum + (lines.get(type) ?? 0), 0);
}

function wordsOf(type: EventType): string {
  return type.replaceAll('.', ': ').replaceAll('_', ' ');
}
