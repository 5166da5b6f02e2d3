import type { IncomingHttpHeaders } from 'node:http';
import { redactHeader, redactText } from './redact.ts';

const longestRing = 1_000;
const longestText = 16_384;

type ReplyHeaders = Readonly<Record<string, string | number | string[] | undefined>>;

/** Headers and body as they were; told only through `tellCapture`, which leaves the secrets out. */
interface CapturedMessage {
  headers: IncomingHttpHeaders | ReplyHeaders;
  /** Null where there was no body, or none that is text; cut at 16,384 characters. */
  text: string | null;
  /** Of the body before it was cut: characters for text, else bytes. */
  length: number;
}

export interface Capture {
  readonly sequence: number;
  request: CapturedMessage;
  /** Null when no reply was made. */
  reply: CapturedMessage | null;
}

export class Captures {
  #ring: (Capture | undefined)[] = [];

  begin(sequence: number, headers: IncomingHttpHeaders): Capture {
    const capture: Capture = { sequence, request: { headers, ...bodyOf(null) }, reply: null };
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

export function captureRequest({ request }: Capture, text: string): void {
  Object.assign(request, bodyOf(text));
}

export function captureReply(capture: Capture, headers: ReplyHeaders, payload: unknown): void {
  capture.reply = { headers, ...bodyOf(payload) };
}

/** The text is a copy, so that the rest of a long body is not kept alive with it. */
function bodyOf(payload: unknown): Pick<CapturedMessage, 'text' | 'length'> {
  if (typeof payload !== 'string') return { text: null, length: Buffer.isBuffer(payload) ? payload.length : 0 };
  const text = payload.length <= longestText ? payload : Buffer.from(payload.slice(0, longestText)).toString();
  return { text, length: payload.length };
}

/** `secrets` are keys that are to be found nowhere in it. */
export function tellCapture({ request, reply }: Capture, secrets: readonly string[]) {
  return { request: tell(request, secrets), reply: reply === null ? null : tell(reply, secrets) };
}

export type ToldCapture = ReturnType<typeof tellCapture>;

function tell({ headers, text, length }: CapturedMessage, secrets: readonly string[]) {
  return {
    headers: Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value: redactHeader(name, String(value), secrets) }],
    ),
    text: text === null ? null : redactText(text, secrets),
    length,
    cut: text !== null && length > text.length,
  };
}
