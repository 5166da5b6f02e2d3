import { html, type Html } from '../../presentation/html/html.ts';
import { renderShell } from '../../presentation/html/page-shell.ts';

/** The document around the data. `view` is null where the data is given only for the control token. */
export function renderDocument(view: { title: string; markup: Html } | null): Html {
  return renderShell({
    title: view === null ? 'Sandbox' : `${view.title} · Sandbox`,
    brand: html`Carillon <span>sandbox</span>`,
    app: view?.markup,
    isLive: true,
    token: view === null ? 'wanted' : null,
    after: html`${view === null ? signIn() : null}
      <noscript><p class="noscript">Without its script the page shows how things stand, and its buttons do nothing.</p></noscript>`,
  });
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
