/** NUL, control characters other than tab and line breaks, lone surrogates, and the replacement character. */
// eslint-disable-next-line no-control-regex
const noText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Surrogate}\ufffd]/u;
/** Invisible marks that change the writing direction: ids that look the same may differ by one. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Characters that no database and no address can carry. */
const unstorable = /[\0\p{Surrogate}]/u;
const everyUnstorable = new RegExp(unstorable, 'gu');

/** What a text contains that no text may, such as `a NUL (U+0000)`; null: nothing. The same rule applies at every input. */
export function textFault(text: string): string | null {
  const code = noText.exec(text)?.[0].charCodeAt(0);
  if (code === undefined) return null;
  if (code === 0xfffd) return 'U+FFFD, which stands for letters that were lost';
  return `${code === 0 ? 'a NUL' : code >= 0xd800 ? 'half a character' : 'the control character'} (${nameOf(code)})`;
}

/** Like `textFault`, for a text that identifies a row, person or program. */
export function idFault(text: string): string | null {
  const code = directions.exec(text)?.[0].charCodeAt(0);
  return textFault(text) ?? (code === undefined ? null : `a mark that cannot be seen (${nameOf(code)})`);
}

/** Whether databases and addresses can carry a text as it is. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

/** A JSON value with unstorable characters replaced by their code, such as `\u0000`. */
export function storable<Value>(value: Value): Value {
  if (typeof value === 'string') {
    if (isStorable(value)) return value;
    return value.replace(everyUnstorable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`) as Value;
  }
  if (Array.isArray(value)) return value.map(storable) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storable(name), storable(inner)])) as Value;
}

/** Forbidden texts in a JSON value, with their paths. `isExcluded`: names of fields to skip. */
export function textFaults(
  value: unknown,
  isExcluded: (name: PropertyKey) => boolean = () => false,
  path: readonly PropertyKey[] = [],
): { path: readonly PropertyKey[]; fault: string }[] {
  if (typeof value === 'string') {
    const fault = textFault(value);
    return fault === null ? [] : [{ path, fault }];
  }
  if (typeof value !== 'object' || value === null) return [];
  const items = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...items].flatMap(([name, inner]: [PropertyKey, unknown]) => {
    if (isExcluded(name)) return [];
    const fault = typeof name === 'string' ? textFault(name) : null;
    return fault === null ? textFaults(inner, isExcluded, [...path, name]) : [{ path, fault }];
  });
}

function nameOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
