import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathParameter } from './serve-operation.ts';
import type { Service } from '../core/service/service.ts';
import { announceRequest } from './announce-changes.ts';
import { newErrorId } from './error-replies.ts';
import type { Exchange } from './exchange.ts';
import { nearestRoute, type KnownRoute } from './near-miss.ts';

const servicePrefix = '/v1/';
const controlPrefix = '/_sandbox';

export interface OpeningParts {
  service: Service;
  routes: readonly KnownRoute[];
  censorUrl: (url: string) => { path: string; keyInUrl: boolean };
}

/** Marks a request, begins its entry in the journal and sees to the end of it. What is the sandbox's own is not kept. */
export function openExchange(request: FastifyRequest, reply: FastifyReply, parts: OpeningParts): void {
  const { clock, clockSteps, settings } = parts.service;
  const header = request.headers['x-request-id'];
  const requestId = typeof header === 'string' && header !== '' ? header : null;
  const errorId = newErrorId();
  request.exchange = {
    errorId,
    requestId,
    apiKey: null,
    entry: null,
    capture: null,
    hint: request.is404 ? nearestRoute(request.method, pathOf(request.url), parts.routes) : null,
    hits: [],
    cut: false,
    batch: null,
  };
  reply
    .header('x-sandbox', '1')
    .header('x-request-id', requestId ?? errorId)
    .header('date', new Date(clockSteps.shown(clock.now())).toUTCString());
  if (isOwn(request)) return;
  const parallel = keepExchange(request, reply, parts);
  if (settings.dialect === 'extended') {
    reply.header('current-concurrent-requests', String(parallel));
    reply.header('maximum-concurrent-requests', String(settings.conduct.maxParallelRequests));
  }
}

/** Returns how many requests are in progress. */
function keepExchange(request: FastifyRequest, reply: FastifyReply, { service, censorUrl }: OpeningParts): number {
  const { clock, journal, conduct } = service;
  const { exchange } = request;
  const { path, keyInUrl } = censorUrl(request.url);
  const { entry, capture } = journal.begin(
    {
      method: request.method,
      path,
      operation: request.routeOptions.config.operation ?? null,
      unmatched: request.is404,
      hint: exchange.hint,
      requestId: exchange.requestId,
      apiKey: request.headers['x-api-key'] === undefined ? null : '[redacted]',
      at: clock.now(),
      realAt: clock.realNow(),
    },
    request.headers,
  );
  exchange.entry = entry;
  exchange.capture = capture;
  conduct.noteRequest({ sequence: entry.sequence, parallel: entry.parallel, keyInUrl });
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const sent = reply.raw.writableFinished && !exchange.cut;
    journal.end(entry, sent ? 'sent' : 'aborted', reply.raw.statusCode, Math.round(performance.now() - startedAt));
    noteRead(request, sent, reply.raw.statusCode, service);
    announceRequest(service, entry);
    closeBatch(exchange, sent, service);
  });
  return entry.parallel;
}

function closeBatch({ batch }: Exchange, sent: boolean, { gates }: Service): void {
  if (batch?.batchId != null && sent) void gates.reach({ point: 'batch_replied', ...batch });
}

/** A read that a fault spoiled may be repeated at once; only records delivered whole count as polled. */
function noteRead(request: FastifyRequest, sent: boolean, status: number, { conduct }: Service): void {
  const { entry } = request.exchange;
  if (entry?.operation !== 'get_conversation' || !sent || status !== 200 || entry.faults.length > 0) return;
  conduct.noteConversationRead(pathParameter(request, 'conversation_id'), entry.at);
}

/** The sandbox's controls, its page and its documents are no part of the service; what is nowhere may have been meant to be. */
function isOwn({ url, is404 }: FastifyRequest): boolean {
  return url.startsWith(controlPrefix) || !(is404 || url.startsWith(servicePrefix));
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}
