import { inspect } from 'node:util';
import { z } from 'zod';
import type { CampaignProblem } from './errors.ts';
import { isSecretAddress } from './kept-url.ts';
import { nearestName } from '../../rules/nearest-name.ts';

type Issue = z.core.$ZodIssue;

/** Names that users try here, and the right setting. */
const elsewhere: Readonly<Record<string, string>> = {
  api_key: 'the key is read from SVC_API_KEY in the environment; remove it here',
  base_url: 'the address is read from SVC_BASE_URL in the environment',
  words: 'let the agent collect a time (2030-11-30 17:00) for callback.at, or minutes for callback.in',
};

/** Line of a setting, or of its nearest written parent. */
export type LineOf = (path: readonly PropertyKey[]) => number | null;

export function problemAt(lineOf: LineOf, path: readonly PropertyKey[], message: string): CampaignProblem {
  return { line: lineOf(path), path: joinPath(path), message };
}

/** Turns schema issues into problems with line numbers. */
export function describeIssues(issues: readonly Issue[], input: unknown, schema: z.core.$ZodType, lineOf: LineOf): CampaignProblem[] {
  return issues
    .flatMap((issue) => flatten(issue, []))
    .flatMap(({ issue, path }) => {
      if (issue.code === 'unrecognized_keys') {
        const known = knownKeys(schema, path);
        return issue.keys.map((key) => problemAt(lineOf, [...path, key], describeUnknownKey(key, known, schema)));
      }
      // Never shows the whole file: it may be a list given by mistake.
      const value = valueAt(input, path);
      const fix = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
      const state =
        value === undefined
          ? 'is missing'
          : `${issue.code === 'invalid_key' ? 'this name' : path.length === 0 || isSecret(issue, value) ? 'this' : showValue(value)} cannot be used`;
      return [problemAt(lineOf, path, `${state}; ${fix}`)];
    });
}

function isSecret(issue: Issue, value: unknown): boolean {
  if (typeof value === 'string' && isSecretAddress(value)) return true;
  return issue.code === 'custom' && issue.params?.['secret'] === true;
}

export function showValue(value: unknown): string {
  const shown = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 1, breakLength: Infinity });
  return shown.length > 80 ? `${shown.slice(0, 77)}…` : shown;
}

/** Reports a problem within one branch of a union if the value clearly matches that branch. */
function flatten(issue: Issue, parent: readonly PropertyKey[]): { issue: Issue; path: PropertyKey[] }[] {
  const path = [...parent, ...issue.path];
  if (issue.code !== 'invalid_union') return [{ issue, path }];
  const inside = issue.errors.find((branch) => branch.some((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys'));
  return inside === undefined ? [{ issue, path }] : inside.flatMap((inner) => flatten(inner, path));
}

function describeUnknownKey(key: string, known: readonly string[], schema: z.core.$ZodType): string {
  const nearest = nearestName(key, known);
  const groups = knownKeys(schema, []).filter((group) => knownKeys(schema, [group]).includes(key));
  const place = elsewhere[key] ?? (groups.length === 1 ? `it belongs under ${groups[0]}:` : null);
  const advice = nearest !== null ? `did you mean "${nearest}"?` : (place ?? `settings here: ${known.join(', ')}`);
  return `there is no such setting; ${advice}`;
}

/** `caps[0].by`. */
export function joinPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((joined, part) => {
    if (typeof part === 'number') return `${joined}[${String(part)}]`;
    return joined === '' ? String(part) : `${joined}.${String(part)}`;
  }, '');
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

function knownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const objects = objectsIn(schema);
  const [part, ...rest] = path;
  if (part === undefined) return objects.flatMap((object) => Object.keys(object.shape));
  if (typeof part === 'number') return elementsIn(schema).flatMap((element) => knownKeys(element, rest));
  return objects.flatMap((object) => {
    const field = object.shape[String(part)];
    return field === undefined ? [] : knownKeys(field, rest);
  });
}

function objectsIn(schema: z.core.$ZodType): { shape: Readonly<Record<string, z.core.$ZodType>> }[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(objectsIn);
  const inner = unwrap(schema);
  return inner === null ? [] : objectsIn(inner);
}

function elementsIn(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodArray) return [schema.element];
  const inner = unwrap(schema);
  return inner === null ? [] : elementsIn(inner);
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType | null {
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return wraps ? schema.def.innerType : null;
}
