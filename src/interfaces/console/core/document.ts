import type { TokenRole } from '../../../ledger/console/tokens.ts';
import { empty, instant, link } from '../../../presentation/html/elements.ts';
import { renderFrame, type FrameEntry } from '../../../presentation/html/frame.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { renderShell } from '../../../presentation/html/page-shell.ts';
import { may, type Section, type View, type ViewRequest } from './view.ts';

const sections: readonly (Pick<FrameEntry, 'path' | 'words' | 'drawing'> & { name: Section })[] = [
  { name: 'campaigns', path: '/', words: 'Campaigns', drawing: 'list' },
  { name: 'search', path: '/search', words: 'Search', drawing: 'search' },
  { name: 'decisions', path: '/decisions', words: 'Needs a decision', drawing: 'person' },
  { name: 'do-not-call', path: '/do-not-call', words: 'Do not call', drawing: 'ban' },
  { name: 'schedules', path: '/schedules', words: 'Schedules', drawing: 'calendar' },
  { name: 'webhooks', path: '/webhooks', words: 'Webhooks', drawing: 'hook' },
  { name: 'limits', path: '/limits', words: 'Limits', drawing: 'gauge' },
  { name: 'access', path: '/access', words: 'Access', drawing: 'key' },
];

export const roleWords: Readonly<Record<TokenRole, string>> = { read: 'Reader', operate: 'Operator', admin: 'Administrator' };

/** The part that changes while the page is open; the script fetches and replaces it. */
export function renderApp(request: ViewRequest, view: View): Html {
  const { clock, now, holder, decisions, theme } = request;
  const { title, body, section, follows, againMs, crumbs = [], badge, actions, meta, tabs } = view;
  const main = html`<main id="main" tabindex="-1" data-title="${title}" data-follows="${follows ?? ''}" data-again="${againMs}">
    <div class="wrap">
      <div class="head">
        ${crumbs.length === 0 ? null : trail(crumbs)}
        <div class="title">
          <h1>${title}</h1>
          ${badge}
        </div>
        ${actions === undefined ? null : html`<div class="actions">${actions}</div>`}
        ${meta === undefined ? null : html`<div class="meta">${meta}</div>`}
      </div>
      ${tabs} ${body}
    </div>
  </main>`;
  return renderFrame({
    brand: 'Carillon',
    // Only administrators see who has access.
    entries: sections
      .filter(({ name }) => name !== 'access' || may(request, 'admin'))
      .map((entry) => ({
        ...entry,
        isHere: entry.name === section,
        ...(entry.name === 'decisions' ? { count: { number: decisions, unit: 'people', tone: 'alert' } } : {}),
      })),
    clock: html`<div class="clock" id="clock" data-now="${now}" data-speed="${clock.speed}">
      <b id="clock-now">${instant(now, 'full')}</b>
      <span>${clock.sandbox ? 'Sandbox time' : 'Service time'}, <span id="clock-zone">UTC</span></span>
      ${clock.speed === 1 ? null : html`<span>${clock.speed.toLocaleString('en')} × real time</span>`}
    </div>`,
    isLive: follows !== undefined,
    foot: html`
      ${themeSwitch(theme)}
      <form class="who" method="post" action="/sign-out">
        <span><b>${holder.name}</b>${roleWords[holder.role]}</span>
        <button class="btn bare sm square" title="Sign out">${icon('out')}<span class="hidden">Sign out</span></button>
      </form>
    `,
    menuFoot: html`<li>
      <form method="post" action="/sign-out"><button class="btn bare">${icon('out')} Sign out ${holder.name}</button></form>
    </li>`,
    main,
  });
}

const themes = [
  ['system', 'As the system', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
] as const;

/** The script submits it on change; the style sheet applies at once. */
function themeSwitch(theme: ViewRequest['theme']): Html {
  return html`<form id="theme" method="post" action="/theme">
    <fieldset class="theme">
      <legend class="hidden">Colours</legend>
      ${themes.map(
        ([name, words, drawing]) =>
          html`<label title="${words}">
            <input type="radio" name="theme" value="${name}" ${name === (theme ?? 'system') ? html`checked` : null} />
            <span class="hidden">${words}</span>${icon(drawing)}
          </label>`,
      )}
    </fieldset>
    <noscript><button class="btn sm">Use these colours</button></noscript>
  </form>`;
}

function trail(crumbs: NonNullable<View['crumbs']>): Html {
  return html`<nav class="crumbs" aria-label="Path">
    ${crumbs.map(([path, text], index) => [index === 0 ? null : html`<span aria-hidden="true">/</span> `, html`<a href="${path}">${text}</a> `])}
  </nav>`;
}

/** `notice`: result of the last change, shown once. */
export function renderDocument(
  title: string,
  app: HtmlValue,
  { notice, theme, isBare = false }: { notice: string | null; theme: ViewRequest['theme']; isBare?: boolean },
): Html {
  return renderShell({ title: `${title} · Carillon`, app, notice, token: 'given', theme, isBare });
}

/** `to`: address after sign-in. `hasEnded`: an earlier session has ended. */
export function renderSignIn({
  to,
  refused,
  hasEnded = false,
  theme,
}: {
  to: string;
  refused: string | null;
  hasEnded?: boolean;
  theme: ViewRequest['theme'];
}): Html {
  return renderDocument(
    'Sign in',
    html`<main id="main" tabindex="-1" data-title="Sign in" data-follows="">
      <p class="brand">${icon('bell', 'mark')} Carillon</p>
      <form id="sign-in-form" class="panel" method="post" action="/sign-in">
        <h1>Sign in</h1>
        ${
          hasEnded
            ? html`<p role="status">
                Your session has ended: its 12 hours are over, or the token was revoked. Sign in again to go on. This tab keeps what you
                have written.
              </p>`
            : null
        }
        <input type="hidden" name="to" value="${to}" />
        <div class="field">
          <label for="token">Token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="off"
            required
            ${refused === null ? null : html`aria-invalid="true"`}
            aria-describedby="token-hint sign-in-said"
          />
          <p class="hint" id="token-hint">
            Ask whoever runs Carillon for yours. You stay signed in until you close the browser, for 12 hours at most.
          </p>
        </div>
        <p class="error" id="sign-in-said" role="alert">${refused === null ? null : [icon('stop'), ` ${refused}`]}</p>
        <button class="btn primary">Sign in</button>
        <details class="small soft">
          <summary>I run Carillon and have no token yet</summary>
          <p>On the server: <code>carillon token create "front desk" --role operate</code></p>
        </details>
      </form>
    </main>`,
    { notice: null, theme, isBare: true },
  );
}

export function problemView(status: number, detail: string): View {
  const titles: Record<number, string> = { 404: 'Not found', 403: 'Not allowed', 409: 'Not possible now' };
  return {
    title: titles[status] ?? (status >= 500 ? 'Something failed' : 'This cannot be shown'),
    status,
    body: empty(detail, link('/', 'All campaigns')),
  };
}
