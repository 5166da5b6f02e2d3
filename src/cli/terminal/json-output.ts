import { jsonText } from '../../input/json-text.ts';
import type { Io } from './io.ts';

/** Data for programs: the service's own names, over several lines. */
export function writeJson(io: Pick<Io, 'stdout'>, value: unknown): void {
  io.stdout.write(`${jsonText(value, 2)}\n`);
}

/** What was asked for: `data` with `--json`, else `words`, as they are. */
export function writeAnswer(io: Pick<Io, 'stdout'>, json: boolean, answer: { data: unknown; words: string }): void {
  if (json) writeJson(io, answer.data);
  else io.stdout.write(answer.words);
}

const instantName = /^at$|[a-z]At$/;

/**
 * The same value with every instant of ours as programs get it: ISO 8601 in UTC, under a name that is `at` or ends in `At`. Not for records
 * of the service, whose names and times are its own.
 */
export function withInstants(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      typeof inner === 'number' && instantName.test(name) ? new Date(inner).toISOString() : inner,
    ),
  );
}
