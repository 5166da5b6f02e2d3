import { readConfig, type Config } from '../../../shared/config.ts';
import { createConvaiClient, type ConvaiClient, type ListOptions } from '../../../service/convai/index.ts';
import { ServiceError, NotSentError, RateLimitedError, RefusedError, RequestInvalidError } from '../../../service/port/errors.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/answer.ts';
import { printable } from '../../../shared/input/printable.ts';
import { explainServiceFault, openWith, whileOpen } from '../../../operations/control/service.ts';
import { foreseen, UsageError } from '../../../shared/input/errors.ts';
import { Option, type Command } from 'commander';
import { plural } from '../../../shared/input/figures.ts';
import { commandOf, readPositive, type CommandText } from '../terminal/command.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';
import { parse, YAMLParseError } from 'yaml';
import { type UserInput, nameOf, readSource } from '../terminal/person-input.ts';

/** This folder's commands are the contract's operations, and import its client from here only. */
export { factsFromListEntry, readServiceRecord } from '../../../service/convai/record-facts.ts';
export type * from '../../../service/convai/index.ts';

/** Thrown when the service did not do what was requested, or this is unknown; the message says which. */
export class OperationFailedError extends foreseen('OperationFailedError', false) {}

export interface Operation {
  /** Follows "Could not": `delete agent agent_1`. */
  doing: string;
  /** Command that shows the service's state, for a write with an unknown outcome. */
  lookWith: string;
  /** More advice for that case. */
  whenUnknown?: string;
  /** Values that no message may show, even if the service echoes them. */
  secrets?: readonly string[];
}

/** Throws ConfigError, UsageError, and OperationFailedError with what is known. */
export async function askService<Result>(
  io: Pick<Io, 'env'>,
  operation: Operation,
  ask: (client: ConvaiClient) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(io.env);
  return whileOpen(openWith(config, createConvaiClient), ask, (error) => explain(config, operation, error));
}

interface OperationText<Flags, Result> extends Omit<CommandText<Flags, string>, 'run' | 'asks'>, Pick<Operation, 'lookWith'> {
  doing: (id: string, flags: Flags) => string;
  /** Asks for confirmation. */
  question?: (id: string) => string;
  ask: (client: ConvaiClient, id: string, flags: Flags) => Promise<Result>;
  /** For `--json`; default: the result. */
  data?: (result: Result, id: string, flags: Flags) => unknown;
  words: (result: Result, id: string, flags: Flags) => string;
}

/** A command for one operation, such as on the agent of its argument. */
export function operationOf<Result, Flags extends object = object>(text: OperationText<Flags, Result>): (io: Io) => Command {
  const { doing, lookWith, question, ask, data = (result) => result, words, ...command } = text;
  return commandOf<Flags>({
    ...command,
    ...(question === undefined ? {} : { asks: true }),
    run: async (io, flags, id) => {
      if (question !== undefined && !(await mayBegin(io, flags.yes, question(id)))) return null;
      const result = await askService(io, { doing: doing(id, flags), lookWith }, (client) => ask(client, id, flags));
      return { data: data(result, id, flags), words: words(result, id, flags) };
    },
  });
}

function explain(config: Config, { doing, lookWith, whenUnknown, secrets = [] }: Operation, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const failed = (what: string) => new OperationFailedError(`Could not ${doing}: ${what}`, { cause: error });
  const known = (what: string) => failed(what.charAt(0).toLowerCase() + what.slice(1));
  if (error instanceof RequestInvalidError)
    return new UsageError(`Could not ${doing}: nothing was sent. Correct ${error.problems.join('; ')}.`, {
      cause: error,
    });
  if (error instanceof NotSentError || isAboutKey(error))
    return known(`${messageOf(explainServiceFault(config, error))} Nothing was changed.`);
  if (error instanceof RefusedError)
    return failed(`the service refuses it (${error.status}). ${withoutSecrets(wordsOf(error), secrets)}`.trimEnd());
  if (error instanceof RateLimitedError && error.knowledge === 'queued_nothing') {
    const wait = error.retryAfterMs === null ? 'a little later' : `in ${Math.ceil(error.retryAfterMs / 1000)} s`;
    return failed(`the service limits the rate (429) and did nothing. Try again ${wait}.`);
  }
  if (error.knowledge === 'read_failed') return failed(error.message);
  const unknown = [`It is not known whether this was done: ${doing}.`, error.message, whenUnknown, `Look with: ${lookWith}`];
  return new OperationFailedError(unknown.filter((sentence) => sentence !== undefined).join(' '), { cause: error });
}

function isAboutKey(error: ServiceError): boolean {
  return error instanceof RefusedError && (error.status === 401 || error.status === 403);
}

/** The service's own words: shown to the user, and nowhere else. */
function wordsOf({ detail: { fields, message } }: RefusedError): string {
  const lines = fields.filter(({ path }) => path !== '').map((field) => `${field.path}: ${field.message}`);
  return printable(lines.length > 0 ? lines.join('; ') : (message ?? ''));
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const usualLimit = 50;

interface ListFlags {
  limit?: number;
  all?: boolean;
}

interface ListText<Item, Flags> extends Operation {
  says: string;
  /** Besides `--limit` and `--all`. */
  flags?: CommandText<Flags, string>['flags'];
  example: string;
  list: (client: ConvaiClient, options: ListOptions, flags: Flags) => AsyncIterable<Item>;
  columns: readonly Column<Item>[];
  /** JSON field of the items. */
  field: string;
}

/** Prints the first items, and reads at most one more to see whether there are more. */
export function listOf<Item, Flags extends object = object>(text: ListText<Item, Flags>): (io: Io) => Command {
  const { says, flags = [], example, list, columns, field, ...operation } = text;
  return commandOf<Flags & ListFlags>({
    name: 'list',
    says,
    flags: [
      ['--limit <number>', `show at most this many (default: ${usualLimit})`, readPositive('Write a whole number of at least 1.')],
      new Option('--all', 'show all of them').conflicts('limit'),
      ...flags,
    ],
    examples: [example],
    run: async (io, given) => {
      const { limit = usualLimit, all = false } = given;
      const items: Item[] = [];
      let hasMore = false;
      await askUsable(io, operation, async (client, options) => {
        for await (const item of list(client, options, given)) {
          hasMore = !all && items.length === limit;
          if (hasMore) return;
          items.push(item);
        }
      });
      const more = hasMore ? { aside: `These are the first ${items.length}; there are more: --limit <number>, or --all.\n` } : {};
      return { data: { [field]: items, has_more: hasMore }, words: renderTable(columns, items, terminalWidth(io)), ...more };
    },
  });
}

/** Reports unusable entries on standard error. */
export async function askUsable<Result>(
  io: Io,
  operation: Operation,
  ask: (client: ConvaiClient, options: ListOptions) => Promise<Result>,
): Promise<Result> {
  let unusable = 0;
  const onUnusable = (entries: number): void => void (unusable += entries);
  const result = await askService(io, operation, (client) => ask(client, { onUnusable }));
  if (unusable > 0) {
    const counted = plural(unusable, 'entry', 'entries');
    io.stderr.write(`${counted} of the list cannot be used (no id, say) and ${unusable === 1 ? 'was' : 'were'} left out.\n`);
  }
  return result;
}

export type Body = Readonly<Record<string, unknown>>;

/** From a JSON or YAML file, or standard input for `-`. Throws UsageError, which never quotes the file: it may hold secrets. */
export async function readBodyFile(input: UserInput, file: string): Promise<Body> {
  const name = nameOf(file);
  const value = parseText(await readSource(input, file, 'the file'), name);
  if (!isObject(value)) throw new UsageError(`${name}: this is not an object. Write fields, such as "name: Reminders", or JSON.`);
  return value;
}

interface TypedField {
  flag: string;
  /** As typed; undefined without the flag. */
  value: unknown;
}

/** Flags override the file. Throws UsageError for a missing field. */
export async function readFields(input: UserInput, file: string | undefined, fields: Readonly<Record<string, TypedField>>): Promise<Body> {
  const typed = Object.entries(fields).filter(([, { value }]) => value !== undefined);
  const body: Body = {
    ...(file === undefined ? {} : await readBodyFile(input, file)),
    ...Object.fromEntries(typed.map(([name, { value }]) => [name, value])),
  };
  const missing = Object.entries(fields).filter(([name]) => body[name] === undefined);
  if (missing.length === 0) return body;
  throw new UsageError(`Give ${missing.map(([, { flag }]) => flag).join(' and ')}, or the fields in --file.`);
}

/** Creates objects on the way. Throws UsageError naming `flag` if another value is in the way. */
export function withField(body: Body, path: readonly string[], value: unknown, flag: string): Body {
  const [key = '', ...rest] = path;
  if (rest.length === 0) return { ...body, [key]: value };
  const inner = Object.hasOwn(body, key) ? body[key] : undefined;
  if (inner !== undefined && !isObject(inner))
    throw new UsageError(`${flag} sets a field of "${key}", which the file gives as something else than an object.`);
  return { ...body, [key]: withField(inner ?? {}, rest, value, flag) };
}

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
