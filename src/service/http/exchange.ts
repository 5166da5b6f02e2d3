import type { Dispatcher } from 'undici';
import type { ExchangePhase } from '../port/errors.ts';

/** Headers of an answer, by lower-case name; a repeated header is an array. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** One request as it goes on the wire. Times are real milliseconds. */
export interface ExchangeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with prefix and query. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | null;
  /** Time until the connection stands, including any wait for one; then until all headers; then until all of the body. */
  connectMs: number;
  headersMs: number;
  bodyMs: number;
  nowReal: () => number;
  /** Asked once, when the connection stands and before the first byte is written. */
  mayBegin?: (() => boolean) | undefined;
  /** Called once, after `mayBegin` said yes and just before the first byte is written. */
  onSending?: (() => void) | undefined;
}

/** A whole answer, whatever its status. Times are real epoch milliseconds on the clock of this process. */
export interface Answer {
  kind: 'answer';
  status: number;
  headers: Headers;
  body: Buffer;
  sentAtMs: number;
  receivedAtMs: number;
}

/** A request without a whole answer. With `phase` `connecting`, nothing was written. */
export interface ExchangeFailure {
  kind: 'failure';
  phase: Exclude<ExchangePhase, 'answered'>;
  reason: 'not_begun' | 'timeout' | 'broken' | 'too_large';
  /** Known when the answer broke off after its headers. */
  status: number | null;
  headers: Headers | null;
  receivedAtMs: number;
  cause: Error;
}

/** Code of the cause when a time limit of the client ran out. */
export const timeoutCode = 'TIMEOUT';

/** Thrown into a request that took too long; its phase is in the failure that carries it. */
class ExchangeTimeoutError extends Error {
  override readonly name = 'ExchangeTimeoutError' as const;
  readonly code = timeoutCode;
}

/** Ends a request that must not be written. */
class NotBegunError extends Error {
  override readonly name = 'NotBegunError' as const;
}

/**
 * One request, written at most once, and how it ended. The phase tells what is known: a failure while `connecting` means
 * that nothing was written, because undici announces the start of a request (`onRequestStart`) when its connection stands
 * and before it writes. Throws only what `mayBegin` or `onSending` throw; nothing was written then.
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
          // A second start would be a second sending; a start after the time limit was already reported as not sent.
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

/** A parser's error carries the bytes it choked on (`data`), which may echo the key or a number: they are left behind. */
function withoutWireText(error: Error): Error {
  return 'data' in error ? Object.assign(new Error('the answer is not HTTP/1.1'), { code: 'NOT_HTTP' }) : error;
}
