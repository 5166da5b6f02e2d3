export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 row`, `2 rows`. */
export function plural(value: number, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Real ms in words: `40 s`, `12 min`, `3 h 5 min`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** A share from 0 to 1: `50 %`, `6.2 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** Fixed decimals for table columns: `50.0 %`. */
export function percentCell(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** `1:02:03`: hours, minutes, seconds. */
export function clockSpan(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${count(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
