import { empty, link, panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { readNewestEvents } from '../../../ledger/events.ts';
import { readEventKinds } from '../../../ledger/read/event-feed.ts';
import { eventTable, kindChips, typesOfKind } from '../campaign/events.ts';
import { campaignNav, campaignPath, withQuery } from '../core/links.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import type { View, ViewRequest } from '../core/view.ts';

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
