import type { IncomingHttpHeaders } from 'node:http';

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

const redacted = '[redacted]';

const secretField = /token$|secret|password|authorization|signature$|^(x-|svc-)?api[-_]?key$/i;
/** Their values are credentials for somebody else, under names of the caller's choosing. */
const headerFields = new Set(['extra_headers', 'request_headers']);
const secretHeaders = /^(x-api-key|xi-api-key|svc-signature|authorization|proxy-authorization|cookie|set-cookie)$/i;
const secretParameter = /([?&](?:conversation_signature|signature|access_token|token|x-api-key|api_key|apikey|key)=)[^&"'\s\\]*/gi;
const secretInText =
  /(token|secret|password|authorization|signature|api[-_]?key|extra_headers|request_headers)["'\\]*\s*[:=](?!\[redacted\])/i;

/** Text without secrets: fields of JSON by name, parameters of addresses, and `secrets` wherever they stand. */
export function redactText(text: string, secrets: readonly string[]): string {
  const safe = redactJson(text) ?? redactLoose(text);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), redactParameters(safe));
}

export function redactHeader(name: string, value: string, secrets: readonly string[]): string {
  if (secretHeaders.test(name)) return redacted;
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), redactParameters(value));
}

function redactParameters(text: string): string {
  return text.replaceAll(secretParameter, `$1${redacted}`);
}

function redactJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text, redactValue));
  } catch {
    return null;
  }
}

/** Called for the innermost values first. */
function redactValue(name: string, value: unknown): unknown {
  if (headerFields.has(name) && typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.keys(value).map((header) => [header, redacted]));
  return secretField.test(name) && typeof value === 'string' ? redacted : value;
}

/** What is no JSON, or not all of it, is shown as far as the first mention of a secret. */
function redactLoose(text: string): string {
  const plain = redactParameters(text.replaceAll(/\\u00([2-7][0-9a-f])/gi, decodeEscape));
  const mention = secretInText.exec(plain);
  return mention === null ? plain : `${plain.slice(0, mention.index)}${redacted}`;
}

/** Names may be written with escapes; quotes and backslashes stay escaped. */
function decodeEscape(escape: string, hex: string): string {
  const character = String.fromCodePoint(Number.parseInt(hex, 16));
  return character === '"' || character === '\\' ? escape : character;
}
