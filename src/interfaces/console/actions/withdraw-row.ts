import { withdraw } from '../../../operations/control/rows.ts';
import { openAttemptStates } from '../../../rules/ledger.ts';
import { figure } from '../../../presentation/html/elements.ts';
import { EditRefusedError } from '../../../ledger/people/edit-refusal.ts';
import type { WithdrawResult } from '../../../ledger/people/withdraw-recipients.ts';
import { lineField, written } from '../core/fields.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { rowPath, rowsPath } from '../core/links.ts';
import { pressView } from '../core/press.ts';
import { openCampaign, inCampaign, personName, requireRow, rowBadge } from '../core/rows.ts';
import type { ViewRequest } from '../core/view.ts';
import { operations } from '../../../operations/list.ts';

const says: Readonly<Record<WithdrawResult['result'], string>> = {
  withdrawn: 'They end as cancelled, and are not called in this campaign. A corrected list can put them back while it goes on.',
  withdrawing:
    'The planned or open call is asked back from the service. If it has not rung, they end as removed; if it has, they end with that call. They are not called again.',
  call_open: 'A call to them is planned or open, and this service cannot give it back: it goes on, and they stay in the campaign.',
  already_ended: 'They have their outcome, and keep it.',
  not_found: 'The campaign has no such person.',
};

export const withdrawRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/withdraw',
  role: operations.withdrawRows.role,
  form: async (request, given) => {
    const { campaign, campaignId } = await openCampaign(request);
    const row = await requireRow(request, campaignId);
    const name = personName(row.row, row.externalId);
    const back = rowPath(campaignId, row.row);
    const tried = await tryOut(request, campaignId, row.row);
    const result = typeof tried === 'string' ? null : tried.result;
    const isTaken = result === 'withdrawn' || result === 'withdrawing';
    const why = typeof tried === 'string' ? tried : isTaken ? null : says[tried.result];
    return pressView(given, {
      title: `Remove ${name} from the campaign?`,
      ...inCampaign(campaign, [rowsPath(campaignId), 'People'], [back, name]),
      back: [back, name],
      obstacle: why === null ? null : { why, status: 200 },
      says: says[isTaken ? result : 'withdrawn'],
      standing: [
        ['Now', rowBadge(row)],
        ['People who are removed', figure(why === null ? 1 : 0)],
        [
          result === 'withdrawing' ? 'Planned or open calls that are asked back' : 'Planned or open calls that go on',
          figure(await countOpenCalls(request, campaignId, row.row)),
        ],
      ],
      button: 'Remove from campaign',
      danger: true,
      body: lineField(given.fields, { name: 'reason', label: 'Reason, for the log; no word about a person' }),
    });
  },
  call: ({ params, fields }) => ({
    ...apiCall('withdrawRows', params),
    body: { rows: [Number(params['row'])], ...written(fields, 'reason') },
  }),
  done: ({ params }, { body }) => {
    const [left] = body['left'] as { why: WithdrawResult['result'] }[];
    const row = Number(params['row']);
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    return {
      to: rowPath(params['campaign'] ?? '', row),
      said:
        left === undefined
          ? `Row ${row} of the list is removed from the campaign.${notice}`
          : `${left.why === 'withdrawing' ? '' : 'Nothing was changed. '}${says[left.why]}${notice}`,
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
