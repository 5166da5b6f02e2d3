import { createRequire } from 'node:module';
import type { z } from 'zod';
import { worldSchema, type World } from './world-schema.ts';

/** Thrown when a world cannot be used; names each path, the value found there, and what is allowed. */
export class WorldError extends Error {
  override readonly name = 'WorldError' as const;
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super(`${source}: the world cannot be used.\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const mostProblems = 20;
const load = createRequire(import.meta.url);

/** Reads YAML or JSON. Throws `WorldError`; `source` says in it where the text came from. */
export function readWorld(text: string, source: string): World {
  // Read when the first world is: most sandboxes have none.
  const { parseDocument } = load('yaml') as typeof import('yaml');
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new WorldError(source, [`not YAML: ${problem.message.trim()}`]);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new WorldError(source, [
      `not YAML that can be used: ${error instanceof Error ? error.message : 'unreadable'}`,
    ]);
  }
  return checkWorld(value, source);
}

/** Throws `WorldError`. */
export function checkWorld(value: unknown, source: string): World {
  const parsed = worldSchema.safeParse(value, { reportInput: true });
  const problems = parsed.success ? doubledNumbers(parsed.data) : parsed.error.issues.flatMap(describe);
  if (parsed.success && problems.length === 0) return parsed.data;
  const more = problems.length - mostProblems;
  throw new WorldError(source, [...problems.slice(0, mostProblems), ...(more > 0 ? [`and ${more} more`] : [])]);
}

function describe(issue: z.core.$ZodIssue): string[] {
  const path = pathOf(issue.path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${pathOf([...issue.path, key])}: this field is not known here; leave it out.`);
  if (issue.code === 'invalid_value') return [`${path} is ${show(issue.input)}; ${allowedValues(issue)}`];
  if (issue.input === undefined) return [`${path} is missing. ${issue.message}`];
  return [`${path} is ${show(issue.input)}. ${issue.message}`];
}

function allowedValues({ values, message }: z.core.$ZodIssueInvalidValue): string {
  return values.length === 1 ? message : `it must be one of ${values.map(String).join(', ')}.`;
}

/** One line for each number that is given to more than one person. */
export function doubledNumbers({ people }: World): string[] {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, { number, numbers = [] }] of people.entries()) {
    for (const each of number === undefined ? numbers : [number]) {
      const path = `people[${index}]`;
      const owner = owners.get(each);
      if (owner === undefined) owners.set(each, path);
      else problems.push(`${path} has the number "${each}", which ${owner} has too; give a number to one person only.`);
    }
  }
  return problems;
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
