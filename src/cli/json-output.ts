import { jsonText } from '../campaign/json-text.ts';
import type { Io } from './io.ts';

/** Data for programs: the service's own names, over several lines. */
export function writeJson(io: Pick<Io, 'stdout'>, value: unknown): void {
  io.stdout.write(`${jsonText(value, 2)}\n`);
}
