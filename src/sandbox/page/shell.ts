import { html, type Html } from '../../html/html.ts';
import { assetFolder } from '../../html/page-assets.ts';

/** The document around the data. `app` is null where the data is given only for the control token. */
export function renderShell(app: { title: string; markup: Html } | null): Html {
  return html`<!doctype html>
    <html lang="en" ${app === null ? html`data-token="wanted"` : null}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${app === null ? 'Sandbox' : `${app.title} · Sandbox`}</title>
        <link rel="icon" href="${assetFolder}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetFolder}/page.css" />
        <script src="${assetFolder}/idiomorph.js" defer></script>
        <script type="module" src="${assetFolder}/page.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header id="top">
          <p id="brand">
            <a href="/">Carillon <span>sandbox</span></a>
          </p>
          <p id="link" role="status" data-link="off">Not live</p>
        </header>
        <p id="notice" role="status" aria-live="polite"></p>
        <div id="app">${app === null ? null : app.markup}</div>
        ${app === null ? signIn() : null}
        <noscript
          ><p class="noscript">
            Without its script the page shows how things stand, and its buttons do nothing.
          </p></noscript
        >
      </body>
    </html>`;
}

/** The token stays in this tab of the browser, and goes nowhere but to this sandbox. */
function signIn(): Html {
  return html`<main id="sign-in">
    <h1>Control token</h1>
    <p>This sandbox was started with a control token. Give it to see calls and to change anything.</p>
    <form id="sign-in-form">
      <label for="token">Control token</label>
      <input id="token" type="password" autocomplete="off" required aria-describedby="sign-in-said" />
      <p id="sign-in-said" role="alert"></p>
      <button>Open</button>
    </form>
    <p class="muted">It is kept in this tab until you close it.</p>
  </main>`;
}
