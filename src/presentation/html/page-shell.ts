import { html, type Html, type HtmlValue } from './html.ts';
import { assetFolder } from './page-assets.ts';

export interface Shell {
  title: string;
  /** What stands at the top and leads to the first view. */
  brand: HtmlValue;
  /** What the script of the page brings up to date. */
  app: HtmlValue;
  /** What the last change did. */
  notice?: string | null;
  /** Whether the page says if it is live. */
  isLive: boolean;
  /** Whether what is shown takes a token, and whether it was given. */
  token: 'given' | 'wanted' | null;
  after?: HtmlValue;
}

/** The document around what a page shows. */
export function renderShell({ title, brand, app, notice = null, isLive, token, after = null }: Shell): Html {
  return html`<!doctype html>
    <html lang="en" ${token === null ? null : html`data-token="${token}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${assetFolder}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetFolder}/page.css" />
        <script src="${assetFolder}/idiomorph.js" defer></script>
        <script type="module" src="${assetFolder}/page.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header id="top">
          <p id="brand"><a href="/">${brand}</a></p>
          ${isLive ? html`<p id="link" role="status" data-link="off">Not live</p>` : null}
        </header>
        <p id="notice" role="status" aria-live="polite">${notice}</p>
        <div id="app">${app}</div>
        ${after}
      </body>
    </html>`;
}
