import type { FastifyInstance, FastifyReply } from 'fastify';
import { assetFolder, pageHeaders, readPageAssets } from '../../presentation/html/page-shell.ts';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { renderApp } from './app-frame.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import { renderShell } from '../../presentation/html/page-shell.ts';

const assets = readPageAssets(new URL('browser/', import.meta.url).href, {
  scripts: ['page', 'ask', 'forms', 'live', 'sign-in'].map((name) => `${name}.js`),
});

/** Data is at `/_sandbox/page` too. With a control token the page is empty until its script sends the token. */
export function installPage(app: FastifyInstance, service: Service, webhooks: Webhooks): void {
  app.get('/', async (request, reply) => {
    if (service.settings.controlToken !== null) return send(reply, 'text/html', renderDocument(null).text);
    const { view, markup } = renderApp({ service, webhooks }, readQuery(request.query));
    return send(view.missing === true ? reply.code(404) : reply, 'text/html', renderDocument({ title: view.title, markup }).text);
  });

  serveControl(app, 'GET /_sandbox/page', {
    says: 'Gives a view of the page; its query is that of the page itself.',
    answers: ['text/html'],
    answer: ({ request, reply }) => send(reply, 'text/html', renderApp({ service, webhooks }, readQuery(request.query)).markup.text),
  });

  for (const { name, type, body } of assets) app.get(`${assetFolder}/${name}`, async (_request, reply) => send(reply, type, body));
}

function send(reply: FastifyReply, type: string, body: string | Buffer): FastifyReply {
  return reply
    .headers(pageHeaders)
    .type(typeof body === 'string' ? `${type}; charset=utf-8` : type)
    .send(body);
}

/** The first of repeated parameters counts. */
function readQuery(query: unknown): Record<string, string> {
  if (typeof query !== 'object' || query === null) return {};
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(Array.isArray(value) ? value[0] : value)]));
}

export function renderDocument(view: { title: string; markup: Html } | null): Html {
  return renderShell({
    title: view === null ? 'Sandbox' : `${view.title} · Sandbox`,
    app: view?.markup,
    token: view === null ? 'wanted' : null,
    after: html`${view === null ? signIn() : null}
      <noscript><p class="noscript">Without its script the page shows how things stand, and its buttons do nothing.</p></noscript>`,
  });
}

function signIn(): Html {
  return html`<main id="sign-in">
    <h1>Control token</h1>
    <p>This sandbox was started with a control token. Give it to see calls and to change anything.</p>
    <form id="sign-in-form">
      <label for="token">Control token</label>
      <input id="token" type="password" autocomplete="off" required aria-describedby="sign-in-said" />
      <p id="sign-in-said" role="alert"></p>
      <button class="btn">Open</button>
    </form>
    <p class="soft">It is kept in this tab until you close it.</p>
  </main>`;
}
