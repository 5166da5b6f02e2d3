import type { z } from 'zod';
import { BadResponseError, RequestInvalidError, type RequestFacts } from '../port/errors.ts';
import type { Success } from './transport.ts';
import { parseJson } from './refusal-detail.ts';

/** The body of a request as bytes. Throws RequestInvalidError, naming the fields, where the schema refuses it. */
export function encodeBody(request: RequestFacts, schema: z.ZodType, body: unknown): Buffer {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new RequestInvalidError(request, problemsOf(parsed.error));
  return Buffer.from(JSON.stringify(parsed.data), 'utf8');
}

/** The body of an answer, read by its schema. Throws BadResponseError where it is not JSON or not what the schema says. */
export function parseBody<Schema extends z.ZodType>(success: Success, schema: Schema): z.output<Schema> {
  const json = jsonOf(success);
  if (json === undefined) throw new BadResponseError(success.request, success.status, ['the body is not JSON']);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new BadResponseError(success.request, success.status, problemsOf(parsed.error));
}

/** As parseBody, without a schema; what cannot be read as JSON is undefined. */
export function jsonOf({ body, request, status }: Success): unknown {
  if (!hasTooManyValues(body)) return readJson(body);
  throw new BadResponseError(request, status, [`the body has more than ${String(mostValues)} values`]);
}

/** As parseBody; null for an answer without a body. */
export function parseBodyIfAny<Schema extends z.ZodType>(success: Success, schema: Schema): z.output<Schema> | null {
  const text = success.body.toString('utf8').trim();
  return text === '' || text === 'null' ? null : parseBody(success, schema);
}

const mostProblems = 10;

/** Field paths and what is wrong there; the schemas' messages never quote values. */
function problemsOf(error: z.ZodError): string[] {
  return error.issues.slice(0, mostProblems).map((issue) => {
    const path = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`));
    return `${path.join('').replace(/^\./, '') || 'the body'}: ${issue.message}`;
  });
}

/** No answer of the contract comes near this; what is nested deeper would overflow the stack of whoever writes it down. */
const mostLevels = 100;

/** A record has thousands of values. Millions of empty ones fit into an answer, and keep a process busy for minutes and gigabytes. */
const mostValues = 300_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings: ReadonlySet<number> = new Set(Buffer.from('[{'));
/** What closes an opening stands two places after it in ASCII. */
const toClosing = 2;

/** Whether a body has more values than any answer needs: known by a look at its bytes, before anything is made of them. */
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

/** The value of a body, in which what stands deeper than any answer needs is null; undefined when the body is not JSON. */
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
