import { figure, count } from '../../../presentation/html/elements.ts';
import { findUnresolved, readDoubtfulRows } from '../../../ledger/doubt/doubtful-rows.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { openCampaign, inCampaign, shownNumber, requireRow } from '../core/rows.ts';
import { hidden, checkboxes } from '../core/fields.ts';
import { pressView } from '../core/press.ts';
import { operations } from '../../../operations/list.ts';
import { givenUp } from '../../../rules/attempts/retry-schedule.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { countUnresolved } from '../../../ledger/read/doubt-counts.ts';

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
    const { now } = request;
    const { campaign, campaignId, db } = await openCampaign(request);
    const { row } = await requireRow(request, campaignId);
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
      ...inCampaign(campaign, [back, 'Needs a person'], [rowPath(campaignId, row), `Row ${row}`]),
      back: [back, 'the rows that need a person'],
      obstacle: doubtful === undefined || !isChoice ? { why, status: 200 } : null,
      says: isRedial
        ? 'The row goes back in line and is called. If one of its calls was placed after all, this person is called twice.'
        : 'The row keeps the outcome unresolved, and no decision is asked for any more. It is not called again.',
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

/** One decision about all rows in doubt that can be decided about together. */
export const resolveAllRows: ConsoleAction = {
  path: '/campaigns/:campaign/resolve',
  role: operations.resolveAll.role,
  form: async (request, given) => {
    const { campaign, campaignId, db } = await openCampaign(request);
    const causes = await countUnresolved(db, campaignId);
    const all = Object.values(causes).reduce((sum, rows) => sum + rows, 0) - (causes[givenUp] ?? 0);
    const apart = causes[notToldApart] ?? 0;
    const redial = (given.fields?.get('decision') ?? request.query('decision')) === 'redial';
    const rows = redial ? all - apart : all;
    const { open } = await readStatus(db, campaign);
    const back = campaignPath(campaignId, '/unresolved');
    const isNothing = rows + open === 0 || (redial && rows === 0);
    const what = redial ? `Dial ${count(rows, 'row')} again` : `Leave ${count(rows, 'row')} as they are`;
    return pressView(given, {
      title: `${what}?`,
      ...inCampaign(campaign, [back, 'Needs a person']),
      back: [back, 'the rows that need a person'],
      obstacle: isNothing ? { why: 'No row can be decided about together.', status: 200 } : null,
      says: redial
        ? `${count(rows, 'row')} ${rows === 1 ? 'goes' : 'go'} back in line. If their calls were placed after all, up to ${count(rows, 'person', 'people')} ${rows === 1 ? 'is' : 'are'} called twice; no record can rule this out.`
        : `${count(rows, 'row')} ${rows === 1 ? 'keeps' : 'keep'} the outcome unresolved. No decision is asked for any more, and they are not called again.`,
      standing: [
        [redial ? 'Rows that are dialled again' : 'Rows that stay unresolved', figure(rows)],
        ['Rows that are left to a decision of their own', redial ? figure(apart) : null],
        ['Open calls', figure(open)],
      ],
      button: what,
      danger: true,
      body: [
        hidden({ decision: redial ? 'redial' : 'give_up' }),
        redial || open === 0
          ? null
          : checkboxes(given.fields, 'open', [
              {
                value: 'yes',
                label: `also ${count(open, 'open call')}, if the service has not let its records be read for an hour`,
              },
            ]),
      ],
    });
  },
  call: ({ params, fields }) => ({
    ...apiCall('resolveAll', params),
    body: { decision: fields.get('decision'), ...(fields.get('open') === 'yes' ? { open: true } : {}) },
  }),
  done: ({ params, fields }, { body }) => {
    const { recipients, apart, tooEarly, openGivenUp, setOff } = body as Record<string, unknown> &
      Record<'recipients' | 'apart' | 'tooEarly' | 'openGivenUp', number>;
    const redial = fields.get('decision') === 'redial';
    const parts = [
      `${count(recipients, 'row')} ${redial ? 'dialled again' : 'left as unresolved'}`,
      ...(openGivenUp > 0 ? [`${count(openGivenUp, 'open call')} given up`] : []),
      ...(redial && apart > 0 ? [`${count(apart, 'row')} left: their records cannot be told apart`] : []),
      ...(tooEarly > 0 ? [`${count(tooEarly, 'batch', 'batches')} too young to decide about`] : []),
      ...(typeof setOff === 'string' ? [setOff] : []),
    ];
    return { to: campaignPath(params['campaign'] ?? '', '/unresolved'), said: `${parts.join('; ')}.` };
  },
};
