import type { Io } from './io.ts';
import { UsageError } from '../../../shared/input/errors.ts';

/**
 * Whether what cannot be undone, or ends a campaign, may begin: a person said yes, or `--yes` did. Where nobody can be asked it throws
 * UsageError. A no is told, and sets the exit code to 1.
 */
export async function mayBegin(io: Io, yes: boolean, question: string): Promise<boolean> {
  if (yes) return true;
  if (!io.input.isInteractive)
    throw new UsageError(`${question} Not a terminal, cannot ask for confirmation. Nothing was changed; run again with --yes.`);
  if (await io.input.confirm(question)) return true;
  io.stderr.write('Nothing was changed.\n');
  io.exitCode = 1;
  return false;
}
