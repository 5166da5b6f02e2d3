/**
 * Known effect of a failed request. `not_sent`: no byte left this process. `queued_nothing`: rate limited before any work (an assumption,
 * see docs/assumptions.md). `refused`: by the service. `read_failed`: a read, so nothing changed. `unknown`: the service may have done it.
 */
export type Knowledge = 'not_sent' | 'queued_nothing' | 'refused' | 'read_failed' | 'unknown';

/** Until `connecting` ends, nothing was written. */
export type ExchangePhase = 'connecting' | 'awaiting_response' | 'reading_body' | 'answered';

/** The service's text, which may echo what was sent: keep it out of logs and messages. */
export interface RefusalDetail {
  /** The service's machine-readable code, such as `invalid_api_key`. */
  code: string | null;
  /** At most 500 characters, without control characters. May echo what was sent. */
  message: string | null;
  /** Rejected fields; `path` is dotted, such as `body.calls.0.to_phone_number`. */
  fields: { path: string; message: string }[];
}

/** Facts of a failed request. No query or body, so no key or phone number. */
export interface RequestFacts {
  method: string;
  /** Path without the query. */
  path: string;
  /** The id sent as `x-request-id`, else the one in the answer. */
  requestId: string | null;
  /** The answer's Date in epoch ms; null or absent: none. */
  serviceMs?: number | null;
}

/**
 * Base of all client failures. Messages name method, path, what is known and what to do; never the service's text, which may echo a phone
 * number.
 */
export abstract class ServiceError extends Error {
  readonly method: string;
  readonly path: string;
  readonly requestId: string | null;
  /** As in `RequestFacts`. */
  readonly serviceMs: number | null;
  abstract readonly knowledge: Knowledge;

  constructor(request: RequestFacts, message: string, cause?: unknown) {
    super(`${request.method} ${request.path}: ${message}`, cause === undefined ? undefined : { cause });
    this.method = request.method;
    this.path = request.path;
    this.requestId = request.requestId;
    this.serviceMs = request.serviceMs ?? null;
  }
}

/** Thrown when the options of the client cannot be used. */
export class ServiceOptionsError extends Error {
  /** Its name in the exported client library. */
  override readonly name = 'ConvaiOptionsError' as const;
}

/** Thrown when a request does not fit the contract; unsent. `problems` name fields, never values. */
export class RequestInvalidError extends ServiceError {
  override readonly name = 'RequestInvalidError' as const;
  readonly knowledge = 'not_sent' as const;
  readonly problems: readonly string[];

  constructor(request: RequestFacts, problems: readonly string[]) {
    super(request, `the request does not fit the contract and was not sent. Correct ${problems.join('; ')}.`);
    this.problems = problems;
  }
}

/** Thrown when the request was provably never written: no connection, or not allowed to begin. */
export class NotSentError extends ServiceError {
  override readonly name = 'NotSentError' as const;
  readonly knowledge = 'not_sent' as const;
  readonly reason: 'no_connection' | 'deadline_passed';

  constructor(request: RequestFacts, reason: 'no_connection' | 'deadline_passed', known: string, cause?: unknown) {
    super(request, known, cause);
    this.reason = reason;
  }
}

/** Thrown on status 429. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError' as const;
  readonly knowledge: 'queued_nothing' | 'unknown';
  readonly status = 429 as const;
  /** From Retry-After, on the service's clock; null when missing or unreadable. */
  readonly retryAfterMs: number | null;
  /** The service's code for the limit, such as `concurrent_limit_exceeded`. */
  readonly code: string | null;
  /** Set when the body of the 429 has one: then calls may have been queued. */
  readonly batchId: string | null;

  constructor(request: RequestFacts, facts: { retryAfterMs: number | null; code: string | null; batchId: string | null }) {
    const wait = facts.retryAfterMs === null ? 'after a growing delay' : `after ${facts.retryAfterMs} ms`;
    super(
      request,
      facts.batchId === null
        ? `the service limits the rate (status 429). Repeat ${wait}.`
        : 'the service limits the rate (status 429) but names a batch, so calls may have been queued. Do not repeat.',
    );
    this.knowledge = facts.batchId === null ? 'queued_nothing' : 'unknown';
    this.retryAfterMs = facts.retryAfterMs;
    this.code = facts.code;
    this.batchId = facts.batchId;
  }
}

/** Thrown when the service refused the request: 400, 401, 402, 403, 404, 405, 413, 415 or 422. */
export class RefusedError extends ServiceError {
  override readonly name = 'RefusedError' as const;
  readonly knowledge = 'refused' as const;
  readonly status: number;
  readonly #detail: RefusalDetail;

  constructor(request: RequestFacts, status: number, advice: string, detail: RefusalDetail) {
    super(request, `refused with status ${status}. ${advice}`);
    this.status = status;
    this.#detail = detail;
  }

  /** May echo a phone number, so printing or logging the error omits it. */
  get detail(): RefusalDetail {
    return this.#detail;
  }
}

/**
 * Thrown when a sent request got no usable answer: timeout, reset, redirect, 408, 409, 425, 5xx or another status. The service may have
 * acted on it.
 */
export class OutcomeUnknownError extends ServiceError {
  override readonly name = 'OutcomeUnknownError' as const;
  readonly knowledge: 'unknown' | 'read_failed';
  readonly status: number | null;
  readonly phase: ExchangePhase;

  constructor(request: RequestFacts, facts: { status: number | null; phase: ExchangePhase }, happened: string, cause?: unknown) {
    super(request, `${happened} ${effectOf(request)}`, cause);
    this.knowledge = request.method === 'GET' ? 'read_failed' : 'unknown';
    this.status = facts.status;
    this.phase = facts.phase;
  }
}

/** Thrown when an answer violates the contract. After a write its effect is unknown. */
export class BadResponseError extends ServiceError {
  override readonly name = 'BadResponseError' as const;
  readonly knowledge: 'unknown' | 'read_failed';
  readonly status: number;
  /** Parts of the body that do not fit, never their values. */
  readonly problems: readonly string[];

  constructor(request: RequestFacts, status: number, problems: readonly string[], cause?: unknown) {
    super(request, `the answer (status ${status}) cannot be used: ${problems.join('; ')}. ${effectOf(request)}`, cause);
    this.knowledge = request.method === 'GET' ? 'read_failed' : 'unknown';
    this.status = status;
    this.problems = problems;
  }
}

function effectOf(request: RequestFacts): string {
  return request.method === 'GET'
    ? 'Nothing was changed; read again later.'
    : 'Whether the service acted on the request is not known: look at what it holds before sending it again.';
}
