import { instant } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { LastActs } from '../../../ledger/read/last-acts.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { stateBadge } from './state-badges.ts';

/** Who did what, and when. The command line leaves no name in the log. */
export function actedText(acted: LastActs['acted']): HtmlValue {
  if (acted === null) return 'Nobody, by the page or the API';
  return html`${printable(acted.name)}: ${acted.action.replaceAll('_', ' ')}, ${instant(acted.at, 'full')}`;
}

/** How a campaign stands, since when, and who acted last: names and values for `facts`. */
export function standingFacts({ state, stateReason, createdAt }: Campaign, { changed, acted }: LastActs): (readonly [string, HtmlValue])[] {
  return [
    ['State', [stateBadge(state), stateReason === null ? null : html` ${printable(stateReason)}`]],
    ['Since', instant(changed?.at ?? createdAt, 'full')],
    ['Last changed by', actedText(acted)],
  ];
}

/** Why a form does not do what it is for: what the API said, or that the campaign has moved on since the button was seen. */
export function refusedText(reason: string, { acted }: LastActs): Html {
  const last = acted === null ? null : html` Last changed by ${actedText(acted)}.`;
  return html`<p class="refused" role="alert">${reason}${last}</p>`;
}
