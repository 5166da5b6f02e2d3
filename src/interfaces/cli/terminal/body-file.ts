import { parse, YAMLParseError } from 'yaml';
import { type PersonInput, nameOf, readSource } from './person-input.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export type Body = Readonly<Record<string, unknown>>;

/** The object in a JSON or YAML file, or in standard input for `-`. Throws UsageError, which never quotes the file: it may hold secrets. */
export async function readBodyFile(input: PersonInput, file: string): Promise<Body> {
  const name = nameOf(file);
  const value = parseText(await readSource(input, file, 'the file'), name);
  if (!isObject(value)) throw new UsageError(`${name}: this is not an object. Write fields, such as "name: Reminders", or JSON.`);
  return value;
}

interface TypedField {
  flag: string;
  /** As typed; undefined where the flag was left out. */
  value: unknown;
}

/** The fields of a file, if one is named, and those of flags, which override them. Throws UsageError when one is missing. */
export async function readFields(
  input: PersonInput,
  file: string | undefined,
  fields: Readonly<Record<string, TypedField>>,
): Promise<Body> {
  const typed = Object.entries(fields).filter(([, { value }]) => value !== undefined);
  const body: Body = {
    ...(file === undefined ? {} : await readBodyFile(input, file)),
    ...Object.fromEntries(typed.map(([name, { value }]) => [name, value])),
  };
  const missing = Object.entries(fields).filter(([name]) => body[name] === undefined);
  if (missing.length === 0) return body;
  throw new UsageError(`Give ${missing.map(([, { flag }]) => flag).join(' and ')}, or the fields in --file.`);
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
  return path.reduce<unknown>((value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined), body);
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
