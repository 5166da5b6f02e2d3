import type { z } from 'zod';
import { BadResponseError, RequestInvalidError, type RequestFacts } from '../port/errors.ts';
import { hasTooManyValues, mostValues, readJson } from './read-json.ts';
import type { Success } from './transport.ts';

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
