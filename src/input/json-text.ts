/** Characters that JSON may hold as they are and a terminal obeys: further controls, and those that turn the direction of writing. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** JSON for whoever reads it: the same value, with nothing in it that a terminal obeys. */
export function jsonText(value: unknown, indent?: number): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(obeyed, escape);
}
