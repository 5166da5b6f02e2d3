import { count, link } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import type { CampaignView, Need } from '../../ledger/read/campaign-view.ts';
import { needText } from '../../words/needs.ts';
import { campaignPath } from '../core/links.ts';

/** What only a person can set right, each with what to do; nothing where there is nothing. */
export function needsPanel({ campaign, needs }: CampaignView): Html | null {
  if (needs.length === 0) return null;
  return html`<section class="panel" id="needs">
    <header>
      <h2>Needs a person</h2>
      <p class="aside">${count(needs.length, 'thing')}</p>
    </header>
    <ul class="needs">
      ${needs.map((need, index) => {
        const { what, todo } = needText(need);
        return html`<li id="need-${index}-${need.kind}">
          <p class="need">${what}</p>
          <p class="muted">${todo} ${linkOf(need, campaign.campaignId)}</p>
        </li>`;
      })}
    </ul>
  </section>`;
}

function linkOf({ kind }: Need, campaignId: string): Html | null {
  if (kind === 'unresolved') return link(campaignPath(campaignId, '/unresolved'), 'Decide');
  return null;
}
