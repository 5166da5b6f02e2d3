import { requireCampaign } from '../../control/ledger.ts';
import { withdraw } from '../../control/withdraw.ts';
import { openAttemptStates } from '../../domain/ledger.ts';
import { empty, facts, figure, link } from '../../html/elements.ts';
import { html } from '../../html/html.ts';
import { EditRefusedError } from '../../ledger/people/edit-refusal.ts';
import type { WithdrawResult } from '../../ledger/people/withdraw-recipients.ts';
import { actionForm, apiCall, type DeskAction } from '../core/action.ts';
import { campaignPath, rowPath, rowsPath } from '../core/links.ts';
import { requireRow } from '../core/require-row.ts';
import { rowBadge } from '../core/row-state.ts';
import type { ViewRequest } from '../core/view.ts';

const says: Readonly<Record<WithdrawResult['result'], string>> = {
  withdrawn:
    'The row ends as cancelled, and nobody is called for it. A corrected list can restore it while the campaign goes on.',
  call_open: 'A call to it is planned or open: it goes on, and the row is not withdrawn.',
  already_ended: 'The row has its outcome, and keeps it.',
  not_found: 'The campaign has no such row.',
};

/** Takes one waiting row out of its campaign. */
export const withdrawRow: DeskAction = {
  path: '/campaigns/:campaign/rows/:row/withdraw',
  role: 'operate',
  form: async (request, given) => {
    const { campaignId } = await requireCampaign(request.context.store, request.params['campaign'] ?? '');
    const row = await requireRow(request, campaignId);
    const back = rowPath(campaignId, row.row);
    const tried = await tryOut(request, campaignId, row.row);
    return {
      title: `Withdraw row ${row.row}?`,
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [rowsPath(campaignId), 'Rows'], [back, `Row ${row.row}`]], // prettier-ignore
      body:
        typeof tried === 'string'
          ? empty(given.refused ?? tried, link(back, 'Back'))
          : html`<section class="panel">
              <p>${says[tried.result]}</p>
              ${facts([
                ['Now', rowBadge(row)],
                ['Rows that are withdrawn', figure(tried.result === 'withdrawn' ? 1 : 0)],
                ['Planned or open calls that go on', figure(await countOpenCalls(request, campaignId, row.row))],
              ])}
              ${
                tried.result === 'withdrawn'
                  ? actionForm(given, {
                      button: `Withdraw row ${row.row}`,
                      tone: 'danger',
                      back,
                      body: html`<label class="field"
                        >Reason, for the log; no word about a person
                        <input
                          name="reason"
                          maxlength="1000"
                          autocomplete="off"
                          value="${given.fields?.get('reason') ?? ''}"
                      /></label>`,
                    })
                  : html`<p>${link(back, 'Back')}</p>`
              }
            </section>`,
    };
  },
  call: ({ params, fields }) => {
    const reason = fields.get('reason')?.trim() ?? '';
    return {
      ...apiCall('withdrawRows', params),
      body: { rows: [Number(params['row'])], ...(reason === '' ? {} : { reason }) },
    };
  },
  done: ({ params }, { body }) => {
    const [left] = body['left'] as { why: WithdrawResult['result'] }[];
    const row = Number(params['row']);
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    return {
      to: rowPath(params['campaign'] ?? '', row),
      said: left === undefined ? `Row ${row} is withdrawn.${notice}` : `Nothing was changed. ${says[left.why]}`,
    };
  },
};

/** What would become of the row, or why no row can be withdrawn now. */
async function tryOut({ context }: ViewRequest, campaignId: string, row: number): Promise<WithdrawResult | string> {
  try {
    const { results } = await withdraw(context, { campaignId, named: { rows: [row] }, note: null, dryRun: true });
    return results[0] ?? { key: row, campaignRow: null, result: 'not_found' };
  } catch (error) {
    if (error instanceof EditRefusedError) return error.message;
    throw error;
  }
}

async function countOpenCalls({ context }: ViewRequest, campaignId: string, row: number): Promise<number> {
  const found = await context.store.db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .select('attempts.attempt_id')
    .where('recipients.campaign_id', '=', campaignId)
    .where('recipients.row_number', '=', row)
    .where('attempts.state', 'in', openAttemptStates)
    .execute();
  return found.length;
}
