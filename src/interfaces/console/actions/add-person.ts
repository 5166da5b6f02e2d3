import { editRefusalOf } from '../../../ledger/people/edit-refusal.ts';
import { figure } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { operations } from '../../../operations/list.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { lineField } from '../core/fields.ts';
import { campaignPath, rowPath, rowsPath } from '../core/links.ts';
import { pressView } from '../core/press.ts';
import { inCampaign, openCampaign } from '../core/rows.ts';

/** Names of the fields, before the name of their column. */
const prefix = 'cell.';

export const addPerson: ConsoleAction = {
  path: '/campaigns/:campaign/add',
  role: operations.addRows.role,
  form: async (request, given) => {
    const { campaign, campaignId } = await openCampaign(request);
    const { columns, idColumn, phoneColumn } = campaign.rules.list;
    const why = obstacleOf(campaign, request.now);
    const [answer] = (given.answer?.['rows'] ?? []) as { hint: string | null; column: string | null }[];
    const refused = answer === undefined ? given.refused : `Nobody was added. ${answer.column ?? 'The row'}: ${answer.hint ?? ''}.`;
    return pressView(
      { ...given, refused },
      {
        title: 'Add a person',
        ...inCampaign(campaign, [rowsPath(campaignId), 'People']),
        back: [campaignPath(campaignId), 'the campaign'],
        obstacle: why === null ? null : { why, status: 200 },
        says: 'They are called as the others are: hours, law, caps and the do-not-call list hold. Whoever is in the campaign by that id stays as they are.',
        standing: [['People of the campaign', figure(campaign.rowsTotal)]],
        button: 'Add to campaign',
        body: html`${columns.map((column) =>
          lineField(given.fields, {
            name: `${prefix}${column}`,
            label: column === idColumn ? `${column} (your own id)` : column,
            required: column === idColumn || column === phoneColumn,
          }),
        )}`,
      },
    );
  },
  call: ({ params, fields }) => {
    const cells = [...fields].flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : []));
    return { ...apiCall('addRows', params), body: { rows: [{ cells: Object.fromEntries(cells) }] } };
  },
  done: ({ params }, { body }) => {
    const [added] = body['rows'] as { result: string; row: number | null }[];
    if (added?.row == null) return null;
    const notice = typeof body['notice'] === 'string' ? ` ${body['notice']}` : '';
    const said = added.result === 'known' ? 'is in the campaign by that id already; nothing was changed' : 'was added, and is in line';
    return { to: rowPath(params['campaign'] ?? '', added.row), said: `Row ${added.row} of the list ${said}.${notice}` };
  },
};

/** Why nobody can be added now; null: somebody can. */
function obstacleOf(campaign: Campaign, now: number): string | null {
  if (campaign.rules.list.idColumn === null)
    return 'Its file names no column of ids (list.id), so somebody who is added twice would be called twice. Send a corrected list to a new campaign.';
  return editRefusalOf(campaign, now);
}
