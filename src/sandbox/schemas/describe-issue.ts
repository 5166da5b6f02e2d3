import type { z } from 'zod';
import { holdsUser, isSecretPlace } from './validate.ts';

/** What is wrong in a file: where, what stands there unless it is a secret, and what may stand there. */
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

/** Such as `people[0].name`. */
export function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

function show(value: unknown): string {
  const text =
    JSON.stringify(value, (key, inner: unknown) => (isSecretPlace([key]) ? '(not shown)' : inner)) ?? typeof value;
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
