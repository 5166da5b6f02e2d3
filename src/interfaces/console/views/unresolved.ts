import { requireCampaign } from '../../../operations/control/ledger.ts';
import { givenUp } from '../../../rules/attempts/retry-schedule.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { count, empty, figure, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { findUnresolvedPage, readDoubtfulRows } from '../../../ledger/doubt/doubtful-rows.ts';
import { countUnresolved } from '../../../ledger/read/doubt-counts.ts';
import { causeText } from '../../../presentation/words/doubts.ts';
import { campaignPath } from '../core/links.ts';
import { numbersForm } from '../core/numbers.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { doubtfulRow, unrecordedRows } from './doubtful-row.ts';

const pageSize = 25;

/** Rows of which nobody knows what became, by their causes, each with the records that may be its own. */
export async function unresolvedView(request: ViewRequest): Promise<View> {
  const { context, now, params } = request;
  const { db } = context.store;
  const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
  const { campaignId } = campaign;
  const asked = Number(request.query('after'));
  const afterRow = Number.isSafeInteger(asked) && asked > 0 ? asked : 0;
  const causes = await countUnresolved(db, campaignId);
  const found = await findUnresolvedPage(db, campaignId, { afterRow, limit: pageSize + 1 });
  const rows = await readDoubtfulRows(db, campaign, { recipients: found.slice(0, pageSize), now });
  const withRecords = rows.filter(({ calls }) => calls.some(({ records }) => records.length > 0));
  const without = rows.filter((row) => !withRecords.includes(row));
  const path = campaignPath(campaignId, '/unresolved');
  const open = Object.entries(causes).reduce((sum, [cause, times]) => sum + (cause === givenUp ? 0 : times), 0);
  const next = found.length > pageSize ? (rows.at(-1)?.recipient.row_number ?? null) : null;
  return {
    title: `Needs a person: ${campaignId}`,
    section: 'campaigns',
    follows: campaignId,
    crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId]], // prettier-ignore
    body: [
      panel('Rows that nobody knows about', [causeTable(causes), summary(request, { campaignId, open, apart: causes[notToldApart] ?? 0 })]),
      ...(rows.length === 0
        ? [open === 0 ? null : link(path, 'First rows')]
        : [
            html`<div class="between">
              <h2>${afterRow > 0 ? `Behind row ${afterRow}` : 'Row by row'}</h2>
              ${numbersForm(request, campaignId, { to: afterRow > 0 ? `${path}?after=${afterRow}` : path })}
            </div>`,
            withRecords.map((row) => doubtfulRow(request, campaign, row)),
            unrecordedRows(request, campaign, without),
            html`<div class="pages">
              ${afterRow > 0 ? link(path, 'First rows') : null} ${next === null ? null : link(`${path}?after=${next}`, 'Next rows')}
            </div>`,
          ]),
    ],
  };
}

function causeTable(causes: Readonly<Record<string, number>>): HtmlValue {
  return table(
    'Unresolved rows by their cause',
    Object.entries(causes)
      .toSorted((a, b) => b[1] - a[1])
      .map(([cause, rows]) => ({
        key: `cause-${cause}`,
        cells: { Cause: causeText(cause), Rows: figure(rows) },
      })),
    empty('Nothing needs a decision', 'What became of each call is known, or is still being looked for.'),
  );
}

function summary(request: ViewRequest, { campaignId, open, apart }: { campaignId: string; open: number; apart: number }): Html | null {
  if (open === 0) return null;
  const path = campaignPath(campaignId, '/resolve');
  return html`<div class="stack">
    <p>
      It cannot be known whether ${open === 1 ? 'this row was' : 'these rows were'} reached, so nobody calls ${open === 1 ? 'it' : 'them'}
      again unless you say so. ${count(open, 'row')} still ${open === 1 ? 'needs' : 'need'} a decision.
    </p>
    ${
      may(request, 'operate')
        ? html`<p class="actions">
            ${open > apart ? html`<a class="button" href="${path}?decision=redial">Dial them again …</a>` : null}
            <a class="button" href="${path}?decision=give_up">Leave them all as they are …</a>
          </p>`
        : null
    }
  </div>`;
}
