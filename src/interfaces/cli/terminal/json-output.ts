import { jsonText } from '../../../shared/input/printable.ts';
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
