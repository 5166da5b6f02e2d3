/** One fault of a campaign file: place and fix. */
export interface CampaignProblem {
  /** From 1; null when the file was not readable as text. */
  line: number | null;
  /** Setting path such as `retry.busy`; empty: the whole file. */
  path: string;
  message: string;
}

/** Base of expected errors, whose message is complete. `isBadInput`: other input helps (exit code 2); else 1. */
export const foreseen = <Name extends string>(name: Name, isBadInput: boolean) =>
  class extends Error {
    override readonly name = name;
    readonly isBadInput = isBadInput;
  };

const mostProblemsShown = 30;

/** `isAboutRows`: no row is usable; a check shows why. */
type RowsErrorOptions = ErrorOptions & { isAboutRows?: boolean };

/** Thrown when a campaign file is unusable. Lists every problem at once; nothing else has been read or written. */
export class CampaignFileError extends Error {
  override readonly name = 'CampaignFileError' as const;
  readonly isBadInput = true;
  readonly path: string;
  readonly problems: readonly CampaignProblem[];
  readonly isAboutRows: boolean;

  constructor(path: string, problems: readonly CampaignProblem[], options?: RowsErrorOptions) {
    const lines = [...new Set(problems.map((problem) => describeProblem(path, problem)))];
    const rest = lines.length - mostProblemsShown;
    if (rest > 0) lines.splice(mostProblemsShown, rest, `and ${String(rest)} more`);
    super(lines.join('\n'), options);
    this.path = path;
    this.problems = problems;
    this.isAboutRows = options?.isAboutRows ?? false;
  }
}

/** Thrown when a list as a whole is unusable. A single bad row never throws: it is kept and reported. */
export class ListFileError extends Error {
  override readonly name: string = 'ListFileError';
  readonly isBadInput = true;
  readonly path: string;
  /** The message without the path. */
  readonly reason: string;
  readonly isAboutRows: boolean;

  constructor(path: string, reason: string, options?: RowsErrorOptions) {
    super(`${path}: ${reason}`, options);
    this.path = path;
    this.reason = reason;
    this.isAboutRows = options?.isAboutRows ?? false;
  }
}

/** Sample words of a text, decoded in one candidate encoding. */
export interface LetterReading {
  encoding: string;
  words: string[];
}

/** Thrown when a list's encoding is unknown or contradicts `named`. The message shows words of the list. */
export class ListEncodingError extends ListFileError {
  override readonly name: string = 'ListEncodingError';
  readonly readings: readonly LetterReading[];

  constructor(path: string, readings: readonly LetterReading[], named?: string) {
    const width = Math.max(...readings.map(({ encoding }) => encoding.length));
    const lines = readings.map(({ encoding, words }) => `  ${encoding.padEnd(width)}  ${words.join(', ')}\n`).join('');
    const what =
      named === undefined
        ? 'its letters are neither UTF-8 nor UTF-16, and no encoding is named'
        : `it is UTF-8, and the encoding ${named} is named`;
    super(
      path,
      `${what}. Write the encoding whose words are right, as list.encoding in the campaign file, or for an update as --encoding:\n${lines}` +
        'If none is right, write another encoding, or save the list as "CSV UTF-8" or as an Excel workbook (.xlsx).',
    );
    this.readings = readings;
  }
}

/** Thrown when a file cannot be written. An existing file at the path is untouched. */
export class OutputFileError extends Error {
  override readonly name = 'OutputFileError' as const;
  /** True: another path would do; false: the disk is at fault. */
  readonly isBadInput: boolean;
  readonly path: string;

  constructor(path: string, message: string, options: ErrorOptions & { isBadInput?: boolean } = {}) {
    super(`${path}: ${message}`, options);
    this.path = path;
    this.isBadInput = options.isBadInput ?? false;
  }
}

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; check the path',
  ENOTDIR: 'there is no such file; check the path',
  EACCES: 'permission denied; check who may use this file and its folder',
  EPERM: 'permission denied; check who may use this file and its folder',
  EISDIR: 'this is a folder; name the file inside it',
  ENOSPC: 'the disk is full; make room and run the command again',
  EDQUOT: 'the disk is full; make room and run the command again',
  EFBIG: 'no file may grow any further (ulimit -f), or the disk is full; make room and run the command again',
  EROFS: 'this disk is read-only; choose another place',
  EEXIST: 'something of this name is there already; choose another name',
  ENAMETOOLONG: 'the name is too long; choose a shorter one',
  ELOOP: 'its links lead in a circle; name the file itself',
  EMFILE: 'too many files are open; raise the limit (ulimit -n) and run the command again',
  ENFILE: 'too many files are open; end other programs and run the command again',
  ENOMEM: 'this machine has no memory left; end other programs and run the command again',
  EAGAIN: 'this machine can start no more processes; end other programs and run the command again',
  EIO: 'the disk does not work as it should; check it, then run the command again',
};

/** The system's error code in words, for the user who named the file. */
export function describeFileError(error: unknown): string {
  return faults[codeOf(error) ?? ''] ?? (error instanceof Error ? error.message : String(error));
}

function describeProblem(file: string, problem: CampaignProblem): string {
  const place = problem.line === null ? file : `${file}:${String(problem.line)}`;
  return problem.path === '' ? `${place}: ${problem.message}` : `${place}: ${problem.path}: ${problem.message}`;
}

/** The nearest `code` in the cause chain. Safe to show; a message may contain a phone number. */
export function codeOf(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return null;
}

/** Stable error code: `UnknownCampaignError` is `unknown_campaign`. */
export function codeOfName(name: string): string {
  return name
    .replace(/Error$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase();
}

/** Thrown when a request cannot be carried out as given; the message has the fix. */
export class UsageError extends Error {
  override readonly name = 'UsageError' as const;
  readonly isBadInput = true;
}
