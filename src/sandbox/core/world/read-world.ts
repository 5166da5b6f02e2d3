import { describeIssue } from '../../schemas/validate.ts';
import { worldSchema, type World } from './schema.ts';
import { createRequire } from 'node:module';

/** Names each path, its value and what is allowed. */
export class WorldError extends Error {
  override readonly name = 'WorldError' as const;
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    const listed = firstOf(problems);
    super(`${source}: the world cannot be used.\n${listed.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = listed;
  }
}

const mostProblems = 20;

export function firstOf(problems: readonly string[]): readonly string[] {
  const more = problems.length - mostProblems;
  return more > 0 ? [...problems.slice(0, mostProblems), `and ${more} more`] : problems;
}

export function readWorld(text: string, source: string): World {
  const read = readYaml(text);
  if ('problem' in read) throw new WorldError(source, [read.problem]);
  return checkWorld(read.value, source);
}

/** Throws `WorldError`. */
export function checkWorld(value: unknown, source: string): World {
  const parsed = worldSchema.safeParse(value, { reportInput: true });
  const problems = parsed.success ? doubledNumbers(parsed.data) : parsed.error.issues.flatMap(describeIssue);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new WorldError(source, problems);
}

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

const load = createRequire(import.meta.url);

/** YAML or JSON; an empty file is an empty object. Problems never quote the file. */
export function readYaml(text: string): { value: unknown } | { problem: string } {
  // Loaded on first use: most sandboxes have no file.
  const { parseDocument } = load('yaml') as typeof import('yaml');
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) return { problem: `not YAML: ${problem.message.split('\n', 1)[0]?.replace(/:$/, '.')}` };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) ?? {} };
  } catch (error) {
    return { problem: `not YAML that can be used: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
}
