/** Any value that survives a JSON round trip. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
/** A JSON object, such as the settings of one call. */
export type JsonObject = { [key: string]: Json };

/** True for a mapping of settings, not for a value or a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Settings of one call with its opening line; null: nothing to send. */
export function withOpeningLine(override: JsonObject | null, line: string | null): JsonObject | null {
  if (line === null) return override;
  const agent = override?.['agent'];
  return { ...override, agent: { ...(isJsonObject(agent) ? agent : {}), first_message: line } };
}

/** Removes the opening line from the settings of a call, and mappings left empty. */
export function splitOpeningLine(override: JsonObject): { line: Json | undefined; rest: JsonObject | null } {
  const { agent, ...others } = override;
  if (!isJsonObject(agent)) return { line: undefined, rest: orNull(override) };
  const { first_message: line, ...settings } = agent;
  return { line, rest: orNull(orNull(settings) === null ? others : { ...others, agent: settings }) };
}

/** Copy with every text replaced; `path` is the text's place. */
export function mapTexts(value: Json, path: string, replace: (text: string, path: string) => string): Json {
  if (typeof value === 'string') return replace(value, path);
  if (Array.isArray(value)) return value.map((inner, index) => mapTexts(inner, `${path}[${index}]`, replace));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, `${path}.${key}`, replace)]));
}

/** Paths of settings that a call may not change. `permitted` has the same shape; `true` permits a setting and all below it. */
export function deniedSettings(override: JsonObject, permitted: Json | undefined, path = ''): string[] {
  return Object.entries(override).flatMap(([key, value]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const granted = isJsonObject(permitted) ? permitted[key] : undefined;
    if (granted === true) return [];
    return isJsonObject(value) ? deniedSettings(value, granted, at) : [at];
  });
}

function orNull(object: JsonObject): JsonObject | null {
  return Object.keys(object).length === 0 ? null : object;
}
