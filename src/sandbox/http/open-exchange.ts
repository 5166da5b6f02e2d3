import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathParameter } from './serve-routes.ts';
import type { Service } from '../core/service/service.ts';
import { announceRequest } from './announce-changes.ts';
import { newErrorId } from './error-replies.ts';
import { sandboxKey } from './authentication.ts';
import type { ControlAbout } from './serve-control.ts';
import type { FaultHit } from '../faults/book.ts';
import type { BatchPointInfo } from '../core/gates.ts';
import type { JournalEntry } from '../judge/journal.ts';
import { operationOf, type ServedRoute } from '../core/operations.ts';
import { factsOf } from '../core/dialects.ts';

export interface Exchange {
  /** Sent as `request_id` of an error body. */
  errorId: string;
  requestId: string | null;
  apiKey: string | null;
  entry: JournalEntry | null;
  hits: FaultHit[];
  cut: boolean;
  /** Unknown query parameters, encoded for a header. */
  ignored: string[];
  /** The validated query. */
  query: unknown;
  batch: Omit<BatchPointInfo, 'point'> | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
  interface FastifyContextConfig {
    served?: ServedRoute;
    control?: ControlAbout;
  }
}

const servicePrefix = '/v1/';
const controlPrefix = '/_sandbox';

type UrlCensor = (url: string) => { path: string; keyInUrl: boolean };

export interface OpeningParts {
  service: Service;
  censorUrl: UrlCensor;
}

/** Tags a request and journals it to its end, unless it is the sandbox's own. */
export function openExchange(request: FastifyRequest, reply: FastifyReply, parts: OpeningParts): void {
  const { clock, clockSteps, settings } = parts.service;
  const requestId = requestIdOf(request.raw);
  const errorId = newErrorId();
  request.exchange = {
    errorId,
    requestId,
    apiKey: null,
    entry: null,
    hits: [],
    cut: false,
    ignored: [],
    query: {},
    batch: null,
  };
  reply
    .header('x-sandbox', '1')
    .header('x-request-id', requestId ?? errorId)
    .header('date', new Date(clockSteps.shown(clock.now())).toUTCString());
  if (isOwn(request)) return;
  const parallel = keepExchange(request, reply, parts);
  if (factsOf(settings).further) {
    reply.header('current-concurrent-requests', String(parallel));
    reply.header('maximum-concurrent-requests', String(settings.conduct.maxParallelRequests));
  }
}

function keepExchange(request: FastifyRequest, reply: FastifyReply, { service, censorUrl }: OpeningParts): number {
  const { journal } = service;
  const { exchange } = request;
  const { served } = request.routeOptions.config;
  const operation = served === undefined ? null : operationOf(served.name);
  const entry = beginEntry(service, request.raw, censorUrl, { operation, unmatched: request.is404 });
  exchange.entry = entry;
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

export function beginEntry(
  { journal, clock, conduct }: Service,
  request: IncomingMessage,
  censorUrl: UrlCensor,
  route: Pick<JournalEntry, 'operation' | 'unmatched'> = { operation: null, unmatched: false },
): JournalEntry {
  const { path, keyInUrl } = censorUrl(request.url ?? '/');
  const entry = journal.begin({
    method: request.method ?? 'GET',
    path,
    ...route,
    requestId: requestIdOf(request),
    apiKey: request.headers['x-api-key'] === undefined ? null : '[redacted]',
    at: clock.now(),
    realAt: clock.realNow(),
  });
  const { sequence, parallel } = entry;
  conduct.noteRequest({ sequence, parallel, keyInUrl });
  return entry;
}

function requestIdOf({ headers }: IncomingMessage): string | null {
  const header = headers['x-request-id'];
  return typeof header === 'string' && header !== '' ? header : null;
}

function closeBatch({ batch }: Exchange, sent: boolean, { gates }: Service): void {
  if (batch?.batchId != null && sent) void gates.reach({ point: 'batch_replied', ...batch });
}

/** Only complete, fault-free reads count as polling: a spoiled one may be repeated at once. */
function noteRead(request: FastifyRequest, sent: boolean, status: number, { conduct }: Service): void {
  const { entry } = request.exchange;
  if (entry?.operation !== 'get_conversation' || !sent || status !== 200 || entry.faults.length > 0) return;
  conduct.noteConversationRead(pathParameter(request, 'conversation_id'), entry.at);
}

/** Controls, page and documents are not the service; unknown paths count as it. */
function isOwn({ url, is404 }: FastifyRequest): boolean {
  return url.startsWith(controlPrefix) || !(is404 || url.startsWith(servicePrefix));
}

const keyParameter = /([?&](?:x-api-key|api_key|apikey|key)=)[^&]*/gi;
/** Legitimate in a URL, but secret. */
const signatureParameter = /([?&](?:conversation_signature|signature|access_token|token)=)[^&]*/gi;

/** Redacts keys and signatures from URLs before they are stored. */
export function createUrlCensor(apiKeys: readonly string[]): UrlCensor {
  const keys = [...apiKeys, sandboxKey].map(encodeURIComponent);
  return (url) => {
    const hasQuery = url.includes('?');
    const signed = hasQuery ? url.replaceAll(signatureParameter, '$1[redacted]') : url;
    let path = hasQuery ? signed.replaceAll(keyParameter, '$1[redacted]') : signed;
    for (const key of keys) if (path.includes(key)) path = path.replaceAll(key, '[redacted]');
    return { path, keyInUrl: path !== signed };
  };
}
