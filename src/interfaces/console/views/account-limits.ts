import { readAccountUse, type AccountUse, readAccountRules, type AccountRulesView } from '../../../operations/control/adjust.ts';
import { accountRuleLines } from '../../../presentation/words/house.ts';
import { operations } from '../../../operations/list.ts';
import { empty, facts, figure, instant, link, linkButton, note, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { count, percent, plural } from '../../../shared/input/figures.ts';
import { campaignPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

export async function accountLimitsView(request: ViewRequest): Promise<View> {
  const use = await readAccountUse(request.context);
  const rows = use.campaigns.map(({ campaignId, open, allowed }) => ({
    key: `use-${campaignId}`,
    cells: { Campaign: link(campaignPath(campaignId), campaignId), 'Calls right now': figure(open), 'Of at most': figure(allowed) },
  }));
  return {
    title: 'Limits',
    section: 'limits',
    follows: 'all',
    ...(may(request, operations.adjustAccountLimits.role) ? { actions: linkButton('/limits/change', 'Change limits…', 'primary', 'gauge') } : {}),
    meta: html`<span>All campaigns at ${use.accountId} share these. Each has limits of its own besides.</span>`,
    body: html`${use.pace === 1000 ? null : slowed(use)}
      <section class="panel" aria-label="What all campaigns share">${facts(factsOf(use))}</section>
      ${accountRulesPanel(request, await readAccountRules(request.context))}
      <section class="panel" aria-label="What each campaign uses">
        ${table('Campaigns under way', rows, html`<div class="pad-all">${empty('No campaign is under way', link('/', 'All campaigns'))}</div>`)}
      </section>`,
  };
} // prettier-ignore

function accountRulesPanel(request: ViewRequest, { now }: AccountRulesView): Html {
  const lines = accountRuleLines(now?.rules ?? null);
  const since = now === null || now.rules === null ? 'There are none: each campaign is held to its own file and the law.' : html`Version
    ${now.version}, since ${instant(now.setAt, 'full')}. The stricter of them and the file of a campaign binds.`;
  const body = html`<div class="pad-all stack">
    <p>${since}</p>
    ${lines.length === 0 ? null : html`<ul>${lines.map((line) => html`<li>${line}.</li>`)}</ul>`}
    ${may(request, operations.setHouseRules.role) ? html`<p>${linkButton('/limits/house', 'Change house rules…')}</p>` : null}
  </div>`;
  return panel('House rules', body);
} // prettier-ignore

function factsOf({ maxConcurrentCalls, keepFree, open }: AccountUse): [string, HtmlValue][] {
  const most = maxConcurrentCalls === null ? 'no limit of their own' : count(maxConcurrentCalls);
  return [
    ['Calls at once, all campaigns together', most],
    ['Kept free for calls of others', keepFree === 0 ? 'nothing' : percent(keepFree / 1000)],
    ['Calls right now', maxConcurrentCalls === null ? plural(open, 'call') : `${count(open)} of ${plural(maxConcurrentCalls, 'line')}`],
  ];
} // prettier-ignore

function slowed({ pace }: AccountUse): Html {
  return note('wait', {
    title: `All limits are at ${percent(pace / 1000)}`,
    body: html`<p>The service has refused requests as too many. The limits rise by themselves as it accepts batches.</p>`,
  });
}
