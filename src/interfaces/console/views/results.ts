import { count, plural } from '../../../shared/input/figures.ts';
import { outcomeOf, outcomes, type Outcome } from '../../../rules/outcome.ts';
import { empty, facts, figure, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readStatus, type CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { readResultColumns } from '../../../ledger/read/result-rows.ts';
import { reportPanel } from './report.ts';
import { readCampaignParts } from '../../../operations/control/read-cache.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { campaignNav, campaignPath, rowsPath } from '../core/links.ts';
import { openCampaign, inCampaign, rowBadge } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const formats = [
  ['csv', 'CSV'],
  ['xlsx', 'Excel'],
  ['jsonl', 'JSON Lines'],
] as const;

export async function resultsView(request: ViewRequest): Promise<View> {
  const { cache, context } = request;
  const { campaign, db } = await openCampaign(request);
  const { campaignId, rules } = campaign;
  const status = await readStatus(db, campaign);
  const { collectedKeys, evaluationKeys } = await cache.read(`result keys ${campaignId}`, () => readResultColumns(db, campaign));
  const { lastChange = null } = await readCampaignParts(context, ['lastChange'], { campaign, now: request.now });
  return {
    title: 'Results',
    follows: campaignId,
    ...inCampaign(campaign),
    tabs: campaignNav(campaign, 'results'),
    body: [
      panel('Download', may(request, 'operate') ? downloads(campaignId, status) : forOperators),
      await reportPanel(request, campaignId),
      panel('What came of the people', outcomeTable(campaignId, status)),
      panel(
        'What a row of the file holds',
        facts([
          ['Columns of the list', names(rules.list.columns)],
          ['Then, of the row', 'its outcome and reason, its calls, the last result, its times and conversation'],
          ['Values that the agent collected', names(collectedKeys)],
          ['Evaluations', names(evaluationKeys)],
          ['Changed last', instant(lastChange, 'full')],
        ]),
      ),
    ],
  };
}

const forOperators = html`<p class="soft">The files hold whole numbers, so downloading them takes the role operate.</p>`;

function outcomeTable(campaignId: string, { outcomes: counts, total, done }: CampaignStatus): HtmlValue {
  const found = outcomes.filter((outcome) => (counts[outcome] ?? 0) > 0);
  const left = total - done;
  return [
    table(
      'People by their outcome',
      found.map((outcome) => ({
        key: `outcome-${outcome}`,
        cells: {
          Outcome: rowBadge({ state: 'done', outcome }),
          People: link(rowsPath(campaignId, { outcome }), figure(counts[outcome] ?? 0)),
          Share: figure(`${((100 * (counts[outcome] ?? 0)) / Math.max(1, total)).toFixed(1)} %`),
        },
      })),
      empty('Nobody is done yet', 'The files can be had before; whoever is not done is in_progress there.'),
    ),
    html`<p class="soft">
      ${
        left === 0
          ? `All ${plural(total, 'person', 'people')} of the list ${total === 1 ? 'has an outcome' : 'have their outcome'}.`
          : `${plural(left, 'person', 'people')} of ${count(total)} ${left === 1 ? 'has' : 'have'} no outcome yet: the file says in_progress.`
      }
    </p>`,
  ];
}

function downloads(campaignId: string, { outcomes: counts }: CampaignStatus): Html {
  const found = outcomes.filter((outcome) => (counts[outcome] ?? 0) > 0);
  return html`<form class="act" method="get" action="${campaignPath(campaignId, '/results.csv')}">
    <p>One row for each person of the list, with the whole number. The log says who has downloaded it.</p>
    ${found.length < 2 ? null : choices(found)}
    <label class="mark"
      ><input type="checkbox" name="safe_cells" value="false" /><span
        >CSV for a program: the cells of the list as they are. Else an apostrophe stands before what a spreadsheet would run as a
        formula.</span
      ></label
    >
    <p class="actions">
      ${formats.map(([format, name]) => html`<button class="btn" formaction="${campaignPath(campaignId, `/results.${format}`)}">${icon('download')} ${name}</button>`)}
    </p>
  </form>`;
}

function choices(found: readonly Outcome[]): Html {
  return html`<fieldset class="row">
    <legend>Only these outcomes; none chosen: everybody</legend>
    ${found.map((outcome) => html`<label><input type="checkbox" name="outcome" value="${outcome}" /> ${outcomeOf[outcome].word}</label>`)}
  </fieldset>`;
}

function names(texts: readonly string[]): HtmlValue {
  return texts.length === 0 ? null : texts.map((text, index) => [index === 0 ? null : ', ', html`<code>${printable(text)}</code>`]);
}
