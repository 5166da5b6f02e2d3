import { figure, count } from '../../../presentation/html/elements.ts';
import { findUnresolved, readDoubtfulRows } from '../../../ledger/doubt/doubtful-rows.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { openCampaign, inCampaign, personName, shownNumber, requireRow } from '../core/rows.ts';
import { hidden, checkboxes } from '../core/fields.ts';
import { pressView } from '../core/press.ts';
import { operations } from '../../../operations/list.ts';
import { givenUp } from '../../../rules/attempts/retry-schedule.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { countUnresolved } from '../../../ledger/read/doubt-counts.ts';

type Decision = 'theirs' | 'not_theirs' | 'redial' | 'give_up';

const done: Readonly<Record<Decision, string>> = {
  theirs: 'this record is their call, and they have its result',
  not_theirs: 'this record is not their call',
  redial: 'they are called again',
  give_up: 'they are left open, and not called again',
};

const people = (number: number): string => count(number, 'person', 'people');

/** The page on which it was decided: that of all campaigns, or of this one. */
function backTo(from: string | null, campaignId: string): string {
  return from === 'all' ? '/decisions' : campaignPath(campaignId, '/unresolved');
}

/** Decides about one row in doubt. A record is assigned with one press; dialling again and giving up say first what they do. */
export const resolveRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/resolve',
  role: operations.resolveRow.role,
  form: async (request, given) => {
    const { now } = request;
    const { campaign, campaignId, db } = await openCampaign(request);
    const { row, externalId } = await requireRow(request, campaignId);
    const name = personName(row, externalId);
    const recipients = await findUnresolved(db, campaignId, [row]);
    const [doubtful] = await readDoubtfulRows(db, campaign, { recipients, now });
    const decision = given.fields?.get('decision') ?? request.query('decision');
    const from = given.fields?.get('from') ?? request.query('from');
    const back = backTo(from, campaignId);
    const isRedial = decision === 'redial';
    const isChoice = isRedial || decision === 'give_up';
    const why = doubtful === undefined ? `${name} needs no decision, or was left open.` : 'Choose a record, or what to do.';
    const calls = doubtful?.calls ?? [];
    const what = isRedial ? `Call ${name} again` : `Leave ${name} open`;
    return pressView(given, {
      title: isChoice ? `${what}?` : name,
      ...inCampaign(campaign, [back, 'Needs a decision'], [rowPath(campaignId, row), name]),
      back: [back, 'the people who need a decision'],
      obstacle: doubtful === undefined || !isChoice ? { why, status: 200 } : null,
      says: isRedial
        ? 'This person goes back in line and is called. If one of their calls was placed after all, this person is called twice.'
        : 'It stays unknown what became of this person, and no decision is asked for any more. They are not called again.',
      standing:
        doubtful === undefined
          ? []
          : [
              ['Number', shownNumber(request, campaignId, doubtful.recipient.e164)],
              ['Calls that may have been placed', figure(calls.length)],
              ['Records that may be their call', figure(calls.flatMap((call) => call.records).length)],
            ],
      button: what,
      danger: true,
      body: hidden({ decision, from }),
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
      to: backTo(fields.get('from'), params['campaign'] ?? ''),
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
    const what = redial ? `Call ${people(rows)} again` : `Leave ${people(rows)} open`;
    return pressView(given, {
      title: `${what}?`,
      ...inCampaign(campaign, [back, 'Needs a decision']),
      back: [back, 'the people who need a decision'],
      obstacle: isNothing ? { why: 'Nobody can be decided about together.', status: 200 } : null,
      says: redial
        ? `${people(rows)} ${rows === 1 ? 'goes' : 'go'} back in line. If their calls were placed after all, up to ${people(rows)} ${rows === 1 ? 'is' : 'are'} called twice; no record can rule this out.`
        : `It stays unknown what became of ${people(rows)}. No decision is asked for any more, and they are not called again.`,
      standing: [
        [redial ? 'People who are called again' : 'People who are left open', figure(rows)],
        ['People who are left to a decision of their own', redial ? figure(apart) : null],
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
      `${people(recipients)} ${redial ? 'called again' : 'left open'}`,
      ...(openGivenUp > 0 ? [`${count(openGivenUp, 'open call')} given up`] : []),
      ...(redial && apart > 0 ? [`${people(apart)} left: their records cannot be told apart`] : []),
      ...(tooEarly > 0 ? [`${count(tooEarly, 'batch', 'batches')} too young to decide about`] : []),
      ...(typeof setOff === 'string' ? [setOff] : []),
    ];
    return { to: campaignPath(params['campaign'] ?? '', '/unresolved'), said: `${parts.join('; ')}.` };
  },
};
