import { randomUUID } from 'node:crypto';
import { capital } from '../../shared/input/figures.ts';
import { UsageError } from '../../shared/input/errors.ts';
import type { Control } from '../control/control.ts';
import { readClockOrReal } from '../control/service.ts';
import type { OwnRun, RunAnswer, RunId, Sent } from './perform.ts';
import { ProblemError } from './problem.ts';
import type { Doing } from './run.ts';

const clockLimitMs = 3_000;

/**
 * Carries out an operation for a command, and logs it under the name of the command line. Without `key` each command is another change.
 * `own`: how the command does it. Throws UsageError for a field that cannot be used, by its flag, and as `perform`.
 */
export async function performHere<Id extends RunId, Told = RunAnswer<Id>>(
  control: Control & Pick<Doing, 'onCommitted' | 'onProgress'>,
  id: Id,
  { key, ...sent }: Sent,
  own?: OwnRun<Told>,
): Promise<Told> {
  // Asked while the change is made: a service that is away delays nothing.
  const clock = readClockOrReal(control.config, clockLimitMs, () => control.now());
  const kept = { key: key ?? randomUUID(), isOnce: key === undefined };
  // The help of a command does without the product.
  const { perform, commandLine } = await import('./perform.ts');
  try {
    return (await perform({ ...control, clock: () => clock }, id, { ...sent, ...kept }, commandLine, own)).answer;
  } catch (error) {
    throw inFlags(error);
  }
}

/** Fields that a command takes as its argument. */
const argued = /^(campaign|name|numbers|rules|token|url|webhook)\b/;

/** How a field is written in a command. */
function flagOf(path: string): string {
  const field = path.replace(/^(?:body|query)\.|idempotency-/, '').replace(/\..*/, '');
  if (argued.test(field)) return capital(field);
  return `--${field.replace(/^(id|row)s$/, '$1').replaceAll(/[A-Z_]/g, (letter) => `-${letter.replace('_', '').toLowerCase()}`)}`;
}

/** A refusal of fields, named as a person has written them. */
function inFlags(error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { code, differs, errors = [] } = error.problem;
  if (differs !== undefined) {
    const detail = `--key was used before with another ${differs.map(flagOf).join(', ')}. Choose a new one.`;
    return ProblemError.of({ ...error.problem, detail });
  }
  if (code !== 'invalid') return ProblemError.of({ ...error.problem, detail: error.message.replace('Idempotency-Key', '--key') });
  const lines = errors.map(({ path, message }) =>
    path === 'body' ? `${capital(message)}.` : `${flagOf(path)} cannot be used: ${message}.`,
  );
  return new UsageError([...new Set(lines)].join('\n'), { cause: error });
}
