// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
// eslint-disable-next-line no-control-regex
const controlsInLines = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]+/g;
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text safe for one terminal line: no line breaks, no controls that move the cursor, colour or type, none that turn the
 * writing direction (`gpj.exe` must not look like `exe.jpg`).
 */
export function printable(text: string): string {
  return text.replace(controls, ' ').replace(directions, '');
}

/** As `printable`, but keeps line breaks. */
export function printableLines(text: string): string {
  return text.replace(controlsInLines, ' ').replace(directions, '');
}

/** Characters that JSON leaves unescaped and a terminal obeys: more controls, and changes of writing direction. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Same JSON value with every terminal control escaped. */
export function jsonText(value: unknown, indent?: number): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(obeyed, escape);
}

/** A cell or name for a hint: quoted, on one line, shortened. */
export function quoteCell(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}

const shown = 2;
/** Shorter text would be revealed by its ends; no callable number is that short. */
const fewest = 7;

/** Shows only the start and the last two digits: enough to distinguish rows, too little to call. */
export function maskedNumber(e164: string): string {
  if (e164.length < fewest) return '•'.repeat(e164.length);
  const head = e164.slice(0, shown);
  return `${head}${'•'.repeat(e164.length - 2 * shown)}${e164.slice(-shown)}`;
}

const width = 80;

/** Wraps at 80 characters with indent; never breaks words. */
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
