import type { IncomingHttpHeaders } from 'node:http';
import { redactHeader, redactText } from './redact.ts';

const longestRing = 1_000;
const longestText = 16_384;

type ReplyHeaders = Readonly<Record<string, string | number | string[] | undefined>>;

/** Headers and bodies of one exchange as they were; told only through `tellCapture`, which leaves the secrets out. */
export interface Capture {
  readonly sequence: number;
  readonly requestHeaders: IncomingHttpHeaders;
  requestText: string | null;
  requestLength: number;
  replyHeaders: ReplyHeaders | null;
  replyText: string | null;
  replyLength: number;
}

interface ToldMessage {
  headers: { name: string; value: string }[];
  /** Null where there was no body, or none that is text. Without secrets, and cut at 16,384 characters. */
  text: string | null;
  /** Of the body before it was cut: characters for text, else bytes. */
  length: number;
  cut: boolean;
}

export interface ToldCapture {
  request: ToldMessage;
  /** Null when no reply was made. */
  reply: ToldMessage | null;
}

/** The newest thousand exchanges, in a ring. */
export class Captures {
  #ring: (Capture | undefined)[] = [];

  begin(sequence: number, requestHeaders: IncomingHttpHeaders): Capture {
    const capture: Capture = {
      sequence,
      requestHeaders,
      requestText: null,
      requestLength: 0,
      replyHeaders: null,
      replyText: null,
      replyLength: 0,
    };
    this.#ring[sequence % longestRing] = capture;
    return capture;
  }

  of(sequence: number): Capture | null {
    const capture = this.#ring[sequence % longestRing];
    return capture?.sequence === sequence ? capture : null;
  }

  clear(): void {
    this.#ring = [];
  }
}

export function captureRequest(capture: Capture, text: string): void {
  capture.requestText = shorten(text);
  capture.requestLength = text.length;
}

export function captureReply(capture: Capture, headers: ReplyHeaders, payload: unknown): void {
  capture.replyHeaders = headers;
  if (typeof payload === 'string') {
    capture.replyText = shorten(payload);
    capture.replyLength = payload.length;
  } else if (Buffer.isBuffer(payload)) capture.replyLength = payload.length;
}

/** `secrets` are keys that are to be found nowhere in it. */
export function tellCapture(capture: Capture, secrets: readonly string[]): ToldCapture {
  const { requestHeaders, requestText, requestLength, replyHeaders, replyText, replyLength } = capture;
  return {
    request: tell(requestHeaders, requestText, requestLength, secrets),
    reply: replyHeaders === null ? null : tell(replyHeaders, replyText, replyLength, secrets),
  };
}

function tell(
  headers: IncomingHttpHeaders | ReplyHeaders,
  text: string | null,
  length: number,
  secrets: readonly string[],
): ToldMessage {
  return {
    headers: Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value: redactHeader(name, String(value), secrets) }],
    ),
    text: text === null ? null : redactText(text, secrets),
    length,
    cut: text !== null && length > text.length,
  };
}

/** A copy, so that the rest of a long body is not kept alive with it. */
function shorten(text: string): string {
  return text.length <= longestText ? text : Buffer.from(text.slice(0, longestText)).toString();
}
