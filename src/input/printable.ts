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
