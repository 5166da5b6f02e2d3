import type { RefusalDetail } from '../port/errors.ts';

const longestMessage = 500;
// eslint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;
const mostFields = 100;
const longestPage = 20_000;

/** Accepts `detail` as object, array or string, the same without `detail`, HTML, plain text, or nothing. Never throws. */
export function parseRefusalDetail(body: string, redact: (text: string) => string): RefusalDetail {
  const detail = detailOf(parseJson(body), body);
  const clean = (text: string | null) => (text === null ? null : redact(text).replace(controlCharacters, ' ').slice(0, longestMessage));
  return {
    code: clean(detail.code),
    message: clean(detail.message),
    fields: detail.fields.map(({ path, message }) => ({
      path: clean(path) ?? '',
      message: clean(message) ?? '',
    })),
  };
}

/** Undefined when the text is not JSON. Ignores a leading byte order mark. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}

/** True for a JSON object; false for arrays and null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function detailOf(json: unknown, body: string): RefusalDetail {
  if (json === undefined) return fromText(body);
  const inner = isRecord(json) ? (json['detail'] ?? json['error'] ?? json['errors'] ?? json) : json;
  if (Array.isArray(inner)) return fromFieldList(inner);
  if (isRecord(inner)) return fromObject(inner);
  return { code: null, message: typeof inner === 'string' ? inner : null, fields: [] };
}

function fromObject(detail: Record<string, unknown>): RefusalDetail {
  const message = firstString(detail['message'], detail['msg'], detail['error']);
  const param = firstString(detail['param']);
  return {
    code: firstString(detail['code'], detail['status'], detail['type']),
    message,
    fields: param === null ? [] : [{ path: param, message: message ?? '' }],
  };
}

function fromFieldList(all: unknown[]): RefusalDetail {
  const list = all.slice(0, mostFields);
  const entries = list.filter(isRecord);
  const fields = entries.map((entry) => ({
    path: Array.isArray(entry['loc'])
      ? entry['loc'].filter((part) => typeof part === 'string' || typeof part === 'number').join('.')
      : (firstString(entry['loc'], entry['path'], entry['field'], entry['param']) ?? ''),
    message: firstString(entry['msg'], entry['message']) ?? '',
  }));
  const message = firstString(...fields.map((field) => field.message), ...list);
  return { code: firstString(...entries.map((entry) => firstString(entry['type'], entry['code']))), message, fields };
}

function fromText(body: string): RefusalDetail {
  const text = body
    .slice(0, longestPage)
    // Both patterns end at the next tag or the end of the text; otherwise a page of only `<` is read once per `<`.
    .replace(/<(script|style)\b.*?(?:<\/\1>|$)/gis, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return { code: null, message: text === '' ? null : text, fields: [] };
}

function firstString(...candidates: unknown[]): string | null {
  for (const candidate of candidates) {
    if (typeof candidate === 'string' && candidate !== '') return candidate;
  }
  return null;
}
