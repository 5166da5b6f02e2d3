import { html, type Html, type HtmlValue } from './html.ts';
import { icon, type IconName } from './icons.ts';

export interface FrameEntry {
  path: string;
  words: string;
  drawing: IconName;
  isHere: boolean;
  /** Hidden at 0. `unit`: for screen readers; `alert`: action required. */
  count?: { number: number; unit: string; tone?: 'alert' | 'is-live' };
}

export interface Frame {
  brand: HtmlValue;
  entries: readonly FrameEntry[];
  /** Service clock with `data-now` and `data-speed`, advanced by the script. */
  clock: Html;
  /** Below the clock: who is signed in, and the viewer's settings. */
  foot?: HtmlValue;
  /** Below the entries in the menu of a narrow page. */
  menuFoot?: HtmlValue;
  isLive: boolean;
  main: Html;
}

/** A page's frame: navigation at the side, or in a top menu on narrow pages. */
export function renderFrame({ brand, entries, clock, foot = null, menuFoot = null, isLive, main }: Frame): Html {
  const home = html`<a class="brand" href="/">${icon('bell', 'mark')} ${brand}</a>`;
  const links = entries.map(
    ({ path, words, drawing, isHere, count }) =>
      html`<li>
        <a href="${path}" ${isHere ? html`aria-current="page"` : null}>
          ${icon(drawing)} ${words}
          ${
            count === undefined || count.number === 0
              ? null
              : html`<span class="count ${count.tone}"
                  >${count.number.toLocaleString('en')}<span class="hidden"> ${count.unit}</span></span
                >`
          }
        </a>
      </li>`,
  );
  return html`
    <header class="top">
      ${home} ${isLive ? html`<span class="live" data-link="off">Not live</span>` : null}
      <details class="menu">
        <summary class="btn bare square" aria-label="Menu">${icon('menu')}</summary>
        <div class="pop">
          <nav aria-label="Main menu">
            <ul class="side-nav">
              ${links} ${menuFoot}
            </ul>
          </nav>
        </div>
      </details>
    </header>
    <header class="side">
      ${home}
      <nav id="views" aria-label="Main">
        <ul class="side-nav">
          ${links}
        </ul>
      </nav>
      <div class="side-foot">
        ${clock} ${isLive ? html`<p class="live" id="link" role="status" data-link="off">Not live</p>` : null} ${foot}
      </div>
    </header>
    ${main}
  `;
}
