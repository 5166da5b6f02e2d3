import { InvalidArgumentError } from 'commander';

/** A port as typed. */
export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Write a whole number from 0 (any free port) to 65535.');
}

/** A whole number from 1, as typed; `advice` says what to write. */
export function readPositive(advice: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
    throw new InvalidArgumentError(advice);
  };
}

/** Service seconds per real second, as typed. */
export function readFactor(text: string): number {
  const factor = Number(text);
  if (text.trim() !== '' && factor > 0 && factor <= 100_000) return factor;
  throw new InvalidArgumentError('Write a number above 0, at most 100000.');
}
