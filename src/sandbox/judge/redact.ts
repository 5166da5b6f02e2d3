const redacted = '[redacted]';

const secretField = /token$|secret|password|authorization|signature$|^(x-|svc-)?api[-_]?key$/i;
/** Their values are credentials for somebody else, under names of the caller's choosing. */
const headerFields = new Set(['extra_headers', 'request_headers']);
const secretHeaders = /^(x-api-key|svc-api-key|svc-signature|authorization|proxy-authorization|cookie|set-cookie)$/i;
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
