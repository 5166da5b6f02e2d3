import { plural } from '../../../shared/input/figures.ts';
import { countUnreached } from '../../../ledger/read/report.ts';
import { unreachedText } from '../../../presentation/words/causes.ts';
import { apiText } from '../../../presentation/words/campaign.ts';
import { hasClosed, hasEnded } from '../../../rules/lifecycle.ts';
import { empty, instant, link, linkButton, note, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { findRehearsal } from '../../../ledger/console/rehearsals.ts';
import { readNewestEvents } from '../../../ledger/events.ts';
import { readCampaignView, type CampaignView, readLastActs } from '../../../ledger/read/campaign-view.ts';
import { describedEvents } from '../../../presentation/words/events.ts';
import { readWhy } from '../../../operations/control/why.ts';
import { readCampaignParts } from '../../../operations/control/read-cache.ts';
import { feed, readNames, renderEventLines } from '../campaign/activity.ts';
import { headActions, headMeta, readProof } from '../campaign/head.ts';
import { campaignNotes } from '../campaign/notes.ts';
import { cannotPanel, endedCallsPanel, hoursPanel, liveCallsPanel, outcomesPanel, waitingPanel } from '../campaign/panels.ts';
import { callsByHour, keyFigures, spark, type Measured } from '../campaign/key-figures.ts';
import { hero, peopleOf, type ProgressData } from '../campaign/progress.ts';
import { reasonOf, statusBadge } from '../campaign/standing.ts';
import { campaignNav, campaignPath } from '../core/links.ts';
import { campaignName, openCampaign } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

/** Hours open, and workers come and go, without an event. */
const againMs = 15_000;
/** How long a page waits for Temporal; a refresh shows a later answer. */
const whyWithinMs = 120;
/** While parts are still being read. */
const soonMs = 1_000;
const mostEvents = 8;
const partsShown = ['forecast', 'waiting', 'course', 'talk'] as const;

export async function campaignView(request: ViewRequest): Promise<View> {
  const { clock, context, now } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  // Runs while the database is read.
  const pendingWhy = readWhy({ ...context, campaign }, clock, whyWithinMs);
  const view = await readCampaignView(db, campaign, now);
  const { status, needs, limits } = view;
  const acts = await readLastActs(db, campaignId);
  const parts = await readCampaignParts(context, partsShown, { campaign, now });
  const { forecast = null, waiting = [] } = parts;
  const proof = await readProof(request, campaignId);
  const why = await pendingWhy;
  const at = { clock, now: context.now(), serviceNow: now };
  const reason = reasonOf(why, { status, acts, at });
  const { brief, first, others } = campaignNotes(campaignId, { reason, needs, proof, mayAct: may(request, 'operate') });
  const seen = { ...view, people: peopleOf(status), forecast, waiting, endedAt: acts.changed?.at ?? null };
  const isRehearsed = (await findRehearsal(context.store, { campaignId })) !== null;
  const isReading = why.look === undefined || partsShown.some((name) => parts[name] === undefined);
  return {
    title: campaignName(campaign),
    badge: statusBadge(why, status, at, limits),
    actions: headActions(request, campaign, { isRehearsed }),
    meta: [headMeta(campaign, acts, proof), apiText(campaign) === null ? null : html`<span>Calls through ${apiText(campaign)}</span>`],
    tabs: campaignNav(campaign, 'overview'),
    section: 'campaigns',
    follows: campaignId,
    againMs: isReading ? soonMs : againMs,
    crumbs: [['/', 'Campaigns']],
    body: [brief, first, hero(seen), keyFigures(view, parts), others, await columns(request, seen, parts)],
  };
}

async function columns(request: ViewRequest, view: CampaignView & ProgressData, measured: Measured): Promise<Html> {
  const { campaign, status, people, waiting } = view;
  const unreached = (status.outcomes.exhausted ?? 0) === 0 ? {} : await countUnreached(request.context.store.db, campaign.campaignId);
  return html`<div class="cols">
    <div>
      ${await liveCallsPanel(request, view)} ${await clockPanel(request, view)}
      ${hasEnded(campaign) ? [coursePanel(measured), handPanel(request, view)] : null} ${await eventsPanel(request, view)}
    </div>
    <div>
      ${retryNote(request, view, unreached)} ${outcomesPanel(campaign, status, people, unreached)} ${waitingPanel(campaign, waiting)}
      ${endedCallsPanel(status)} ${cannotPanel(campaign, status, may(request, 'operate'))}
    </div>
  </div>`;
}

async function clockPanel({ context, now }: ViewRequest, { campaign, status }: CampaignView): Promise<Html | null> {
  if (status.waiting === 0 || hasEnded(campaign)) return null;
  const { hours } = await readCampaignParts(context, ['hours'], { campaign, now });
  return hours === undefined ? panel('Calling hours', html`<p class="soft">The calling hours are being read.</p>`) : hoursPanel(hours, now);
}

function coursePanel({ course }: Measured): Html | null {
  if (course == null) return null;
  const hours = callsByHour(course);
  const calls = hours.reduce((sum, each) => sum + each.calls, 0);
  return panel(
    'Calls per hour',
    html`<div class="pad">
      ${spark(hours, { goesOn: false, tall: true })}
      <p class="axis"><span>${instant(course.from, 'minute')}</span><span>${instant(course.to, 'minute')}</span></p>
    </div>`,
    html`<p>${plural(calls, 'call')}</p>`,
  );
}

function handPanel(request: ViewRequest, { campaign: { campaignId }, status }: CampaignView): Html | null {
  if (!may(request, 'operate')) return null;
  const file = (format: string, words: string): Html =>
    html`<a class="btn" href="${campaignPath(campaignId, `/results.${format}`)}">${icon('download')} ${words}</a>`;
  return panel(
    'Results',
    html`<div class="pad actions">
      ${file('csv', 'CSV')} ${file('xlsx', 'Excel')} ${linkButton(campaignPath(campaignId, '/results'), 'Report', '', 'chart')}
      <span class="soft small">${plural(status.total, 'row')} with phone numbers: your download is noted in the log.</span>
    </div>`,
    html`<p>one row per person, with outcome and collected values</p>`,
  );
}

function retryNote(request: ViewRequest, { campaign, status }: CampaignView, unreached: Readonly<Record<string, number>>): Html | null {
  const rows = status.outcomes.exhausted ?? 0;
  if (!hasClosed(campaign) || rows === 0 || !may(request, 'operate')) return null;
  const most = campaign.rules.retry.maxAttempts;
  return note('quiet', {
    drawing: 'retry',
    title: plural(rows, 'person was not reached', 'people were not reached'),
    body: html`<p>
        ${Object.entries(unreached).map(([reason, rows]) => html`${plural(rows, 'person', 'people')}: ${unreachedText(reason)}. `)}A new
        round gives each ${plural(most, 'more attempt')}, under the same rules.
      </p>
      <p>${linkButton(campaignPath(campaign.campaignId, '/retry'), 'Call them again…', 'sm')}</p>`,
  });
}

async function eventsPanel({ context }: ViewRequest, { campaign: { campaignId } }: CampaignView): Promise<HtmlValue> {
  const { db } = context.store;
  const read = await readNewestEvents(db, campaignId, { types: describedEvents, limit: 4 * mostEvents });
  const lines = renderEventLines(read, await readNames(db, campaignId, read)).slice(0, mostEvents);
  return panel(
    'Recent activity',
    lines.length === 0 ? empty('Nothing yet', 'What happens to the campaign stands here.') : feed(lines),
    link(campaignPath(campaignId, '/events'), 'All activity'),
  );
}
