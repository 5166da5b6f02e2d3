import { requireCampaign } from '../../control/ledger.ts';
import { empty, facts, figure, link } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import { findUnresolved, readDoubtfulRows, type DoubtfulRow } from '../../ledger/doubt/doubtful-rows.ts';
import { actionForm, apiCall, type DeskAction, type Given } from '../core/action.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { shownNumber } from '../core/numbers.ts';
import { requireRow } from '../core/require-row.ts';
import type { ViewRequest } from '../core/view.ts';

type Decision = 'theirs' | 'not_theirs' | 'redial' | 'give_up';

const done: Readonly<Record<Decision, string>> = {
  theirs: 'the record is theirs, and the row has its result',
  not_theirs: 'the record is not theirs',
  redial: 'it is dialled again',
  give_up: 'it stays unresolved',
};

/** Decides about one row in doubt. A record is assigned with one press; dialling again and giving up say first what they do. */
export const resolveRow: DeskAction = {
  path: '/campaigns/:campaign/rows/:row/resolve',
  role: 'operate',
  form: async (request, given) => {
    const { context, now, params } = request;
    const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
    const { campaignId } = campaign;
    const { row } = await requireRow(request, campaignId);
    const { db } = context.store;
    const recipients = await findUnresolved(db, campaignId, [row]);
    const [doubtful] = await readDoubtfulRows(db, campaign, { recipients, now });
    const decision = given.fields?.get('decision') ?? request.query('decision');
    const back = campaignPath(campaignId, '/unresolved');
    return {
      title:
        decision === 'redial'
          ? `Dial row ${row} again?`
          : decision === 'give_up'
            ? `Leave row ${row} as it is?`
            : `Row ${row}`,
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [back, 'Needs a person'], [rowPath(campaignId, row), `Row ${row}`]], // prettier-ignore
      body:
        doubtful === undefined
          ? empty(
              given.refused ?? `Row ${row} is not in doubt, or was left as it is`,
              link(back, 'Rows that need a person'),
            )
          : decision === 'redial' || decision === 'give_up'
            ? sure(request, given, { doubtful, decision, campaignId })
            : empty(given.refused ?? 'Choose a record, or what to do', link(back, 'Rows that need a person')),
    };
  },
  call: ({ params, fields }) => {
    const conversationId = fields.get('conversation') ?? '';
    return {
      ...apiCall('resolveRow', params),
      body: { decision: fields.get('decision'), ...(conversationId === '' ? {} : { conversationId }) },
    };
  },
  done: ({ params, fields }, { body }) => {
    const setOff = typeof body['setOff'] === 'string' ? ` (${body['setOff']})` : '';
    const decision = fields.get('decision') as Decision;
    return {
      to: campaignPath(params['campaign'] ?? '', '/unresolved'),
      said: `Row ${params['row'] ?? ''}: ${done[decision]}${setOff}.`,
    };
  },
};

function sure(
  request: ViewRequest,
  given: Given,
  { doubtful, decision, campaignId }: { doubtful: DoubtfulRow; decision: 'redial' | 'give_up'; campaignId: string },
): Html {
  const { recipient, calls } = doubtful;
  const records = calls.flatMap((call) => call.records).length;
  const back = campaignPath(campaignId, '/unresolved');
  return html`<section class="panel">
    <p>
      ${
        decision === 'redial'
          ? 'The row goes back in line and is called. If one of its calls was placed after all, this person is called twice.'
          : 'The row keeps the outcome unresolved, and nobody asks about it any more. It is not called again.'
      }
    </p>
    ${facts([
      ['Number', shownNumber(request, campaignId, recipient.e164)],
      ['Rows', figure(1)],
      ['Calls that may have been placed', figure(calls.length)],
      ['Records that may be theirs', figure(records)],
    ])}
    ${actionForm(given, {
      button:
        decision === 'redial' ? `Dial row ${recipient.row_number} again` : `Leave row ${recipient.row_number} as it is`,
      tone: 'danger',
      back,
      body: html`<input type="hidden" name="decision" value="${decision}" />`,
    })}
  </section>`;
}
