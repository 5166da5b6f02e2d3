import { requireCampaign } from '../../control/ledger.ts';
import { count, empty, facts, figure, link } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import {
  countRetriable,
  refuseUnlessRetriable,
  RetryRefusedError,
  retriableOutcomes,
  type RetriableOutcome,
} from '../../ledger/people/retry-ended.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import { actionForm, apiCall, type DeskAction, type Given } from '../core/action.ts';
import { checkboxes } from '../core/fields.ts';
import { campaignPath } from '../core/links.ts';
import { outcomeWord } from '../core/row-state.ts';

const means: Readonly<Record<RetriableOutcome, string>> = {
  exhausted: 'all attempts were used',
  unresolved: 'nobody knows whether they were called: they may be called twice',
  expired: 'the campaign ended before an attempt',
  cancelled: 'the campaign was cancelled before an attempt',
  undialable: 'no calling hours, no known time zone, or an invalid number; useful once something has changed',
};

/** Another round of an ended campaign with rows of some outcomes. */
export const retryRows: DeskAction = {
  path: '/campaigns/:campaign/retry',
  role: 'operate',
  form: async ({ context, params }, given) => {
    const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
    const { campaignId, round } = campaign;
    const refusal = refusalOf(campaign);
    const rows = await countRetriable(context.store.db, campaignId);
    const back = campaignPath(campaignId);
    const offered = retriableOutcomes.filter((outcome) => (rows[outcome] ?? 0) > 0);
    return {
      title: 'Call rows again?',
      section: 'campaigns',
      crumbs: [['/', 'Campaigns'], [back, campaignId]], // prettier-ignore
      body:
        refusal !== null
          ? empty(given.refused ?? refusal, link(back, 'Back'))
          : offered.length === 0
            ? empty('No row can be called again', link(back, 'Back'))
            : html`<section class="panel">
                <p>
                  The next round begins with the rows that you choose, under the rules with which the campaign was
                  started. Each has a new budget of attempts and keeps its history; frequency caps still count every
                  call.
                </p>
                ${facts([
                  ['Rounds so far', figure(round)],
                  ['Rows that can be called again', figure(offered.reduce((sum, each) => sum + (rows[each] ?? 0), 0))],
                ])}
                ${actionForm(given, {
                  button: 'Start the next round',
                  back,
                  body: choices(given, offered, rows),
                })}
              </section>`,
    };
  },
  call: ({ params, fields }) => ({
    ...apiCall('retryRows', params),
    body: { outcomes: fields.getAll('outcome') },
  }),
  done: ({ params }, { body }) => {
    const { rows, round } = body as { rows: number; round: number | null };
    const begun = round === null ? 'No round was started: nobody is in line.' : `Round ${round} was started.`;
    return { to: campaignPath(params['campaign'] ?? ''), said: `${count(rows, 'row')} put back in line. ${begun}` };
  },
};

function refusalOf(campaign: Campaign): string | null {
  try {
    refuseUnlessRetriable(campaign);
    return null;
  } catch (error) {
    if (error instanceof RetryRefusedError) return error.message;
    throw error;
  }
}

function choices(
  { fields }: Given,
  offered: readonly RetriableOutcome[],
  rows: Partial<Record<RetriableOutcome, number>>,
): Html {
  return html`<fieldset>
    <legend>Rows to call again</legend>
    ${checkboxes(
      fields,
      'outcome',
      offered.map((outcome) => ({
        value: outcome,
        label: html`${outcomeWord(outcome)}, ${count(rows[outcome] ?? 0, 'row')}:
          <span class="muted">${means[outcome]}</span>`,
      })),
    )}
  </fieldset>`;
}
