import { readFileSync } from 'node:fs';
import cookie from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { holderOf, type Api, type ApiContext } from '../api/core/app.ts';
import { LatelyShown, noteNumbersShown } from '../api/core/shown.ts';
import { noteUseInBackground } from '../api/core/authentication.ts';
import { refuseUnknownQuery } from '../api/core/query.ts';
import { dropFileHeaders } from '../api/core/serve.ts';
import { requireFiles } from '../api/core/uploads.ts';
import { errorFacts, nothingHere, ProblemError, problemOf, refuseFaultyText } from '../../operations/runs/problem.ts';
import { chartStyles } from '../../presentation/charts/inks.ts';
import { assetFolder, pageHeaders, readPageAssets, withViewerTimes, type PageAsset } from '../../presentation/html/page-shell.ts';
import { beginSession, endSession, findSession, findToken } from '../../ledger/console/tokens.ts';
import { countUndecidedPeople } from '../../ledger/read/doubt-counts.ts';
import { operationOf, operations } from '../../operations/list.ts';
import type { ConsoleAction } from './core/action.ts';
import type { FormInput } from './core/press.ts';
import { actions } from './actions/all.ts';
import { carryOut, withSentForm } from './core/carry-out.ts';
import { refuseRole } from '../../operations/runs/perform.ts';
import { Changes } from './core/changes.ts';
import { confirmationView } from './core/press.ts';
import { problemView, renderApp, renderDocument, renderSignIn } from './core/document.ts';
import { forgetSession, isFromOwnPage, keepSession, keepTheme, leaveNotification, sessionOf, SignInLimit, takeNotification, themeOf, zoneOf } from './core/session.ts'; // prettier-ignore
import { plural } from '../../shared/input/figures.ts';
import { installDrafts } from './drafts/install-drafts.ts';
import { type View, type ViewRequest } from './core/view.ts';
import { files, searches, views } from './views/all.ts';

const hidden = { config: { role: 'anybody' }, schema: { hide: true } } as const;

const anyPath = '/*';

/** Sent by the script, which needs the changing part only. */
const partHeader = 'x-page-part';

/** Keeps only who has requested whole numbers; any number of processes may serve it. */
export function installConsole(app: Api, context: ApiContext): void {
  const changes = new Changes(app.tail);
  const shown = new LatelyShown();
  app.addHook('preClose', async () => changes.close());
  void app.register(async (console: Api) => {
    await console.register(cookie);
    console.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    );
    for (const asset of readAssets()) console.get(`${assetFolder}/${asset.name}`, hidden, async (_, reply) => sendAsset(reply, asset));
    await console.register(async (page: Api) => {
      page.addHook('onRequest', async (request, reply) => {
        if (request.method === 'POST' && !isFromOwnPage(request))
          return refuse(reply, 403, 'This was not sent from a page of this server.');
      });
      signing(page, context);
      await page.register(async (inside: Api) => {
        inside.addHook('onRequest', async (request, reply) => {
          // Programs get the API's answer.
          if (request.routeOptions.url === anyPath && !isForBrowser(request)) throw new ProblemError(404, 'not_found', nothingHere);
          const text = sessionOf(request);
          const token = text === null ? null : await findSession(context.store, text, context.now());
          if (token !== null) {
            request.holder = token;
            noteUseInBackground(context, token);
            return;
          }
          if (request.headers[partHeader] !== undefined) return reply.code(401).headers(pageHeaders).send();
          const { url = '' } = request.routeOptions;
          // The form of an action is at the address it is sent to.
          const to = request.method === 'GET' || app.hasRoute({ method: 'GET', url }) ? request.url : '/';
          const ended = text === null ? '' : 'ended=yes&';
          return reply.headers(pageHeaders).redirect(`/sign-in?${ended}to=${encodeURIComponent(to)}`, 303);
        });
        inside.get('/changes', hidden, async (request, reply) => {
          if (changes.isFull) return refuse(reply, 503, 'Too many pages are open.');
          reply.hijack();
          reply.raw.writeHead(200, { ...pageHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
          changes.follow(reply.raw, queryOf(request, 'campaign') || 'all');
        });
        const toViewRequest = async (request: FastifyRequest): Promise<ViewRequest> => {
          const holder = holderOf(request);
          const clock = await context.clock();
          return {
            context,
            holder,
            clock,
            now: Math.round(clock.now()),
            params: request.params as Record<string, string>,
            query: (name) => queryOf(request, name),
            sent: request.body instanceof URLSearchParams ? request.body : null,
            cache: context.cache,
            decisions: await context.cache.read('decisions', () => countDecisions(context)),
            theme: themeOf(request),
            numbersShown: (campaignId) => shown.isShown(holder.tokenId, campaignId, context.now()),
          };
        };
        inside.setErrorHandler(async (error, request, reply) => {
          const { status, detail } = problemOf(error);
          // Without a user there is no page: the API's answer.
          if (request.holder === null && status !== 503) throw error;
          if (status >= 500) context.logger.error({ ...errorFacts(error), route: request.routeOptions.url }, 'a view failed');
          dropFileHeaders(reply);
          if (status === 503) void reply.header('retry-after', '5');
          // A page needs the database; if that is down, the error is plain text.
          const viewed = request.holder === null ? null : await toViewRequest(request).catch(() => null);
          if (viewed === null) return refuse(reply, status, detail);
          return send({ request, reply }, viewed, problemView(status, detail));
        });
        inside.get(anyPath, hidden, async (request, reply) =>
          send({ request, reply }, await toViewRequest(request), problemView(404, 'There is no page at this address.')),
        );
        for (const [path, view] of Object.entries(views))
          inside.get(path, hidden, async (request, reply) => {
            const viewed = await toViewRequest(request);
            return send({ request, reply }, viewed, await view(viewed));
          });
        const showNumbers = async (request: FastifyRequest, campaign: string): Promise<void> => {
          const { tokenId } = holderOf(request);
          if ((request.body as URLSearchParams).get('show') === 'no') return shown.hide(tokenId, campaign);
          await noteNumbersShown(context, request, campaign);
          shown.show(tokenId, campaign, context.now());
        };
        for (const [path, view] of Object.entries(searches))
          inside.post(path, hidden, async (request, reply) => {
            refuseFaultyText({ form: Object.fromEntries(request.body as URLSearchParams) });
            const viewed = await toViewRequest(request);
            const { campaign } = viewed.params;
            if (campaign !== undefined && viewed.sent?.get('show') != null) await showNumbers(request, campaign);
            return send({ request, reply }, viewed, await view(viewed));
          });
        for (const id of files) {
          const { route, role, params, query } = operationOf(id);
          const schema = { hide: true, params, ...(query && { querystring: query }) };
          const checkRole = async (request: FastifyRequest) => refuseRole(holderOf(request), role);
          // Files from a page are opened in a spreadsheet, so cells are guarded unless the address says otherwise.
          const guardCells = async (request: FastifyRequest) => {
            const { format } = request.params as { format?: string };
            const query = request.query as object;
            if (format === 'csv' && !('safe_cells' in query)) request.query = { ...query, safe_cells: 'true', bom: 'true' };
          };
          const preValidation = [checkRole, refuseUnknownQuery, guardCells];
          inside.get(route.replace('GET /api/v1', ''), { ...hidden, schema, preValidation, exposeHeadRoute: false }, (request, reply) =>
            app.downloads.get(id)?.(request, reply.headers(pageHeaders)),
          );
        }
        for (const action of actions) installAction(inside, { action, asked: toViewRequest });
        installDrafts(inside, { app, context, asked: toViewRequest, send, sendPart: sendHtml });
        inside.post('/theme', hidden, async (request, reply) => {
          keepTheme(request, reply, (request.body as URLSearchParams).get('theme') ?? '');
          return reply.redirect(ownPath(new URL(request.headers.referer ?? '/', 'http://page').pathname), 303);
        });
        inside.post('/campaigns/:campaign/numbers', hidden, async (request, reply) => {
          const { campaign = '' } = request.params as { campaign?: string };
          await showNumbers(request, campaign);
          return reply.redirect(ownPath((request.body as URLSearchParams).get('to') ?? '/'), 303);
        });
      });
    });
  });

  function installAction(
    inside: Api,
    { action, asked: toViewRequest }: { action: ConsoleAction; asked: (request: FastifyRequest) => Promise<ViewRequest> },
  ): void {
    const { path, op, files: names = [] } = action;
    const { role } = operations[op];
    const show = async (exchange: Exchange, viewed: ViewRequest, given: FormInput, status = 200): Promise<FastifyReply> =>
      send(exchange, viewed, { status, ...confirmationView(given, await action.form(viewed, given), names.length > 0) });
    const nothing = { fields: null, refused: null, answer: null };
    const allowed =
      (answer: (exchange: Exchange, viewed: ViewRequest) => Promise<FastifyReply>) =>
      async (request: FastifyRequest, reply: FastifyReply) => {
        const viewed = await toViewRequest(request);
        refuseRole(viewed.holder, role);
        return answer({ request, reply }, viewed);
      };
    inside.get(
      path,
      hidden,
      allowed((exchange, viewed) => show(exchange, viewed, nothing)),
    );
    inside.post(
      path,
      hidden,
      allowed(({ request, reply }, viewed) =>
        withSentForm(request, names, async (fields, files) => {
          const { params } = viewed;
          const sent = { campaignId: params['campaign'] ?? '', row: Number(params['row']), fields, files };
          const call = (await action.call?.(sent, viewed)) ?? {};
          const carried = await carryOut(context, request, call.op ?? op, {
            ...call,
            params,
            key: fields.get('key') ?? '',
            ...(names.length === 0 ? {} : { files: async () => requireFiles(names, files) }),
          });
          if (carried.refused !== null) {
            const { refused, errors, status } = carried;
            return show({ request, reply }, viewed, { fields, refused, errors, answer: null }, status);
          }
          const { answer, replayed } = carried;
          const { notice } = answer;
          const done = action.done(sent, answer);
          if (done === null) return show({ request, reply }, viewed, { fields, refused: null, answer });
          const messages = [done.said, typeof notice === 'string' ? notice : '', replayed ? '(It had been done already.)' : ''];
          leaveNotification(request, reply, messages.filter((text) => text !== '').join(' '));
          return reply.headers(pageHeaders).redirect(done.to, 303);
        }),
      ),
    );
  }
}

async function countDecisions({ store }: ApiContext): Promise<number> {
  return [...(await countUndecidedPeople(store.db)).values()].reduce((sum, people) => sum + people, 0);
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

function signing(page: Api, context: ApiContext): void {
  const { store } = context;
  const limit = new SignInLimit();
  const show = ({ request, reply }: Exchange, shown: Omit<Parameters<typeof renderSignIn>[0], 'theme'>) =>
    sendHtml(reply, renderSignIn({ ...shown, theme: themeOf(request) }).text);
  page.get('/sign-in', hidden, async (request, reply) => {
    const hasEnded = queryOf(request, 'ended') === 'yes';
    return show({ request, reply }, { to: ownPath(queryOf(request, 'to')), refused: null, hasEnded });
  });
  page.post('/sign-in', hidden, async (request, reply) => {
    const fields = request.body as URLSearchParams;
    const given = (fields.get('token') ?? '').trim();
    const to = ownPath(fields.get('to') ?? '');
    const seconds = Math.ceil(limit.begin(request.ip, context.now()) / 1000);
    if (seconds > 0) {
      const refused = `Too many tokens were refused. Try again in ${plural(seconds, 'second')}.`;
      return show({ request, reply: reply.code(429).header('retry-after', seconds) }, { to, refused });
    }
    const token = await findToken(store, context.redeem?.(given) ?? given, context.now());
    if (token === null) return show({ request, reply: reply.code(401) }, { to, refused: 'This token is unknown, revoked or has expired.' });
    limit.succeeded(request.ip);
    keepSession(request, reply, await beginSession(store, { tokenId: token.tokenId, nowReal: context.now() }));
    return reply.headers(pageHeaders).redirect(to, 303);
  });
  page.post('/sign-out', hidden, async (request, reply) => {
    await endSession(store, sessionOf(request) ?? '');
    forgetSession(request, reply);
    return reply.headers(pageHeaders).redirect('/sign-in', 303);
  });
}

function isForBrowser({ url, headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/html') && !url.startsWith('/api/');
}

/** Prevents redirects to other servers. */
function ownPath(path: string): string {
  return /^\/(?![/\\])[^\s\\]*$/.test(path) ? path : '/';
}

function send({ request, reply }: Exchange, viewed: ViewRequest, view: View): FastifyReply {
  const app = renderApp(viewed, view);
  const coded = reply.code(view.status ?? 200);
  if (request.headers[partHeader] !== undefined) return sendHtml(coded, app.text);
  const notification = takeNotification(request, reply);
  const { text } = renderDocument(view.title, app, { notice: notification, theme: viewed.theme });
  return sendHtml(coded, withViewerTimes(text, zoneOf(request), viewed.now));
}

function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.headers(pageHeaders).type('text/html; charset=utf-8').serializer(String).send(text);
}

function refuse(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).headers(pageHeaders).type('text/plain; charset=utf-8').serializer(String).send(`${text}\n`);
}

function queryOf(request: FastifyRequest, name: string): string {
  const value = (request.query as Record<string, unknown>)[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : '';
}

function readAssets(): PageAsset[] {
  const folder = new URL('browser/', import.meta.url);
  return readPageAssets(folder.href, {
    scripts: ['page.js', 'draft.js', 'keep.js', 'listen.js'],
    styles: `${chartStyles}\n${readFileSync(new URL('console.css', folder), 'utf8')}`,
  });
}

function sendAsset(reply: FastifyReply, { type, body }: PageAsset): FastifyReply {
  const headed = reply.headers({ ...pageHeaders, 'cache-control': 'no-cache' });
  if (typeof body !== 'string') return headed.type(type).send(body);
  return headed.type(`${type}; charset=utf-8`).serializer(String).send(body);
}
