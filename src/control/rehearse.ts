/**
 * Rehearses a campaign file, beside its list, with a sample of at most so many rows, and answers the report of `carillon rehearse --json`;
 * text: why there is none. `onLine`: told of each line of progress.
 */
export type Rehearse = (ask: {
  path: string;
  rows: number;
  signal: AbortSignal;
  onLine: (line: string) => void;
}) => Promise<object | string>;
