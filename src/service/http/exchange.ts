import type { Dispatcher } from 'undici';
import type { ExchangePhase } from '../port/errors.ts';

/** Response headers by lower-case name; a repeated header is an array. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** One request on the wire. Times are real ms. */
export interface ExchangeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with prefix and query. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | null;
  /** Limits: until the connection is open, any wait for one included; until all headers; until the whole body. */
  connectMs: number;
  headersMs: number;
  bodyMs: number;
  nowReal: () => number;
  /** Called once, when connected, before the first byte is written. */
  mayBegin?: (() => boolean) | undefined;
  /** Called once, after `mayBegin`, just before the first byte. */
  onSending?: (() => void) | undefined;
}

/** Any status. Times are real epoch ms of this process. */
export interface Answer {
  kind: 'answer';
  status: number;
  headers: Headers;
  body: Buffer;
  sentAtMs: number;
  receivedAtMs: number;
}

/** No whole answer. In `phase` `connecting`, nothing was written. */
export interface ExchangeFailure {
  kind: 'failure';
  phase: Exclude<ExchangePhase, 'answered'>;
  reason: 'not_begun' | 'timeout' | 'broken' | 'too_large';
  /** Set when the answer broke off after its headers. */
  status: number | null;
  headers: Headers | null;
  receivedAtMs: number;
  cause: Error;
}

/** Code of the cause when a client time limit ran out. */
export const timeoutCode = 'TIMEOUT';

/** Ends a request that took too long; the failure around it has the phase. */
class ExchangeTimeoutError extends Error {
  override readonly name = 'ExchangeTimeoutError' as const;
  readonly code = timeoutCode;
}

class NotBegunError extends Error {
  override readonly name = 'NotBegunError' as const;
}

/**
 * Writes one request at most once. A failure while `connecting` proves that nothing was written: undici calls `onRequestStart` when
 * connected and before it writes. Throws only what `mayBegin` or `onSending` throw, with nothing written.
 */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<Answer | ExchangeFailure> {
  return new Promise((resolve, reject) => {
    let phase: ExchangeFailure['phase'] = 'connecting';
    let settled = false;
    let timer: NodeJS.Timeout | undefined;
    let running: Dispatcher.DispatchController | null = null;
    let sentAtMs = 0;
    let receivedAtMs = 0;
    let status: number | null = null;
    let headers: Headers | null = null;
    const chunks: Buffer[] = [];

    const settle = (act: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      act();
    };
    const fail = (reason: ExchangeFailure['reason'], cause: Error) =>
      settle(() => resolve({ kind: 'failure', phase, reason, status, headers, receivedAtMs, cause: withoutWireText(cause) }));
    const limit = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const error = new ExchangeTimeoutError(`${phase.replace('_', ' ')} took longer than ${ms} ms`);
        fail('timeout', error);
        running?.abort(error);
      }, ms);
    };

    limit(request.connectMs);
    dispatcher.dispatch(
      {
        method: request.method,
        path: request.target,
        headers: request.headers,
        body: request.body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(controller) {
          // A second start would send twice; one after the time limit was already reported as not sent.
          if (settled || phase !== 'connecting') {
            controller.abort(new NotBegunError('the request is over'));
            return;
          }
          try {
            if (request.mayBegin?.() === false) {
              fail('not_begun', new NotBegunError('the request was no longer allowed to begin'));
              controller.abort(new NotBegunError('not begun'));
              return;
            }
            request.onSending?.();
          } catch (error) {
            settle(() => reject(error));
            controller.abort(new NotBegunError('not begun'));
            return;
          }
          phase = 'awaiting_response';
          running = controller;
          sentAtMs = request.nowReal();
          limit(request.headersMs);
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          if (statusCode < 200) return;
          receivedAtMs = request.nowReal();
          phase = 'reading_body';
          status = statusCode;
          headers = responseHeaders;
          limit(request.bodyMs);
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          const answered = { status: status ?? 0, headers: headers ?? {} };
          settle(() => resolve({ kind: 'answer', ...answered, body: Buffer.concat(chunks), sentAtMs, receivedAtMs }));
        },
        onResponseError(_controller, error) {
          fail(codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? 'too_large' : 'broken', error);
        },
      },
    );
  });
}

/** The `code` of a system or undici error, or null. */
export function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : null;
}

/** Drops the bytes in a parser error (`data`), which may echo the key or a number. */
function withoutWireText(error: Error): Error {
  return 'data' in error ? Object.assign(new Error('the answer is not HTTP/1.1'), { code: 'NOT_HTTP' }) : error;
}
