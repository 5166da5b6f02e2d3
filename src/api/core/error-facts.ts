import { codeOf } from '../../input/error-code.ts';

/** An error for the log: its kind, its code and where it came from, but not its message, which may hold a number or a name. */
export function errorFacts(error: unknown): { error: string; code: string | null; at: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, code: null, at: [] };
  const at = (error.stack ?? '').split('\n').filter((line) => /^ +at .*:\d+:\d+\)?$/.test(line));
  return { error: error.name, code: codeOf(error), at: at.map((line) => line.trim()) };
}
