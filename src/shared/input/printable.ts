// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
// eslint-disable-next-line no-control-regex
const controlsInLines = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]+/g;
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of the user's or the service's own on a terminal: on one line, without the control characters that would move the cursor, colour
 * the rest or type for the reader, and without those that turn the direction of writing, so that `gpj.exe` cannot look like `exe.jpg`.
 */
export function printable(text: string): string {
  return text.replace(controls, ' ').replace(directions, '');
}

/** As `printable`, for text whose lines stay lines. */
export function printableLines(text: string): string {
  return text.replace(controlsInLines, ' ').replace(directions, '');
}

/** Characters that JSON may hold as they are and a terminal obeys: further controls, and those that turn the direction of writing. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** JSON for whoever reads it: the same value, with nothing in it that a terminal obeys. */
export function jsonText(value: unknown, indent?: number): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(obeyed, escape);
}

/** A cell or a name as a hint may show it: in quotes, on one line, and short. */
export function quoteCell(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}

const shown = 2;
/** What is shorter tells too much by its ends; no number that can be called is. */
const fewest = 7;

/** A number of which only the last two digits, and how it begins, can be read: enough to tell rows apart, too little to call. */
export function maskedNumber(e164: string): string {
  if (e164.length < fewest) return '•'.repeat(e164.length);
  const head = e164.slice(0, shown);
  return `${head}${'•'.repeat(e164.length - 2 * shown)}${e164.slice(-shown)}`;
}

const width = 80;

/** Text in lines of at most 80 characters, indented; words are never broken. */
export function wrapped(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(`${indent}${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(`${indent}${line}`);
  return lines;
}
