import { capital } from '../../../shared/input/figures.ts';
import { renderChart } from '../../../presentation/charts/chart.ts';
import { clockStrip } from '../../../presentation/charts/clock-strip.ts';
import { courseChart } from '../../../presentation/charts/timeline.ts';
import { progressChart } from '../../../presentation/charts/rows.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { empty, facts, link, panel, count } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { findRehearsal } from '../../../ledger/console/rehearsals.ts';
import { readNewestEvents } from '../../../ledger/events.ts';
import { reportedCourse } from '../../../ledger/read/campaign-report.ts';
import { readCampaignView, type CampaignView, type Need } from '../../../ledger/read/campaign-view.ts';
import { readClockStrip } from '../../../ledger/read/clock-strip.ts';
import { readCourse } from '../../../ledger/read/timeline.ts';
import { readWaiting, type WaitingGroup } from '../../../ledger/read/waiting.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { campaignTitle } from '../../../presentation/words/campaign.ts';
import { tellEvent, toldEvents } from '../../../presentation/words/events.ts';
import { eventTable } from './campaign-events.ts';
import { liveCallsPanel, statePanel } from '../campaign/state.ts';
import { assumptionsText, dueParts, endEntries, readForecast, type ConsoleForecast } from '../campaign/forecast.ts';
import { readWhy } from '../../../operations/control/why.ts';
import { whyPanel } from '../campaign/why.ts';
import { campaignNav, campaignPath } from '../core/links.ts';
import { openCampaign } from '../core/rows.ts';
import { waitFor } from '../../../operations/control/read-cache.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { needText } from '../../../presentation/words/needs.ts';

/** Openings pass, and workers come and go, without an event. */
const againMs = 15_000;
/** How long somebody who opens the page waits for Temporal's answer; a later look shows what came of it. */
const lookWithinMs = 120;
const forecastWithinMs = 60;
/** Where it is still being read what lies before it. */
const soonMs = 1_000;
const courseWithinMs = 60;
const hoursWithinMs = 60;
/** A longer table is opened by whoever wants it. */
const mostZonesOpen = 6;
const mostEvents = 12;

/** One campaign: why nobody is called now, who has to do something about it, and what has come of it so far. */
export async function campaignView(request: ViewRequest): Promise<View> {
  const { clock, context, now, cache } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  // Asked while the database is read.
  const asked = readWhy({ ...context, campaign }, clock, lookWithinMs);
  const view = await readCampaignView(db, campaign, now);
  const forecast = await cache.readWithin(waitFor(campaign.rowsTotal, forecastWithinMs), `forecast ${campaignId}`, () =>
    readForecast(request, campaign, view.status),
  );
  const waiting = await cache.read(`waiting ${campaignId}`, () => readWaiting(db, campaign, now));
  const why = await asked;
  return {
    title: campaignTitle(campaign),
    section: 'campaigns',
    follows: campaignId,
    againMs: forecast === null || why.look === undefined ? soonMs : againMs,
    crumbs: [['/', 'Campaigns']],
    body: [
      campaignNav(campaignId, 'overview'),
      await statePanel(request, view),
      whyPanel(request, view, { why, waiting }),
      await clockPanel(request, view),
      needsPanel(view),
      await liveCallsPanel(request, campaign),
      progressPanel(view, { waiting, forecast }),
      endPanel(campaign, forecast),
      await coursePanel(request, view),
      await eventsPanel(request, view),
      await rehearsalPanel(request, campaignId),
    ],
  };
}

/** Nothing where it was not rehearsed on the page. */
async function rehearsalPanel({ context }: ViewRequest, campaignId: string): Promise<Html | null> {
  if ((await findRehearsal(context.store, { campaignId })) === null) return null;
  const path = campaignPath(campaignId, '/rehearsal');
  return panel('Rehearsal', html`<p>It was rehearsed before it was started. ${link(path, 'See the rehearsal')}</p>`);
}

/** Nothing where nobody waits. */
async function clockPanel({ context, cache, now }: ViewRequest, { campaign, status }: CampaignView): Promise<Html | null> {
  if (status.waiting === 0) return null;
  const title = 'Hours by time zone';
  const strip = await cache.readWithin(waitFor(status.total, hoursWithinMs), `hours ${campaign.campaignId}`, () =>
    readClockStrip(context.store.db, campaign, now),
  );
  if (strip === null) return panel(title, html`<p class="chart-note">It is being read.</p>`);
  const fold = strip.zones.length > mostZonesOpen;
  return panel(title, renderChart(clockStrip(strip), null, { fold }));
}

function progressPanel(
  { campaign, status }: CampaignView,
  { waiting, forecast }: { waiting: readonly WaitingGroup[]; forecast: ConsoleForecast | null },
): Html {
  const ready = Math.min(status.waiting, waiting.find(({ rule }) => rule === 'due')?.rows ?? 0);
  const due = forecast === null ? { ready, hour: 0, today: 0, later: status.waiting - ready } : dueParts(status.waiting, forecast);
  const progress = { outcomes: status.outcomes, open: status.open + status.planned, ...due };
  return panel('Progress', renderChart(progressChart(progress), null), link(campaignPath(campaign.campaignId, '/figures'), 'All figures'));
}

/** Nothing where it has ended. */
function endPanel(campaign: Campaign, forecast: ConsoleForecast | null): Html | null {
  if (hasEnded(campaign)) return null;
  const entries = endEntries(campaign, forecast);
  return panel('End', [
    facts(entries.map(([name, value]) => [capital(name), value])),
    html`<p class="chart-note">${forecast === null ? 'It is being read.' : assumptionsText(forecast)}</p>`,
  ]);
}

async function coursePanel({ context, cache, now }: ViewRequest, { campaign }: CampaignView): Promise<Html> {
  const course = await cache.readWithin(waitFor(campaign.rowsTotal, courseWithinMs), `course ${campaign.campaignId}`, async () => ({
    found: await readCourse(context.store.db, campaign, now),
  }));
  if (course === null) return panel('Course', html`<p class="chart-note">It is being read.</p>`);
  return panel('Course', renderChart(courseChart(course.found === null ? null : reportedCourse(course.found)), null, { fold: true }));
}

async function eventsPanel({ context }: ViewRequest, { campaign: { campaignId } }: CampaignView): Promise<Html> {
  const read = await readNewestEvents(context.store.db, campaignId, { types: toldEvents, limit: 3 * mostEvents });
  // What adds nothing to the line before it stands in the log alone.
  const events = read.filter((event) => tellEvent(event) !== null).slice(0, mostEvents);
  return panel(
    'What happened last',
    eventTable('The newest events', events, empty('Nothing yet', 'What happens to the campaign stands here.')),
    link(campaignPath(campaignId, '/events'), 'All events'),
  );
}

/** What only a person can set right, each with what to do; nothing where there is nothing. */
function needsPanel({ campaign, needs }: CampaignView): Html | null {
  if (needs.length === 0) return null;
  return html`<section class="panel" id="needs">
    <header>
      <h2>Needs a person</h2>
      <p class="aside">${count(needs.length, 'thing')}</p>
    </header>
    <ul class="needs">
      ${needs.map((need, index) => {
        const { what, todo } = needText(need);
        return html`<li id="need-${index}-${need.kind}">
          <p class="need">${what}</p>
          <p class="soft">${todo} ${linkOf(need, campaign.campaignId)}</p>
        </li>`;
      })}
    </ul>
  </section>`;
}

function linkOf({ kind }: Need, campaignId: string): Html | null {
  if (kind === 'unresolved') return link(campaignPath(campaignId, '/unresolved'), 'Decide');
  return null;
}
