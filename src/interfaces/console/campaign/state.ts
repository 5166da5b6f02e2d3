import { count, facts, figure, instant, link, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { plural } from '../../../shared/input/figures.ts';
import { lastEventSeq } from '../../../ledger/events.ts';
import type { CampaignView } from '../../../ledger/read/campaign-view.ts';
import { readLastActs } from '../../../ledger/read/last-acts.ts';
import type { Proof } from '../../../presentation/report/report-data.ts';
import { proveCampaigns } from '../../../presentation/report/read-report.ts';
import { pacingLines } from '../../../presentation/words/pacing.ts';
import { steerLinks } from '../actions/steer.ts';
import { campaignPath, rowsPath } from '../core/links.ts';
import { standingFacts } from '../core/standing.ts';
import type { ViewRequest } from '../core/view.ts';

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
