import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherNames } from './access.ts';
import { factsOf } from '../core/dialects.ts';
import { faultNameOf, operationOf, type FaultableName, type ServedRoute } from '../core/operations.ts';
import { refuseField } from '../schemas/validate.ts';
import type { Service } from '../core/service/service.ts';
import { apiKeyIn, authenticate, rateLimited, slowKeyDelayMs } from './authentication.ts';
import { methodRefused } from './error-replies.ts';
import { createUrlCensor, openExchange } from './open-exchange.ts';
import { pause, keyRevoked, sufferAfter, sufferBefore, faultedRequest } from './fault-effects.ts';
import { readBody, readQuery } from './serve-routes.ts';
import { schemaOf } from '../schemas/request-schemas.ts';
import { retryAfterHeader } from '../core/plans.ts';
import type { FaultHit } from '../faults/book.ts';
import { Random } from '../core/random.ts';

/** Order: tag, journal, authenticate, rate limit, faults, answer, conduct checks. `closing` ends waits early. */
export function installPipeline(app: FastifyInstance, service: Service, closing: AbortSignal): void {
  const limiter = new RateLimiter(service.settings.requestsPerSecond);
  const opening = { service, censorUrl: createUrlCensor(service.settings.apiKeys) };

  app.addHook('onRequest', async (request, reply) => {
    service.scheduler.runDue();
    openExchange(request, reply, opening);
    refuseOtherNames(request.headers.host, service.settings);
    const refusal = methodRefused(request.method, request.url.split('?', 1)[0] ?? '', service.settings.dialect);
    if (refusal !== null) throw refusal;
    const { served } = request.routeOptions.config;
    if (served !== undefined && served.checksCallers !== true && !checksFirst(served))
      await admit(request, served, service, limiter, closing);
  });

  app.addHook('preHandler', async (request, reply) => {
    const { served } = request.routeOptions.config;
    if (served === undefined) return undefined;
    const { schemas } = service;
    if (checksFirst(served)) {
      if (served.query !== undefined) readQuery(request, schemaOf(schemas, served.query));
      if (served.body !== undefined) readBody(request, served, schemas);
      await admit(request, served, service, limiter, closing);
    }
    const fault = faultNameOf(served.name);
    if (fault === 'batch_calls') await announceBatch(request, service);
    if (fault !== null) meetFaults(request, fault, service);
    if (await sufferBefore(request, reply, service, closing)) {
      // Already answered: later faults must not change the reply.
      request.exchange.hits = [];
      return reply;
    }
    request.exchange.query = readQuery(request, schemaOf(schemas, served.query));
    service.scheduler.runDue();
    return undefined;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    reply.header('date', new Date(service.clockSteps.shown(service.clock.now())).toUTCString());
    const sent = reply.statusCode >= 400 ? payload : await sufferAfter(request, reply, payload, service, closing);
    if (request.exchange.hits.some(({ effect }) => effect.type === 'no_date')) leaveOutDate(reply);
    noteWait(request, reply, service);
    const { ignored } = request.exchange;
    if (ignored.length > 0) reply.header('x-sandbox-ignored', ignored.slice(0, 20).join(', '));
    return sent;
  });
}

/** True when the request is validated before its key. */
function checksFirst({ checkedBeforeKey, published }: ServedRoute): boolean {
  return checkedBeforeKey === true && published;
}

async function admit(
  request: FastifyRequest,
  { name, published }: ServedRoute,
  service: Service,
  limiter: RateLimiter,
  closing: AbortSignal,
): Promise<void> {
  const { clock, conduct, faults, settings } = service;
  const { exchange } = request;
  const operation = operationOf(name);
  exchange.apiKey = apiKeyIn(request.headers, factsOf(settings));
  const sequence = exchange.entry?.sequence ?? 0;
  if (exchange.apiKey !== null) {
    if (operation !== null) conduct.noteOperation(exchange.apiKey, operation, sequence);
    if (faults.isRevoked(exchange.apiKey)) {
      conduct.noteRevokedKey(exchange.apiKey, sequence);
      throw keyRevoked(published);
    }
  }
  const caller = authenticate(exchange.apiKey, settings.apiKeys, published);
  const now = clock.now();
  const waitMs = caller.waitMs ?? limiter.take(caller.apiKey, now);
  if (waitMs !== null)
    throw rateLimited('rate_limit_exceeded', retryAfterHeader(settings.retryAfter, waitMs, service.clockSteps.shown(now)));
  if (caller.slow) await pause(slowKeyDelayMs, closing);
}

function meetFaults(request: FastifyRequest, operation: FaultableName, service: Service): void {
  const { exchange } = request;
  const { faults, settings } = service;
  exchange.hits = faults.isEmpty ? [] : faults.match(operation, faultedRequest(request, service));
  const preferred = settings.loose ? preferredFailure(request.headers[preferHeader]) : null;
  if (preferred !== null) exchange.hits = [...exchange.hits, preferred];
  if (exchange.entry !== null) exchange.entry.faults = exchange.hits.map(({ ruleId }) => ruleId);
}

async function announceBatch(request: FastifyRequest, service: Service): Promise<void> {
  const { exchange } = request;
  const calls = callsIn(request.body);
  exchange.batch = { requestId: exchange.requestId, batchId: null, calls, nth: service.state.count('batch requests') };
  if (exchange.entry !== null) exchange.entry.callsRequested = calls;
  await service.gates.reach({ point: 'batch_received', ...exchange.batch });
}

function callsIn(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 0;
  const { calls, recipients } = body as { calls?: unknown; recipients?: unknown };
  const list = calls ?? recipients;
  return Array.isArray(list) ? list.length : 0;
}

/** Otherwise Node adds its own. */
function leaveOutDate(reply: FastifyReply): void {
  reply.raw.sendDate = false;
  reply.removeHeader('date');
}

function noteWait(request: FastifyRequest, reply: FastifyReply, { clock, clockSteps, conduct }: Service): void {
  const { served } = request.routeOptions.config;
  const operation = served === undefined ? null : operationOf(served.name);
  const { apiKey } = request.exchange;
  const header = reply.getHeader('retry-after');
  if (reply.statusCode !== 429 || header === undefined || operation === null || apiKey === null) return;
  const seconds = Number(header);
  conduct.noteWaitAsked(
    apiKey,
    operation,
    Number.isNaN(seconds) ? Date.parse(String(header)) - clockSteps.offsetMs : clock.now() + seconds * 1000,
  );
}

export const preferHeader = 'x-sandbox-prefer';

/** The failure requested as `code=503` from a loose sandbox (gaps D.2); null for none. Throws 422 for other text. */
export function preferredFailure(header: string | string[] | undefined): FaultHit | null {
  if (header === undefined) return null;
  const text = String(header);
  const status = Number(/^\s*code=([45]\d\d)\s*$/.exec(text)?.[1]);
  if (Number.isNaN(status)) throw refuseField(['header', preferHeader], 'Must be code= with a status from 400 to 599.', 'invalid', text);
  return { ruleId: preferHeader, effect: { type: 'error', status, when: 'before', body: 'object' }, draw: () => new Random(preferHeader) };
}

/** A token bucket per key, in service time; holds one second's requests, at least one. */
export class RateLimiter {
  readonly #perSecond: number | null;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(perSecond: number | null) {
    this.#perSecond = perSecond;
  }

  /** Null when the request may pass, else the service ms to wait. */
  take(key: string, now: number): number | null {
    const perSecond = this.#perSecond;
    if (perSecond === null) return null;
    const most = Math.max(1, perSecond);
    const bucket = this.#buckets.get(key) ?? { tokens: most, at: now };
    const tokens = Math.min(most, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
    const passes = tokens >= 1;
    this.#buckets.set(key, { tokens: passes ? tokens - 1 : tokens, at: now });
    return passes ? null : ((1 - tokens) / perSecond) * 1000;
  }
}
