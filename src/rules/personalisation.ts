import { Liquid, Value, type FilterImplOptions, type Template } from 'liquidjs';
import { nearestName } from './nearest-name.ts';
import type { CampaignRules } from './campaign-rules.ts';
import { theColumn } from './columns.ts';
import { isStorable, textFault } from './text.ts';
import { isJsonObject, mapTexts, type JsonObject } from './conversation-override.ts';

/** Maximum text length of one template per row: an opening line is spoken, and no recipient listens to more. */
export const maxRenderedChars = 10_000;
/** Maximum text length of one template of the conversation's settings, such as a prompt. */
const maxOverrideChars = 100_000;

const overridePlace = 'conversation_config_override';
const limits = { parseLimit: 100_000, memoryLimit: 1_000_000, renderLimit: 2_000 };

/**
 * Thrown when a template cannot be parsed. `place`: `first_message`, `variables.<name>` or `conversation_config_override.<path>`; line and
 * column count from 1.
 */
export class TemplateError extends Error {
  override readonly name = 'TemplateError' as const;
  readonly place: string;
  readonly line: number | null;
  readonly column: number | null;

  constructor(place: string, problem: string, position: readonly [number, number] | null, cause: unknown) {
    const where = position === null ? '' : `, line ${position[0]}, column ${position[1]}`;
    super(`${place}${where}: ${problem}`, { cause });
    this.place = place;
    this.line = position?.[0] ?? null;
    this.column = position?.[1] ?? null;
  }
}

/** Texts of one call, or why the row cannot be called. A missing value never becomes an empty word in a call. */
export type RenderedRow =
  | {
      ok: true;
      firstMessage: string | null;
      variables: Record<string, string> | null;
      /** Further settings, filled in; absent: the campaign has none. */
      override?: JsonObject;
    }
  | {
      ok: false;
      /** Columns used without a `default` filter and empty in the row, in order of use. */
      missing: string[];
      /** Another reason why rendering failed. May quote the row: for the operator's terminal only. */
      problem: string | null;
    };

/** Compiled templates of a campaign. Rendering is pure and does no I/O. */
export interface Personalisation {
  /** Columns that the templates read, each once, spelled as in the list if known. */
  readonly columns: readonly string[];
  /** Renders one row. The same fields always give the same text: templates know neither time nor chance. */
  render(fields: Readonly<Record<string, string>>): RenderedRow;
}

interface CompiledTemplate {
  place: string;
  parsed: Template[];
  plain: PlainTemplate | null;
  maxChars: number;
}

const engine = createEngine();

/**
 * Parses the templates of a campaign once for any number of rows. If the list's columns are known, names match as in `findColumn`. Throws
 * `TemplateError`.
 */
export function compileTemplates(
  rules: Pick<CampaignRules, 'firstMessage' | 'variables' | 'override'> & { list?: CampaignRules['list'] },
): Personalisation {
  const firstMessage = rules.firstMessage === null ? null : compile('first_message', rules.firstMessage);
  const { override = null } = rules;
  const settings = new Map<string, CompiledTemplate>();
  mapTexts(override, overridePlace, (text, path) => {
    settings.set(text, compile(path, text, maxOverrideChars));
    return text;
  });
  const variables = Object.entries(rules.variables?.values ?? {}).map(
    ([name, template]) => [name, compile(`variables.${name}`, template)] as const,
  );
  const all = [...(firstMessage === null ? [] : [firstMessage]), ...settings.values(), ...variables.map(([, template]) => template)];
  const names = [...new Set(all.flatMap((template) => engine.globalVariablesSync(template.parsed)))];
  const columns = rules.list?.columns ?? [];
  const columnOf = new Map(names.map((name) => [name, theColumn(name, columns) ?? name]));

  return {
    columns: [...new Set(columnOf.values())],
    render(fields) {
      const scope = scopeOf(columnOf, fields);
      const failures = new RowFailures(columnOf);
      const line = firstMessage === null ? null : renderTemplate(firstMessage, scope, failures);
      if (line?.trim() === '' && !failures.found) failures.add('first_message', 'gives an empty text');
      const values: Record<string, string> | null = rules.variables === null ? null : Object.create(null);
      for (const [name, template] of variables) {
        if (values !== null) values[name] = renderTemplate(template, scope, failures);
      }
      const filled = mapTexts(override, overridePlace, (text) => {
        const template = settings.get(text);
        return template === undefined ? text : renderTemplate(template, scope, failures);
      });
      if (failures.found) return failures.asRow();
      const texts = { ok: true as const, firstMessage: line, variables: values };
      return isJsonObject(filled) ? { ...texts, override: filled } : texts;
    },
  };
}

/** Columns that one template reads, each once, without names it defines itself. Throws `TemplateError`. */
export function templateVariables(template: string): string[] {
  return engine.globalVariablesSync(compile('template', template).parsed);
}

class RowFailures {
  readonly #columnOf: ReadonlyMap<string, string>;
  readonly #missing = new Set<string>();
  #problem: string | null = null;

  constructor(columnOf: ReadonlyMap<string, string>) {
    this.#columnOf = columnOf;
  }

  get found(): boolean {
    return this.#missing.size > 0 || this.#problem !== null;
  }

  addMissing(name: string): void {
    this.#missing.add(this.#columnOf.get(name) ?? name);
  }

  add(place: string, problem: string): void {
    this.#problem ??= `${place}: ${problem}`;
  }

  asRow(): RenderedRow {
    return { ok: false, missing: [...this.#missing], problem: this.#problem };
  }
}

function renderTemplate(template: CompiledTemplate, scope: Scope, failures: RowFailures): string {
  try {
    const text: string =
      template.plain === null
        ? engine.renderSync(template.parsed, scope)
        : fillPlainTemplate(template.plain, scope, (name) => failures.addMissing(name));
    if (!isStorable(text)) failures.add(template.place, `gives ${textFault(text)}`);
    if (text.length <= template.maxChars) return text;
    failures.add(template.place, `gives ${text.length} characters; at most ${template.maxChars} are allowed`);
  } catch (error) {
    for (const cause of flatten(error)) {
      const name = undefinedVariable(cause);
      if (name !== null) failures.addMissing(name);
      else failures.add(template.place, problemOf(cause));
    }
  }
  // Unused: the failure just added refuses the row.
  return '';
}

type Scope = Record<string, string | undefined>;

/** Empty cells are explicitly undefined: the engine would read a missing `size` as the number of all values. */
function scopeOf(columnOf: ReadonlyMap<string, string>, fields: Readonly<Record<string, string>>): Scope {
  const scope: Scope = Object.create(null);
  for (const [name, column] of columnOf) {
    const value = Object.hasOwn(fields, column) ? fields[column] : undefined;
    scope[name] = value === undefined || value.trim() === '' ? undefined : value;
  }
  return scope;
}

function compile(place: string, template: string, maxChars = maxRenderedChars): CompiledTemplate {
  try {
    const parsed = engine.parse(template);
    parsed.forEach(honourDefaultAnywhere);
    return { place, parsed, plain: readPlainTemplate(template, engine.globalVariablesSync(parsed)), maxChars };
  } catch (error) {
    const first = flatten(error)[0] ?? error;
    throw new TemplateError(place, problemOf(first), positionOf(first), error);
  }
}

/**
 * The engine accepts an undefined variable only when `default` is its first filter; `name | capitalize | default: "there"` means the same.
 */
function honourDefaultAnywhere(template: Template): void {
  for (const value of template.arguments?.() ?? []) {
    if (value instanceof Value && value.filters.some((filter) => filter.name === 'default')) {
      value.value = (context) => Value.prototype.value.call(value, context, true);
    }
  }
  const children = template.children?.(false, true).next();
  if (children?.done === true) children.value.forEach(honourDefaultAnywhere);
}

function createEngine(): Liquid {
  const liquid = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    lenientIf: true,
    catchAllErrors: true,
    relativeReference: false,
    templates: {},
    locale: 'en-US',
    timezoneOffset: 0,
    preserveTimezones: true,
    ...limits,
  });
  // Other files cannot be read, and a counter would affect the row's next template.
  for (const tag of ['include', 'render', 'layout', 'block', 'increment', 'decrement']) delete liquid.tags[tag];
  liquid.unregisterFilter('sample');
  for (const name of ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string']) {
    liquid.registerFilter(name, timeless(liquid.filters[name]));
  }
  return liquid;
}

/** A date filter without "now" that reads a bare date as that day in any process time zone. */
function timeless(filter: FilterImplOptions | undefined): FilterImplOptions {
  if (typeof filter !== 'function') throw new TypeError('The template engine lacks a date filter.');
  return function (this: ThisParameterType<typeof filter>, value: unknown, ...rest: unknown[]) {
    if (value === 'now' || value === 'today') throw new Error(`"${value}" is not a date of the list`);
    const dated = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00` : value;
    return filter.call(this, dated, ...rest);
  };
}

function flatten(error: unknown): unknown[] {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors.flatMap(flatten) : [error];
}

function undefinedVariable(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'UndefinedVariableError' || !('originalError' in error)) return null;
  const original = error.originalError;
  return original instanceof Error && 'variableName' in original ? String(original.variableName) : null;
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const problem = error.message.replace(/, (file:.*, )?line:\d+, col:\d+$/, '');
  const [, filter] = /^undefined filter: (\S+)$/.exec(problem) ?? [];
  const nearest = filter === undefined ? null : nearestName(filter, Object.keys(engine.filters));
  return nearest === null ? problem : `${problem}; did you mean ${nearest}?`;
}

function positionOf(error: unknown): readonly [number, number] | null {
  if (!(error instanceof Error) || !('token' in error)) return null;
  const token = error.token;
  if (typeof token !== 'object' || token === null || !('getPosition' in token)) return null;
  const [line, column] = (token as { getPosition(): number[] }).getPosition();
  return line === undefined || column === undefined ? null : [line, column];
}

/** Alternately text (even indexes) and column names (odd indexes). */
type PlainTemplate = readonly string[];

const plainOutput = /\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}/;

/**
 * Parts of a template with only text and `{{ name }}`; null: any other. The engine takes some ten times as long, and an import renders each
 * row once. `variables`: names that the engine reads as columns, not its own words such as `empty`.
 */
export function readPlainTemplate(template: string, variables: readonly string[]): PlainTemplate | null {
  const parts = template.split(plainOutput);
  const fits = parts.every((part, index) => (index % 2 === 0 ? !part.includes('{') : variables.includes(part)));
  return fits ? parts : null;
}

/** Fills in the text; calls `addMissing` with each name without a value. */
export function fillPlainTemplate(
  parts: PlainTemplate,
  scope: Readonly<Record<string, string | undefined>>,
  addMissing: (name: string) => void,
): string {
  let text = '';
  parts.forEach((part, index) => {
    const value = index % 2 === 0 ? part : scope[part];
    if (value === undefined) addMissing(part);
    else text += value;
  });
  return text;
}
