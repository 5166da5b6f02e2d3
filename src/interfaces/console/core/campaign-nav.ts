import { html, type Html } from '../../../presentation/html/html.ts';
import { campaignPath } from './links.ts';

const views = [
  ['overview', '', 'Overview'],
  ['rows', '/rows', 'Rows'],
  ['figures', '/figures', 'Figures'],
  ['events', '/events', 'Events'],
  ['results', '/results', 'Results'],
  ['report', '/report', 'Report'],
] as const;

/** The views of one campaign, side by side; `here`: the one that is shown. */
export function campaignNav(campaignId: string, here: (typeof views)[number][0]): Html {
  return html`<nav aria-label="Campaign">
    <p class="chips">
      ${views.map(
        ([name, path, words]) =>
          html`<a href="${campaignPath(campaignId, path)}" ${name === here ? html`aria-current="page"` : null}>${words}</a> `,
      )}
    </p>
  </nav>`;
}
