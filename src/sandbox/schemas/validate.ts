import { z } from 'zod';
import { InvalidRequest, type FieldError } from '../core/service-error.ts';

export type Place = 'body' | 'query' | 'path';

const secretFields = new Set([
  'telephony_auth_token',
  'token',
  'extra_headers',
  'request_headers',
  'api_key',
  'x-api-key',
  'secret',
  'signature',
  'credential',
]);
/** User name or password before the host of a URL. */
const userInAddress = /^\w+:\/\/[^/?#]*@/;

/** Throws `InvalidRequest` with one entry per unacceptable field. */
export function validate<T>(schema: z.ZodType<T>, place: Place, value: unknown): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new InvalidRequest(parsed.error.issues.flatMap((issue) => fieldErrors(place, issue)));
}

export function refuseField(loc: (string | number)[], msg: string, type: string, input?: unknown): InvalidRequest {
  return new InvalidRequest([{ loc, msg, type, ...(input === undefined ? {} : { input }) }]);
}

function fieldErrors(place: Place, issue: z.core.$ZodIssue): FieldError[] {
  const loc = [place, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ loc: [...loc, key], msg: 'This field is not known here; leave it out.', type: 'extra_forbidden' }));
  }
  if (issue.input === undefined) return [{ loc, msg: issue.code === 'custom' ? issue.message : 'Field required', type: 'missing' }];
  return [{ loc, msg: issue.message, type: issue.code, ...receivedValue(loc, issue.input) }];
}

export function isSecretPlace(loc: readonly PropertyKey[]): boolean {
  return loc.some((part) => secretFields.has(String(part)));
}

export function holdsUser(input: unknown): boolean {
  return typeof input === 'string' && userInAddress.test(input);
}

function receivedValue(loc: (string | number)[], input: unknown): { input?: unknown } {
  if (isSecretPlace(loc)) return {};
  if (holdsUser(input)) return {};
  if (typeof input === 'string') return { input: input.length > 200 ? `${input.slice(0, 200)}…` : input };
  return typeof input === 'number' || typeof input === 'boolean' || input === null ? { input } : {};
}

export function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = pathOf(issue.path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${pathOf([...issue.path, key])}: this field is not known here; leave it out.`);
  const found = isSecretPlace(issue.path) || holdsUser(issue.input) ? 'not usable (not shown)' : show(issue.input);
  if (issue.code === 'invalid_value') return [`${path} is ${found}; ${allowedValues(issue)}`];
  if (issue.input === undefined) return [`${path} is missing. ${issue.message}`];
  return [`${path} is ${found}. ${issue.message}`];
}

function allowedValues({ values, message }: z.core.$ZodIssueInvalidValue): string {
  return values.length === 1 ? message : `it must be one of ${values.map(String).join(', ')}.`;
}

export function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

function show(value: unknown): string {
  const text = JSON.stringify(value, (key, inner: unknown) => (isSecretPlace([key]) ? '(not shown)' : inner)) ?? typeof value;
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
