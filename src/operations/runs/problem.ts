import { z } from 'zod';
import { isAway } from '../../ledger/postgres/writer-pool.ts';
import { withoutUndefined } from '../../rules/collections.ts';
import { textFaults } from '../../rules/text.ts';
import { plural } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import { codeOfName, codeOf, type LetterReading } from '../../shared/input/errors.ts';

/** As in RFC 9457. */
export const problemSchema = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().describe('The status in words.'),
    status: z.int(),
    detail: z.string().describe('What is wrong, and what to do.'),
    code: z.string().meta({ description: 'What a program may go by; stays when the words change.', examples: ['unknown_campaign'] }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe('Every field that cannot be used.'),
    differs: z
      .array(z.string())
      .optional()
      .meta({
        description: 'Of `key_reused`: what the first request with the key had otherwise.',
        examples: [['path', 'body.numbers']],
      }),
    readings: z
      .array(z.object({ encoding: z.string(), words: z.array(z.string()) }))
      .optional()
      .describe('Of `list_encoding`: words of the list, read in each encoding that it is likely to have.'),
    lastChange: z
      .object({ name: z.string(), action: z.string(), at: z.iso.datetime() })
      .optional()
      .describe('Where a campaign does not allow it: who last changed it.'),
  })
  .meta({ id: 'Problem', description: 'A refusal (RFC 9457).' });
export type Problem = z.infer<typeof problemSchema>;

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'No valid token',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Too slow',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported media type',
  421: 'Misdirected request',
  422: 'Cannot be processed',
  429: 'Too many requests',
  500: 'A defect of Carillon',
  503: 'Temporarily unavailable',
};

type More = Pick<Problem, 'errors' | 'differs' | 'readings' | 'lastChange'>;

export function problem(status: number, code: string, detail: string, more: More = {}): Problem {
  return { type: 'about:blank', title: titles[status] ?? 'Error', status, detail, code, ...more };
}

export class ProblemError extends Error {
  override readonly name = 'ProblemError' as const;
  readonly problem: Problem;
  replayed = false;
  readonly isBadInput: boolean;

  constructor(status: number, code: string, detail: string, more: More = {}) {
    super(detail);
    this.isBadInput = status === 400 || status === 422 || code === 'key_reused';
    this.problem = problem(status, code, detail, more);
  }

  static of({ status, code, detail, ...more }: Problem, replayed = false): ProblemError {
    return Object.assign(new ProblemError(status, code, detail, more), { replayed });
  }
}

/** A bad cell fails only its row. */
const isCells = (name: PropertyKey): boolean => name === 'cells';

/** Throws ProblemError naming each place with forbidden characters. */
export function refuseFaultyText(sent: object): void {
  const errors = textFaults(sent, isCells).map(({ path, fault }) => ({
    path: path.slice(1).join('.'),
    message: `holds ${fault}; remove it`,
  }));
  if (errors.length === 0) return;
  const what = errors.map(({ path, message }) => `${printable(path)} ${message}`).join('; ');
  throw new ProblemError(400, 'invalid', `The request cannot be used: ${what}.`, { errors });
}

/** Rewords length errors. */
const messageOf = ({ message }: { message: string }): string =>
  message.replace(/^Too (small|big): expected string to have [<>]=?(\d+) characters?$/, (_, kind: string, length: string) => {
    return `write at ${kind === 'big' ? 'most' : 'least'} ${plural(Number(length), 'character')}`;
  });

/** Errors of the whole part name `part`. Throws ProblemError. */
export function readPart<Schema extends z.ZodType>(part: string, schema: Schema, sent: unknown): z.output<Schema> {
  const read = schema.safeParse(sent ?? null);
  if (read.success) return read.data;
  const errors = read.error.issues.map((issue) => ({ path: issue.path.join('.') || part, message: messageOf(issue) }));
  const what = errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new ProblemError(400, 'invalid', `The request cannot be used: ${what}.`, { errors });
}

/** By error name. Other foreseen errors are 422 for bad input, else 409 or 503. */
const statuses: Readonly<Record<string, number>> = {
  CampaignConflictError: 409,
  DecisionsRefusedError: 422,
  CampaignMessageError: 409,
  ConfigError: 503,
  EditRefusedError: 409,
  NoDatabaseError: 503,
  NoRecordError: 404,
  OtherServiceError: 409,
  RedialRefusedError: 409,
  RetryRefusedError: 409,
  ScheduleExistsError: 409,
  ServiceUnusableError: 503,
  StandbyError: 503,
  StillHeardOfError: 409,
  StoreError: 503,
  TemporalUnreachableError: 503,
  UnknownCampaignError: 404,
  UnknownScheduleError: 404,
  UnknownTokenError: 404,
  UnknownWebhookError: 404,
  WrongStateError: 409,
};

/** A foreseen error's own message; 503 for database, Temporal or network; else only that there is a defect. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (!(error instanceof Error)) return unexpected;
  const { isBadInput, exitCode, statusCode, code, readings, lastChange } = error as Pick<More, 'lastChange'> & {
    readings?: LetterReading[];
    isBadInput?: unknown;
    exitCode?: unknown;
    statusCode?: unknown;
    code?: unknown;
  };
  const known = statuses[error.name];
  const isForeseen = typeof isBadInput === 'boolean' || typeof exitCode === 'number';
  if (known !== undefined || isForeseen)
    return problem(
      known ?? (isBadInput === true || exitCode === 2 ? 422 : 409),
      codeOfName(error.name),
      error.message,
      withoutUndefined({ readings, lastChange }),
    );
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return problem(statusCode, (typeof code === 'string' ? code : 'invalid').toLowerCase(), `${error.message}.`.replace(/\.\.$/, '.'));
  if (isOutside(error, code))
    return problem(503, 'unavailable', 'The database or Temporal does not answer. Nothing was half-written; ask again later.');
  return unexpected;
}

/** Hides the server's upload folder. */
export function withoutFolder(error: unknown, folder: string): unknown {
  const given = problemOf(error);
  if (given.status >= 500 || error instanceof ProblemError) return error;
  return ProblemError.of({ ...given, detail: given.detail.replaceAll(`${folder}/`, '') });
}

export const nothingHere = 'There is nothing here: /api/v1/openapi.json says what is.';

const unexpected = problem(500, 'unexpected', 'Carillon met an error that it did not expect; its log says more.');

function isOutside(error: Error, code: unknown): boolean {
  if (isAway(error) || (typeof code === 'string' && /^(SQLITE_|ENOSPC|EROFS)/.test(code))) return true;
  return error.name === 'ServiceError' || 'metadata' in error || ('severity' in error && 'routine' in error);
}

/** For the log: kind, code and place, without the message, which may hold a number or a name. */
export function errorFacts(error: unknown): { error: string; code: string | null; at: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, code: null, at: [] };
  const at = (error.stack ?? '').split('\n').filter((line) => /^ +at .*:\d+:\d+\)?$/.test(line));
  return { error: error.name, code: codeOf(error), at: at.map((line) => line.trim()) };
}
