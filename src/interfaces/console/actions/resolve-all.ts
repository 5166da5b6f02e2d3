import { requireCampaign } from '../../../operations/control/ledger.ts';
import { givenUp } from '../../../rules/attempts/retry-schedule.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { count, figure } from '../../../presentation/html/elements.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { countUnresolved } from '../../../ledger/read/doubt-counts.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { checkboxes, hidden } from '../core/fields.ts';
import { pressView } from '../core/press.ts';
import { campaignPath } from '../core/links.ts';
import { operations } from '../../../operations/list.ts';

/** One decision about all rows in doubt that can be decided about together. */
export const resolveAllRows: ConsoleAction = {
  path: '/campaigns/:campaign/resolve',
  role: operations.resolveAll.role,
  form: async (request, given) => {
    const { context, params } = request;
    const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
    const { campaignId } = campaign;
    const { db } = context.store;
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
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [back, 'Needs a person']], // prettier-ignore
      back: [back, 'the rows that need a person'],
      obstacle: isNothing ? { why: 'No row can be decided about together.', status: 200 } : null,
      says: redial
        ? `${count(rows, 'row')} ${rows === 1 ? 'goes' : 'go'} back in line. If their calls were placed after all, up to ${count(rows, 'person', 'people')} ${rows === 1 ? 'is' : 'are'} called twice; no record can rule this out.`
        : `${count(rows, 'row')} ${rows === 1 ? 'keeps' : 'keep'} the outcome unresolved. Nobody asks about them any more, and they are not called again.`,
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
