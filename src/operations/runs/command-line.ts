import { randomUUID } from 'node:crypto';
import { capital } from '../../shared/input/figures.ts';
import { UsageError } from '../../shared/input/errors.ts';
import type { Control } from '../control/control.ts';
import { readClockOrReal } from '../control/service.ts';
import type { OwnRun, RunAnswer, RunId, Sent } from './perform.ts';
import { ProblemError } from './problem.ts';
import type { RunContext } from './run.ts';

const clockLimitMs = 3_000;

/**
 * Runs an operation for a command. Without `key` each command is a new change. `own`: the command's implementation. Throws UsageError
 * naming an invalid field's flag, and as `perform`.
 */
export async function performHere<Id extends RunId, Told = RunAnswer<Id>>(
  control: Control & Pick<RunContext, 'onCommitted' | 'onProgress'>,
  id: Id,
  { key, ...sent }: Sent,
  own?: OwnRun<Told>,
): Promise<Told> {
  // Not awaited: an unreachable service delays nothing.
  const clock = readClockOrReal(control.config, clockLimitMs, () => control.now());
  const kept = { key: key ?? randomUUID(), isOnce: key === undefined };
  // Loaded on demand, since `--help` needs none of it.
  const { perform, commandLine } = await import('./perform.ts');
  try {
    return (await perform({ ...control, clock: () => clock }, id, { ...sent, ...kept }, commandLine, own)).answer;
  } catch (error) {
    throw inFlags(error);
  }
}

/** Positional arguments of a command. */
const argued = /^(campaign|name|numbers|rules|token|url|webhook)\b/;

function flagOf(path: string): string {
  const field = path.replace(/^(?:body|query)\.|idempotency-/, '').replace(/\..*/, '');
  if (argued.test(field)) return capital(field);
  return `--${field.replace(/^(id|row)s$/, '$1').replaceAll(/[A-Z_]/g, (letter) => `-${letter.replace('_', '').toLowerCase()}`)}`;
}

/** Renames fields to flags. */
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
