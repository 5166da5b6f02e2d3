import { instant } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { renderShell } from '../../../presentation/html/page-shell.ts';
import { may, type Section, type View, type ViewRequest } from './view.ts';

const sections: readonly { name: Section; path: string; words: string; operate?: true }[] = [
  { name: 'campaigns', path: '/', words: 'Campaigns' },
  { name: 'new', path: '/new', words: 'New campaign', operate: true },
  { name: 'do-not-call', path: '/do-not-call', words: 'Do not call' },
  { name: 'schedules', path: '/schedules', words: 'Schedules' },
  { name: 'webhooks', path: '/webhooks', words: 'Webhooks' },
];

/** Everything that changes while the page is open. The script fetches it again and puts it in place of what is shown. */
export function renderApp(request: ViewRequest, view: View): Html {
  const { clock, now, holder } = request;
  const { title, body, section, follows, againMs, crumbs = [] } = view;
  return html`
    <section id="clock" aria-label="Time at the service" data-now="${now}" data-speed="${clock.speed}">
      <p>
        <span class="muted">${clock.sandbox ? 'Sandbox time' : 'Service time'}</span>
        <span id="clock-now">${instant(now, 'full')}</span>
        <span id="clock-zone" class="muted"></span>
        ${clock.speed === 1 ? null : html`<span class="muted">×${clock.speed}</span>`}
      </p>
      <form class="inline" method="post" action="/sign-out">
        <span class="muted">${holder.name} (${holder.role})</span> <button class="small">Sign out</button>
      </form>
    </section>
    <nav id="views" aria-label="Sections">
      <ul>
        ${sections
          .filter(({ operate }) => operate === undefined || may(request, 'operate'))
          .map(
            ({ name, path, words }) => html`<li><a href="${path}" ${name === section ? html`aria-current="page"` : null}>${words}</a></li>`,
          )}
      </ul>
    </nav>
    <main id="main" tabindex="-1" data-title="${title}" data-follows="${follows ?? ''}" data-again="${againMs}">
      ${crumbs.length === 0 ? null : trail(crumbs)}
      <h1>${title}</h1>
      ${body}
    </main>
  `;
}

function trail(crumbs: NonNullable<View['crumbs']>): Html {
  return html`<nav class="crumb" aria-label="Path">
    ${crumbs.map(([path, text], index) => [index === 0 ? null : ' / ', html`<a href="${path}">${text}</a>`])}
  </nav>`;
}

/** The whole document. `notice`: what the last change did, said once; `live`: it follows events, and says whether it does. */
export function renderDocument(title: string, app: HtmlValue, { notice, live }: { notice: string | null; live: boolean }): Html {
  return renderShell({ title: `${title} · Carillon`, brand: 'Carillon', app, notice, isLive: live, token: 'given' });
}

/** The form for the token. `to`: the address to go to after it. */
export function renderSignIn({ to, refused }: { to: string; refused: string | null }): Html {
  return renderDocument(
    'Sign in',
    html`<main id="main" class="sign-in" tabindex="-1" data-title="Sign in" data-follows="">
      <h1>Sign in</h1>
      <p>
        Everybody who works here has a token of their own:
        <code>carillon token create "front desk" --role operate</code> makes one.
      </p>
      <form id="sign-in-form" method="post" action="/sign-in">
        <input type="hidden" name="to" value="${to}" />
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          required
          ${refused === null ? null : html`aria-invalid="true"`}
          aria-describedby="sign-in-said"
        />
        <p id="sign-in-said" role="alert">${refused}</p>
        <button>Sign in</button>
      </form>
      <p class="muted">You stay signed in until you sign out or close the browser, for 12 hours at most.</p>
    </main>`,
    { notice: null, live: false },
  );
}
