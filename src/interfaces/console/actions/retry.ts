import { count, figure } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { countRetriable, refuseUnlessRetriable, RetryRefusedError } from '../../../ledger/people/retry-ended.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { outcomeOf, retriableOutcomes, type RetriableOutcome } from '../../../rules/outcome.ts';
import { checkboxes } from '../core/fields.ts';
import { pressView } from '../core/press.ts';
import { campaignPath } from '../core/links.ts';
import { operations } from '../../../operations/list.ts';

export const retryRows: ConsoleAction = {
  path: '/campaigns/:campaign/retry',
  role: operations.retryRows.role,
  form: async (request, given) => {
    const { campaign, db } = await openCampaign(request);
    const { campaignId, round } = campaign;
    const refusal = refusalOf(campaign);
    const rows = await countRetriable(db, campaignId);
    const back = campaignPath(campaignId);
    const offered = retriableOutcomes.filter((outcome) => (rows[outcome] ?? 0) > 0);
    const why = refusal ?? (offered.length === 0 ? 'No row can be called again.' : null);
    return pressView(given, {
      title: 'Call rows again?',
      ...inCampaign(campaign),
      back: [back, campaignId],
      obstacle: why === null ? null : { why, status: 200 },
      says:
        'The next round begins with the rows that you choose, under the rules with which the campaign was started. Each has a new ' +
        'budget of attempts and keeps its history; frequency caps still count every call.',
      standing: [
        ['Rounds so far', figure(round)],
        ['Rows that can be called again', figure(offered.reduce((sum, each) => sum + (rows[each] ?? 0), 0))],
      ],
      button: 'Start the next round',
      body: choices(given, offered, rows),
    });
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

function choices({ fields }: Given, offered: readonly RetriableOutcome[], rows: Partial<Record<RetriableOutcome, number>>): Html {
  return html`<fieldset>
    <legend>Rows to call again</legend>
    ${checkboxes(
      fields,
      'outcome',
      offered.map((outcome) => ({
        value: outcome,
        label: html`${outcomeOf[outcome].word}, ${count(rows[outcome] ?? 0, 'row')}: <span class="soft">${outcomeOf[outcome].retry}</span>`,
      })),
    )}
  </fieldset>`;
}
