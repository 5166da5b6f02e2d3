import { parse, YAMLParseError } from 'yaml';
import type { PersonInput } from './person-input.ts';
import { readSource } from './secret-input.ts';
import { UsageError } from './usage-error.ts';

export type Body = Readonly<Record<string, unknown>>;

/** The object in a JSON or YAML file, or in standard input for `-`. Throws UsageError, which never quotes the file: it may hold secrets. */
export async function readBodyFile(input: PersonInput, file: string): Promise<Body> {
  const name = file === '-' ? 'standard input' : file;
  const value = parseText(await readSource(input, file, 'the file'), name);
  if (!isObject(value))
    throw new UsageError(`${name}: this is not an object. Write fields, such as "name: Reminders", or JSON.`);
  return value;
}

/**
 * A copy with one value set, making objects on the way. Throws UsageError when something else stands in the way; `flag` is what asked for
 * it.
 */
export function withField(body: Body, path: readonly string[], value: unknown, flag: string): Body {
  const [key = '', ...rest] = path;
  if (rest.length === 0) return { ...body, [key]: value };
  const inner = Object.hasOwn(body, key) ? body[key] : undefined;
  if (inner !== undefined && !isObject(inner))
    throw new UsageError(`${flag} sets a field of "${key}", which the file gives as something else than an object.`);
  return { ...body, [key]: withField(inner ?? {}, rest, value, flag) };
}

/** What stands at a path; undefined when nothing does. */
export function fieldAt(body: Body, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    body,
  );
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON is YAML too. */
function parseText(text: string, name: string): unknown {
  try {
    return parse(text, { prettyErrors: true });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const why = error instanceof YAMLParseError ? error.code.toLowerCase().replaceAll('_', ' ') : 'too many aliases';
    throw new UsageError(`${name}${line === undefined ? '' : `:${line}`}: this is neither JSON nor YAML (${why}).`);
  }
}
