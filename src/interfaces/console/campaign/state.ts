import { bar, count, facts, figure, instant, link, panel, aside, empty, phone, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { plural } from '../../../shared/input/figures.ts';
import { lastEventSeq } from '../../../ledger/events.ts';
import type { CampaignView } from '../../../ledger/read/campaign-view.ts';
import { readLastActs } from '../../../ledger/read/last-acts.ts';
import { type Proof, proveCampaigns } from '../../../presentation/report/report-data.ts';
import { apiText, pacingLines } from '../../../presentation/words/campaign.ts';
import { steerLinks } from '../actions/steer.ts';
import { campaignPath, rowsPath, callPath, rowPath } from '../core/links.ts';
import { standingFacts } from '../core/press.ts';
import { type ViewRequest, may } from '../core/view.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { dueParts, type ConsoleForecast } from './forecast.ts';
import { readLiveCalls, type LiveCall } from '../../../ledger/read/live-calls.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { shownNumber } from '../core/rows.ts';

/** A longer log is judged where somebody asks for it: for a report, or by `carillon verify`. */
const mostJudged = 10_000;
const proofWithinMs = 100;

/** How the campaign stands, since when and by whom, what it may do, and the buttons for what may be done to it. */
export async function statePanel(request: ViewRequest, view: CampaignView): Promise<Html> {
  const { context, clock } = request;
  const { campaign, limits, status } = view;
  const { campaignId, createdAt, round } = campaign;
  const acts = await readLastActs(context.store.db, campaignId);
  const lines = limits === null ? [] : pacingLines(limits, clock, context.now());
  return panel('State', [
    facts([
      ...standingFacts(campaign, acts),
      ['Rows with an outcome', html`${figure(status.done)} of ${figure(status.total)}`],
      ['Open calls', openText(view)],
      ...lines.map(([label, text]) => [label, text] as const),
      ['Imported', instant(createdAt, 'full')],
      ['Interface', apiText(campaign)],
      ['Round', round > 1 ? figure(round) : null],
      ['Proof', await proofText(request, campaignId)],
    ]),
    steerLinks(request, campaign),
  ]);
}

/** Rows with a call: those that are planned and not sent yet hold their rows as the others do. */
function openText({ campaign: { campaignId }, status: { open, planned } }: CampaignView): HtmlValue {
  const rows = link(rowsPath(campaignId, { state: 'open' }), figure(open + planned));
  return planned === 0 ? rows : html`${rows}, of which ${figure(planned)} not sent yet`;
}

async function proofText({ context, cache, now }: ViewRequest, campaignId: string): Promise<HtmlValue> {
  const { store } = context;
  const report = link(campaignPath(campaignId, '/report'), 'a report');
  if ((await lastEventSeq(store.db)) > mostJudged) return html`Not judged on this page, since the log is long: ${report} judges it.`;
  const proof = await cache.readWithin(proofWithinMs, `proof ${campaignId}`, () =>
    proveCampaigns(store, { ids: [campaignId], now, verify: {} }),
  );
  return proof === null ? 'The log is being judged.' : judgedText(proof, report);
}

function judgedText({ ok, found, checks, events, calls, judgedAt }: Proof, report: Html): HtmlValue {
  const said = ok ? `Every promise was kept` : count(found, 'violation');
  const whole = `${plural(checks, 'promise')}, ${plural(events, 'line')} of the log, ${plural(calls, 'call')}`;
  const more = ok ? null : html`; ${report} names them`;
  return html`<span class="${ok ? '' : 'bad-word'}">${said}</span>${more} (${whole}), judged ${instant(judgedAt)}`;
}

/** Where the rows of a campaign stand, as one bar, with the same in words. `forecast`: null while it is being read. */
export function progressBar(status: CampaignStatus, forecast: ConsoleForecast | null): Html {
  const { done, open, planned, waiting, outcomes, unresolved } = status;
  const completed = outcomes.completed ?? 0;
  const { ready, hour, today, later } = forecast === null ? { ready: waiting, hour: 0, today: 0, later: 0 } : dueParts(waiting, forecast);
  const bars = bar([
    ['reached', completed],
    ['unreached', done - completed - unresolved],
    ['decide', unresolved],
    ['calling', open + planned],
    ['waiting', waiting],
  ]);
  const due = inWords([[ready, 'now'], [hour, 'within the hour'], [today, 'later today'], [later, 'later']]); // prettier-ignore
  const words = inWords([
    [completed, 'completed'],
    [done - completed - unresolved, 'ended otherwise'],
    [unresolved, 'unresolved'],
    [open + planned, 'open'],
    [waiting, waiting === ready ? 'waiting' : `waiting (${due})`],
  ]);
  return html`<div class="progress">
    ${bars}
    <span>${words === '' ? 'no rows' : words}</span>
  </div>`;
}

function inWords(parts: readonly (readonly [rows: number, words: string])[]): string {
  const met = parts.filter(([rows]) => rows > 0);
  return met.map(([rows, words]) => `${rows.toLocaleString('en')} ${words}`).join(', ');
}

const mostCalls = 12;

const states: Readonly<Record<LiveCall['state'], string>> = {
  requested: 'Requested; the service has not answered yet',
  unknown: 'Not known whether it was placed',
  accepted: 'Accepted by the service',
  over: 'Over; results are still to come',
};

/** The calls that have no result yet, each with its row. */
export async function liveCallsPanel(request: ViewRequest, campaign: Campaign): Promise<Html> {
  const { context, now } = request;
  const { campaignId } = campaign;
  const { calls, total } = await readLiveCalls(context.store.db, campaign, { limit: mostCalls, now });
  const isOffered = may(request, 'operate');
  const more = total - calls.length;
  return panel(
    'On the line',
    [
      table(
        'Calls without a result, the longest first',
        calls.map((call) => ({
          key: `live-${call.row}`,
          cells: {
            Row: link(rowPath(campaignId, call.row), figure(call.row)),
            Number: shownNumber(request, campaignId, call.e164),
            Call: isOffered ? link(callPath(campaignId, call.row, call.attempt), figure(call.attempt)) : figure(call.attempt),
            From: phone(call.caller),
            'How it stands': states[call.state],
            Since: instant(call.since),
          },
        })),
        empty('No call is open', 'Each call stands here from its request until its result is known.'),
      ),
      more === 0 ? null : aside(`And ${count(more, 'more call')}, requested later.`),
    ],
    total === 0 ? null : link(rowsPath(campaignId, { state: 'open' }), 'All rows with an open call'),
  );
}
