import { requireCampaign } from '../../../operations/control/ledger.ts';
import { figure } from '../../../presentation/html/elements.ts';
import { findUnresolved, readDoubtfulRows } from '../../../ledger/doubt/doubtful-rows.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { shownNumber } from '../core/numbers.ts';
import { hidden } from '../core/fields.ts';
import { pressView } from '../core/press.ts';
import { requireRow } from '../core/require-row.ts';
import { operations } from '../../../operations/list.ts';

type Decision = 'theirs' | 'not_theirs' | 'redial' | 'give_up';

const done: Readonly<Record<Decision, string>> = {
  theirs: 'the record is theirs, and the row has its result',
  not_theirs: 'the record is not theirs',
  redial: 'it is dialled again',
  give_up: 'it stays unresolved',
};

/** Decides about one row in doubt. A record is assigned with one press; dialling again and giving up say first what they do. */
export const resolveRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/resolve',
  role: operations.resolveRow.role,
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
    const isRedial = decision === 'redial';
    const isChoice = isRedial || decision === 'give_up';
    const why = doubtful === undefined ? `Row ${row} is not in doubt, or was left as it is.` : 'Choose a record, or what to do.';
    const calls = doubtful?.calls ?? [];
    const what = isRedial ? `Dial row ${row} again` : `Leave row ${row} as it is`;
    return pressView(given, {
      title: isChoice ? `${what}?` : `Row ${row}`,
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [back, 'Needs a person'], [rowPath(campaignId, row), `Row ${row}`]], // prettier-ignore
      back: [back, 'the rows that need a person'],
      obstacle: doubtful === undefined || !isChoice ? { why, status: 200 } : null,
      says: isRedial
        ? 'The row goes back in line and is called. If one of its calls was placed after all, this person is called twice.'
        : 'The row keeps the outcome unresolved, and nobody asks about it any more. It is not called again.',
      standing:
        doubtful === undefined
          ? []
          : [
              ['Number', shownNumber(request, campaignId, doubtful.recipient.e164)],
              ['Rows', figure(1)],
              ['Calls that may have been placed', figure(calls.length)],
              ['Records that may be theirs', figure(calls.flatMap((call) => call.records).length)],
            ],
      button: what,
      danger: true,
      body: hidden({ decision }),
    });
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
