/** Text of the user's own on a terminal: on one line, and without the control characters that would move the cursor. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
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
