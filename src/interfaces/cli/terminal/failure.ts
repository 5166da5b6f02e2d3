import { describeOutsideFault } from './outside-faults.ts';
import { codeOfName } from '../../../shared/input/errors.ts';
import { printableLines } from '../../../shared/input/printable.ts';

/** What the process says and exits with after a failure. */
export interface Failure {
  exitCode: number;
  /** What a program may go by; docs/json.md has them all. Stays when the message is put into other words. */
  code: string;
  /** Empty when everything was said already. */
  message: string;
}

/**
 * The one place that turns errors into exit codes. An error that carries `isBadInput` (2, else 1) or, of a command's own, `exitCode` was
 * foreseen and its message is all there is to say; a wrong setting is 2; a fault of disk, database or network is 1; anything else is a
 * defect, told in a sentence, with its stack only when `debug`.
 */
export function describeFailure(error: unknown, debug: boolean): Failure {
  const failure = judgeFailure(error, debug);
  // Ids, paths and names in it may be anybody's.
  return { ...failure, message: printableLines(failure.message) };
}

function judgeFailure(error: unknown, debug: boolean): Failure {
  const stack = debug && error instanceof Error && error.stack !== undefined ? `\n${describeStack(error)}` : '';
  const foreseen = foreseenExitCode(error);
  if (foreseen !== null && error instanceof Error)
    return { exitCode: foreseen, code: codeOfName(error.name), message: `${error.message}${hintFor(error)}${stack}` };
  if (error instanceof Error && error.name === 'ConfigError') return { exitCode: 2, code: 'config', message: `${error.message}${stack}` };
  const outside = describeOutsideFault(error);
  if (outside !== null) return { exitCode: 1, code: outside.code, message: `${outside.message}${stack}` };
  const said = (error instanceof Error ? error.message : String(error)).split('\n')[0];
  const hint = debug ? '' : ' CARILLON_LOG_LEVEL=debug shows where.';
  return {
    exitCode: 1,
    code: 'unexpected',
    message: `Carillon stopped on an error it did not expect: ${said}.${hint}${stack}`,
  };
}

const hints: Readonly<Record<string, string>> = {
  CampaignConflictError: ' Rows of its list are changed with carillon update.',
  ScheduleExistsError: ' carillon schedule delete deletes it.',
  TemporalUnreachableError: ' carillon dev starts a server of its own.',
};

type Facts = { campaignId?: string };

/** By the kind of an error's `remedy`. */
const remedies: Readonly<Record<string, (facts: Facts) => string>> = {
  start_first: () => ' carillon start <campaign.yaml> imports the first one.',
  upgrade: () => ' carillon worker starts it.',
  fix_failure: ({ campaignId }) => ` Fix what carillon status ${campaignId} names; then carillon start with its file lets it continue.`,
  retry_rows: ({ campaignId }) =>
    ` carillon retry ${campaignId} --outcome … calls those again who were not reached; for new or corrected rows start a new campaign, under a new id.`,
  leave_unresolved: ({ campaignId }) =>
    ` carillon results ${campaignId} --outcome unresolved writes them to a list; carillon resolve ${campaignId} --give-up leaves them.`,
  recover: ({ campaignId }) => ` carillon recover ${campaignId}`,
  name_rows: () => ', --row.',
  await_end: ({ campaignId }) => ` carillon status ${campaignId} shows when.`,
};

/** What moves the campaigns of a service that has a new address. */
export function moveCommand(accountId: string): string {
  return `carillon adjust --account --moved-from ${accountId}`;
}

/** The command that helps, which the floors below do not know. */
function hintFor(error: Error): string {
  const { remedy, accountId = '' } = error as { remedy?: (Facts & { kind: string }) | null; accountId?: string };
  if (remedy != null) return remedies[remedy.kind]?.(remedy) ?? '';
  if (error.name === 'OtherServiceError') return ` ${moveCommand(accountId)} does so.`;
  const { isAboutRows = false, path } = error as { isAboutRows?: boolean; path?: string };
  const file = error.name === 'CampaignFileError' ? path : '<campaign.yaml>';
  return isAboutRows ? `\ncarillon check ${file} says more.` : (hints[error.name] ?? '');
}

function foreseenExitCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const { exitCode, isBadInput } = error as { exitCode?: unknown; isBadInput?: unknown };
  if (typeof isBadInput === 'boolean') return isBadInput ? 2 : 1;
  return typeof exitCode === 'number' ? exitCode : null;
}

function describeStack(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by ${describeStack(error.cause)}` : own;
}
