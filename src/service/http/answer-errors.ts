import {
  BadResponseError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  type ServiceError,
  type RequestFacts,
} from '../port/errors.ts';
import { codeOf, type Answer, type ExchangeFailure, type Headers } from './exchange.ts';
import { ProxyError } from '../../shared/network/proxies.ts';
import { isRecord, parseJson, parseRefusalDetail } from './refusal-detail.ts';

/** Statuses that prove the service did nothing, with advice for each. */
const refusals: Readonly<Record<number, string>> = {
  400: 'Check the request against the contract.',
  401: 'Check the API key (SVC_API_KEY).',
  402: "Check the account's plan and credit.",
  403: 'Check what the API key is allowed to do.',
  404: 'Check that the id in the path, or in the request, exists in this account, and the base URL (SVC_BASE_URL).',
  405: 'Check the base URL (SVC_BASE_URL).',
  413: 'Send fewer calls at once.',
  415: 'Check the base URL (SVC_BASE_URL); the service does not take JSON there.',
  422: 'Check the request against the contract.',
};

/** Context of a failed request. `origin`: scheme, host and port. */
export interface AnswerContext {
  request: RequestFacts;
  origin: string;
  redact: (text: string) => string;
  /** The proxy that may have answered itself, or null. */
  answeredBy: string | null;
}

/** Error of a request that broke off. */
export function errorOfFailure(failure: ExchangeFailure, { request, origin, answeredBy }: AnswerContext): ServiceError {
  const { phase, status, cause } = failure;
  if (failure.reason === 'not_begun') {
    return new NotSentError(request, 'deadline_passed', 'the time to begin had passed when the connection stood, so nothing was sent.');
  }
  const why = codeOf(cause) ?? cause.name;
  if (phase === 'connecting') {
    const reason = cause instanceof ProxyError ? `${why}: ${cause.message}` : why;
    const known = `no connection to ${origin} could be established (${reason}), so nothing was sent. Check that the service is up and the base URL (SVC_BASE_URL).`;
    return new NotSentError(request, 'no_connection', known, cause);
  }
  // The status alone proves a refusal, so the lost text does not matter. A 429 may name a batch in its body.
  if (status !== null && status in refusals && answeredBy === null)
    return refused(request, status, { code: null, message: null, fields: [] });
  if (status === 429 && request.method === 'GET') {
    return rateLimited(request, { headers: failure.headers ?? {}, receivedAtMs: failure.receivedAtMs }, null, null);
  }
  if (failure.reason === 'too_large' && status !== null) {
    return new BadResponseError(request, status, ['the body is too large']);
  }
  const happened =
    failure.reason === 'timeout'
      ? `sent, but ${cause.message}.`
      : `sent, but the connection broke ${phase === 'reading_body' ? 'inside the answer' : 'before an answer'} (${why}).`;
  return new OutcomeUnknownError(request, { status, phase }, happened, cause);
}

/** Error of a complete answer outside 2xx. */
export function errorOfStatus(answer: Answer, { request, redact, answeredBy }: AnswerContext): ServiceError {
  const { status } = answer;
  const text = answer.body.toString('utf8');
  if (status >= 300 && status < 400 && request.method === 'GET') {
    return new BadResponseError(request, status, ['a redirect, which is never followed; check the base URL (SVC_BASE_URL)']);
  }
  // A rate-limited read claims nothing about the service.
  if (answeredBy !== null && !(status === 429 && request.method === 'GET')) {
    const happened = `answered with status ${status} through the proxy ${answeredBy}, which may have answered itself.`;
    return new OutcomeUnknownError(request, { status, phase: 'answered' }, happened);
  }
  const traces = request.method === 'POST' ? tracesOfBatch(text) : { batchId: null, unclear: false };
  if (status === 429 && !traces.unclear) {
    return rateLimited(request, answer, machineWord(parseRefusalDetail(text, redact).code), traces.batchId);
  }
  // A refusal that also names a batch contradicts itself, so its outcome is unknown.
  if (status in refusals && traces.batchId === null && !traces.unclear) {
    return refused(request, status, parseRefusalDetail(text, redact));
  }
  return new OutcomeUnknownError(request, { status, phase: 'answered' }, `answered with status ${status}.`);
}

/** The service's request id, if it looks like one: other text could be anything. */
export function requestIdOf(headers: Headers | null): string | null {
  const value = headerOf(headers ?? {}, 'x-request-id') ?? headerOf(headers ?? {}, 'request-id');
  return value !== null && /^[A-Za-z0-9][\w./:-]{0,127}$/.test(value) ? value : null;
}

/** A header's first value. */
export function headerOf(headers: Headers, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function refused(request: RequestFacts, status: number, detail: RefusedError['detail']): RefusedError {
  return new RefusedError(request, status, refusals[status] ?? '', detail);
}

function rateLimited(
  request: RequestFacts,
  answer: Pick<Answer, 'headers' | 'receivedAtMs'>,
  code: string | null,
  batchId: string | null,
): RateLimitedError {
  const retryAfterMs = parseRetryAfter(headerOf(answer.headers, 'retry-after'), headerOf(answer.headers, 'date'), answer.receivedAtMs);
  return new RateLimitedError(request, { retryAfterMs, code, batchId });
}

/** Signs that calls were queued anyway. `unclear`: without a readable batch id. */
function tracesOfBatch(text: string): { batchId: string | null; unclear: boolean } {
  const json = parseJson(text);
  if (json === undefined) return { batchId: null, unclear: /batch_id|calls_initiated/.test(text) };
  const places = isRecord(json) ? [json, json['detail'], json['error']].filter(isRecord) : [];
  for (const place of places) {
    const { batch_id: batchId, calls_initiated: initiated } = place;
    if (typeof batchId === 'string' && batchId !== '') return { batchId, unclear: false };
    if ((batchId !== undefined && batchId !== null && batchId !== '') || (typeof initiated === 'number' && initiated > 0)) {
      return { batchId: null, unclear: true };
    }
  }
  return { batchId: null, unclear: false };
}

function machineWord(code: string | null): string | null {
  return code !== null && /^[a-z][\w.-]{0,63}$/i.test(code) ? code : null;
}

const imfFixdate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Ten digits of seconds are three centuries: more are a fault. */
const mostDigits = 10;

/** Waits are cut to a day: longer ones are faults, such as epoch seconds in place of a span. */
const longestMs = 24 * 3_600_000;

/** Epoch ms of an HTTP date in any of the three forms of RFC 9110 section 5.6.7, or null. */
export function parseHttpDate(value: string): number | null {
  const text = value.trim();
  // asctime has no zone and means UTC; Date.parse alone would read it as local time.
  const dated = imfFixdate.test(text) || rfc850.test(text) ? text : asctime.test(text) ? `${text} GMT` : null;
  if (dated === null) return null;
  const ms = Date.parse(dated);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * Wait of a Retry-After in ms of the service's clock, at most 24 hours; null when unreadable. A date counts from the answer's Date, since
 * clocks may differ; without one, from `nowMs`.
 */
export function parseRetryAfter(value: string | null, dateHeader: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) {
    const digits = text.split('.')[0] ?? '';
    return digits.length > mostDigits ? null : Math.min(longestMs, Math.ceil(Number(text) * 1000));
  }
  const until = parseHttpDate(text);
  if (until === null) return null;
  const from = (dateHeader === null ? null : parseHttpDate(dateHeader)) ?? nowMs;
  return Math.min(longestMs, Math.max(0, until - from));
}
