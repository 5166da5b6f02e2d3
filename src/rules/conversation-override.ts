/** Whatever survives a JSON round trip. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
/** A JSON object, such as the settings of one call. */
export type JsonObject = { [key: string]: Json };

/** A mapping of settings, as opposed to a value or a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The settings of one call with its opening line among them; null when there is nothing to send. */
export function withOpeningLine(override: JsonObject | null, line: string | null): JsonObject | null {
  if (line === null) return override;
  const agent = override?.['agent'];
  return { ...override, agent: { ...(isJsonObject(agent) ? agent : {}), first_message: line } };
}

/** Takes the opening line out of the settings of a call. Mappings that are empty then are left out. */
export function splitOpeningLine(override: JsonObject): { line: Json | undefined; rest: JsonObject | null } {
  const { agent, ...others } = override;
  if (!isJsonObject(agent)) return { line: undefined, rest: orNull(override) };
  const { first_message: line, ...settings } = agent;
  return { line, rest: orNull(orNull(settings) === null ? others : { ...others, agent: settings }) };
}

/** The same value with every text in it replaced; `path` leads to the text. */
export function mapTexts(value: Json, path: string, replace: (text: string, path: string) => string): Json {
  if (typeof value === 'string') return replace(value, path);
  if (Array.isArray(value)) return value.map((inner, index) => mapTexts(inner, `${path}[${index}]`, replace));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, `${path}.${key}`, replace)]));
}

/**
 * The paths of settings that a call would change and may not. `permitted` has the same shape, with `true` where a setting, or all below it,
 * may be changed.
 */
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
