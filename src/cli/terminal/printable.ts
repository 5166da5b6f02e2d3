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

/** A whole number with thousands apart. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 row`, `2 rows`. */
export function plural(value: number, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

/** Real milliseconds as people say them: `40 s`, `12 min`, `3 h 5 min`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** Thousandths as people say them: `50 %`, `6.2 %`. */
export function percent(thousandths: number): string {
  return `${thousandths / 10} %`;
}
