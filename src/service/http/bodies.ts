import type { z } from 'zod';
import { BadResponseError, RequestInvalidError, type RequestFacts } from '../port/errors.ts';
import type { Success } from './transport.ts';
import { parseJson } from './refusal-detail.ts';

/** Throws RequestInvalidError, naming the fields, when the schema refuses the body. */
export function encodeBody(request: RequestFacts, schema: z.ZodType, body: unknown): Buffer {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new RequestInvalidError(request, problemsOf(parsed.error));
  return Buffer.from(JSON.stringify(parsed.data), 'utf8');
}

/** Throws BadResponseError when the body is not JSON or does not fit the schema. */
export function parseBody<Schema extends z.ZodType>(success: Success, schema: Schema): z.output<Schema> {
  const json = jsonOf(success);
  if (json === undefined) throw new BadResponseError(success.request, success.status, ['the body is not JSON']);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new BadResponseError(success.request, success.status, problemsOf(parsed.error));
}

/** Without a schema; undefined when the body is not JSON. Throws BadResponseError over 300,000 values. */
export function jsonOf({ body, request, status }: Success): unknown {
  if (!hasTooManyValues(body)) return readJson(body);
  throw new BadResponseError(request, status, [`the body has more than ${String(mostValues)} values`]);
}

/** Like parseBody; null for an answer without a body. */
export function parseBodyIfAny<Schema extends z.ZodType>(success: Success, schema: Schema): z.output<Schema> | null {
  const text = success.body.toString('utf8').trim();
  return text === '' || text === 'null' ? null : parseBody(success, schema);
}

const mostProblems = 10;

/** Schema messages never quote values. */
function problemsOf(error: z.ZodError): string[] {
  return error.issues.slice(0, mostProblems).map((issue) => {
    const path = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
    return `${path.join('').replace(/^\./, '') || 'the body'}: ${issue.message}`;
  });
}

/** Far beyond real answers; deeper nesting would overflow the stack when serialized. */
const mostLevels = 100;

/** A record has thousands. Millions of empty values would cost minutes and gigabytes. */
const mostValues = 300_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings: ReadonlySet<number> = new Set(Buffer.from('[{'));
/** In ASCII a closing bracket is two after its opening one. */
const toClosing = 2;

/** Counts values in the raw bytes, before parsing allocates anything. */
function hasTooManyValues(body: Buffer): boolean {
  if (body.length <= mostValues) return false;
  let values = 0;
  let isText = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === quote) isText = !isText;
    else if (isText && byte === backslash) at += 1;
    else if (isText || byte === undefined) continue;
    else if (byte === comma || (openings.has(byte) && body[at + 1] !== byte + toClosing)) values += 1;
    if (values > mostValues) return true;
  }
  return false;
}

/** Parses a body, with null for values nested too deep; undefined when it is not JSON. */
export function readJson(body: Buffer): unknown {
  return cutBelow(parseJson(body.toString('utf8')), mostLevels);
}

function cutBelow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) {
    const inner = container[key];
    if (typeof inner === 'object' && inner !== null) container[key] = cutBelow(inner, levels - 1);
  }
  return container;
}
