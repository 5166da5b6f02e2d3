import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathParameter } from '../routes/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../service.ts';
import type { OperationName } from '../operations.ts';
import { authenticate, rateLimited, sandboxKey, slowKeyDelayMs } from './authentication.ts';
import { newErrorId } from './error-replies.ts';
import { pause, sufferAfter, sufferBefore } from './fault-effects.ts';
import type { Exchange } from './exchange.ts';
import { RateLimiter } from './rate-limiter.ts';

const controlPrefix = '/_sandbox';

/** These check their query themselves; all others take none. */
const takesQuery = new Set<OperationName>(['list_agents', 'list_conversations', 'get_signed_url', 'get_token']);

/**
 * The way of every request: marked and journaled, authenticated, limited, met by faults, answered, judged.
 * `closing` cuts short what only waits.
 */
export function installPipeline(app: FastifyInstance, service: Service, closing: AbortSignal): void {
  const limiter = new RateLimiter(service.settings.requestsPerSecond);

  app.addHook('onRequest', async (request, reply) => {
    service.scheduler.runDue();
    open(request, reply, service);
    const { operation } = request.routeOptions.config;
    if (operation !== undefined) await admit(request, operation, service, limiter, closing);
  });

  app.addHook('preHandler', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    if (operation === undefined) return undefined;
    if (operation === 'batch_calls') await announceBatch(request, service);
    request.exchange.hits = service.faults.match(operation);
    if (request.exchange.entry !== null)
      request.exchange.entry.faults = request.exchange.hits.map(({ ruleId }) => ruleId);
    if (await sufferBefore(request, reply, service.clock, closing)) {
      // The reply is given; the faults are not to touch it again.
      request.exchange.hits = [];
      return reply;
    }
    if (!takesQuery.has(operation)) validate(service.schemas.noQuery, 'query', request.query);
    service.scheduler.runDue();
    return undefined;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    noteWait(request, reply, service);
    reply.header('date', new Date(service.clock.now()).toUTCString());
    if (reply.statusCode >= 400) return payload;
    return sufferAfter(request, reply, payload, closing);
  });
}

function open(request: FastifyRequest, reply: FastifyReply, service: Service): void {
  const { clock, journal, conduct, settings } = service;
  const header = request.headers['x-request-id'];
  const requestId = typeof header === 'string' && header !== '' ? header : null;
  const errorId = newErrorId();
  const exchange: Exchange = { errorId, requestId, apiKey: null, entry: null, hits: [], cut: false, batch: null };
  request.exchange = exchange;
  reply
    .header('x-sandbox', '1')
    .header('x-request-id', requestId ?? errorId)
    .header('date', new Date(clock.now()).toUTCString());
  if (request.url.startsWith(controlPrefix)) return;
  const { path, keyInUrl } = censorUrl(request.url, settings.apiKeys);
  const entry = journal.begin({
    method: request.method,
    path,
    operation: request.routeOptions.config.operation ?? null,
    requestId,
    apiKey: request.headers['x-api-key'] === undefined ? null : '[redacted]',
    at: clock.now(),
    realAt: clock.realNow(),
  });
  request.exchange.entry = entry;
  conduct.noteRequest({ sequence: entry.sequence, parallel: entry.parallel, keyInUrl });
  if (settings.dialect === 'extended') {
    reply.header('current-concurrent-requests', String(entry.parallel));
    reply.header('maximum-concurrent-requests', String(settings.conduct.maxParallelRequests));
  }
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const sent = reply.raw.writableFinished && !exchange.cut;
    journal.end(entry, sent ? 'sent' : 'aborted', reply.raw.statusCode, Math.round(performance.now() - startedAt));
    noteRead(request, reply, sent, service);
    const { batch } = exchange;
    if (batch?.batchId != null && sent) void service.gates.reach({ point: 'batch_replied', ...batch });
  });
}

async function admit(
  request: FastifyRequest,
  operation: OperationName,
  service: Service,
  limiter: RateLimiter,
  closing: AbortSignal,
): Promise<void> {
  const { clock, conduct, settings } = service;
  const { exchange } = request;
  exchange.apiKey = typeof request.headers['x-api-key'] === 'string' ? request.headers['x-api-key'] : null;
  if (exchange.apiKey !== null) conduct.noteOperation(exchange.apiKey, operation, exchange.entry?.sequence ?? 0);
  const caller = authenticate(request.headers['x-api-key'], settings.apiKeys);
  const waitMs = limiter.take(caller.apiKey, clock.now());
  if (waitMs !== null)
    throw rateLimited('rate_limit_exceeded', { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) });
  if (caller.slow) await pause(slowKeyDelayMs, closing);
}

async function announceBatch(request: FastifyRequest, service: Service): Promise<void> {
  const { exchange } = request;
  const calls = callsIn(request.body);
  exchange.batch = { requestId: exchange.requestId, batchId: null, calls, nth: service.state.count('batch requests') };
  if (exchange.entry !== null) exchange.entry.callsRequested = calls;
  await service.gates.reach({ point: 'batch_received', ...exchange.batch });
}

function callsIn(body: unknown): number {
  const calls = typeof body === 'object' && body !== null && 'calls' in body ? body.calls : null;
  return Array.isArray(calls) ? calls.length : 0;
}

/** A read that a fault spoiled may be repeated at once; only records delivered whole count as polled. */
function noteRead(request: FastifyRequest, reply: FastifyReply, sent: boolean, { conduct }: Service): void {
  const { entry } = request.exchange;
  if (entry?.operation !== 'get_conversation' || !sent || reply.raw.statusCode !== 200 || entry.faults.length > 0)
    return;
  conduct.noteConversationRead(pathParameter(request, 'conversation_id'), entry.at);
}

function noteWait(request: FastifyRequest, reply: FastifyReply, { clock, conduct }: Service): void {
  const { operation } = request.routeOptions.config;
  const { apiKey } = request.exchange;
  const header = reply.getHeader('retry-after');
  if (reply.statusCode !== 429 || header === undefined || operation === undefined || apiKey === null) return;
  const seconds = Number(header);
  conduct.noteWaitAsked(
    apiKey,
    operation,
    Number.isNaN(seconds) ? Date.parse(String(header)) : clock.now() + seconds * 1000,
  );
}

/** The address without any key that stands in it. */
function censorUrl(url: string, apiKeys: readonly string[]): { path: string; keyInUrl: boolean } {
  const named = /([?&](?:x-api-key|api_key|apikey|key)=)[^&]*/gi;
  let path = url.replaceAll(named, '$1[redacted]');
  for (const key of [...apiKeys, sandboxKey]) path = path.replaceAll(encodeURIComponent(key), '[redacted]');
  return { path, keyInUrl: path !== url };
}
