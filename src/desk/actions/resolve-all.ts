import { requireCampaign } from '../../control/ledger.ts';
import { givenUp } from '../../domain/attempts/retry-schedule.ts';
import { notToldApart } from '../../domain/disposition.ts';
import { count, empty, facts, figure, link } from '../../html/elements.ts';
import { html } from '../../html/html.ts';
import { readStatus } from '../../ledger/campaign/campaign-status.ts';
import { countUnresolved } from '../../ledger/read/doubt-counts.ts';
import { actionForm, apiCall, type DeskAction } from '../core/action.ts';
import { campaignPath } from '../core/links.ts';

/** One decision about all rows in doubt that can be decided about together. */
export const resolveAllRows: DeskAction = {
  path: '/campaigns/:campaign/resolve',
  role: 'operate',
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
    return {
      title: redial ? `Dial ${count(rows, 'row')} again?` : `Leave ${count(rows, 'row')} as they are?`,
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [back, 'Needs a person']], // prettier-ignore
      body:
        rows + open === 0 || (redial && rows === 0)
          ? empty('No row can be decided about together', link(back, 'Rows that need a person'))
          : html`<section class="panel">
              <p>
                ${
                  redial
                    ? `${count(rows, 'row')} ${rows === 1 ? 'goes' : 'go'} back in line. If their calls were placed after all, up to ${count(rows, 'person', 'people')} ${rows === 1 ? 'is' : 'are'} called twice; no record can rule this out.`
                    : `${count(rows, 'row')} ${rows === 1 ? 'keeps' : 'keep'} the outcome unresolved. Nobody asks about them any more, and they are not called again.`
                }
              </p>
              ${facts([
                [redial ? 'Rows that are dialled again' : 'Rows that stay unresolved', figure(rows)],
                ['Rows that are left to a decision of their own', redial ? figure(apart) : null],
                ['Open calls', figure(open)],
              ])}
              ${actionForm(given, {
                button: redial ? `Dial ${count(rows, 'row')} again` : `Leave ${count(rows, 'row')} as they are`,
                tone: 'danger',
                back,
                body: html`<input type="hidden" name="decision" value="${redial ? 'redial' : 'give_up'}" /> ${
                    redial || open === 0
                      ? null
                      : html`<label
                          ><input
                            type="checkbox"
                            name="open"
                            value="yes"
                            ${given.fields?.get('open') === 'yes' ? html`checked` : null}
                          />
                          also ${count(open, 'open call')}, if the service has not let its records be read for an
                          hour</label
                        >`
                  }`,
              })}
            </section>`,
    };
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
