import { requireCampaign } from '../../../operations/control/ledger.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { countCallsTo } from '../../../ledger/read/calls-to.ts';
import { apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { readTerms, termFields } from '../core/fields.ts';
import { callFacts } from '../core/call-facts.ts';
import { campaignPath, rowPath, rowsPath } from '../core/links.ts';
import { shownNumber } from '../core/numbers.ts';
import { pressView } from '../core/press.ts';
import { requireRow } from '../core/require-row.ts';
import { operations } from '../../../operations/list.ts';

/** Puts the number of a row on the do-not-call list, without anybody having to see or write it. */
export const suppressRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/suppress',
  role: operations.addSuppressions.role,
  form: async (request, given) => {
    const { context, params } = request;
    const { campaignId } = await requireCampaign(context.store, params['campaign'] ?? '');
    const { row, e164 } = await requireRow(request, campaignId);
    const back = rowPath(campaignId, row);
    return pressView(given, {
      title: 'Do not call this number?',
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [rowsPath(campaignId), 'Rows'], [back, `Row ${row}`]], // prettier-ignore
      back: [back, `row ${row}`],
      obstacle: e164 === null ? { why: 'This row has no number that could be called.', status: 200 } : null,
      says:
        'Nobody is called under this number from now on. Calls that are planned and not sent yet are stopped; open calls go on. ' +
        'Taking a number off the list again takes the role admin.',
      standing:
        e164 === null
          ? []
          : [['Number', shownNumber(request, campaignId, e164)], ...callFacts(await countCallsTo(context.store.db, [e164]))],
      button: 'Do not call this number',
      danger: true,
      body: html`${scopeChoice(given, campaignId)} ${termFields(given.fields)}`,
    });
  },
  call: async ({ fields }, request) => {
    const { context, params, now } = request;
    const { campaignId } = await requireCampaign(context.store, params['campaign'] ?? '');
    const { e164 } = await requireRow(request, campaignId);
    return {
      ...apiCall('addSuppressions'),
      body: {
        numbers: e164 === null ? [] : [e164],
        ...(fields.get('scope') === 'campaign' ? { campaign: campaignId } : {}),
        ...readTerms(fields, now),
      },
    };
  },
  done: ({ params }, { body }) => ({
    to: rowPath(params['campaign'] ?? '', Number(params['row'])),
    said:
      body['added'] === 1
        ? 'The number is on the do-not-call list.'
        : 'The number was on the do-not-call list already, for at least as long.',
  }),
};

function scopeChoice({ fields }: Given, campaignId: string): Html {
  const onlyHere = fields?.get('scope') === 'campaign';
  return html`<fieldset>
    <legend>For</legend>
    <label><input type="radio" name="scope" value="all" ${onlyHere ? null : html`checked`} /> all campaigns</label>
    <label><input type="radio" name="scope" value="campaign" ${onlyHere ? html`checked` : null} /> only ${campaignId}</label>
  </fieldset>`;
}
