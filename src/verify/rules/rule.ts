import type { Attempt, Book, Campaign, EventType, PendingOutcome } from '../book.ts';
import type { Line, LineOf } from '../line.ts';
import type { AttemptRow, BatchRow, CampaignRow, RecipientRow } from '../reader.ts';

/** What breaks a promise, a sentence each; what is no text breaks nothing. */
export type Finding = Sentence | readonly Sentence[];
type Sentence = string | false | null | undefined;

/** What breaks a promise in a line of each type. */
type Checks = { readonly [Type in EventType]?: (line: LineOf<Type>) => Finding };

export interface Rows {
  campaigns: CampaignRow;
  recipients: RecipientRow;
  attempts: AttemptRow;
  batches: BatchRow;
}

/** What the log has under the id of a row of the tables. */
export interface Compared {
  book: Book;
  campaign: Campaign;
  id: string;
  attempt: Attempt | undefined;
}

export interface Rule {
  promise: string;
  /** What breaks it in a line of the log, by the book as it was before that line. */
  on?: Checks;
  /** Of a line that does not follow from one before it. Nothing else is looked for in such a line, and it changes nothing. */
  alone?: { readonly [Type in EventType]?: (line: Line) => Finding };
  /** Of a line of any type, by the time of the line before it. */
  onEach?: (line: Line) => Finding;
  /** Of an outcome, by the calls of its row. `brought`: the line behind it is the one that brings it. */
  onOutcome?: (line: Line, outcome: PendingOutcome, brought: boolean) => Finding;
  /** Of a campaign, where the log ends. */
  atEnd?: (campaign: Campaign) => Finding;
  /** Of a row of the tables; undefined: they have none under this id. */
  inTables?: { readonly [Table in keyof Rows]?: (compared: Compared, row: Rows[Table] | undefined) => Finding };
  /** By how much a line breaks it: something that is known later may explain that much. */
  excess?: (line: Line) => number;
}

/** Of a call that is requested: each sentence goes on from its id. */
export const dialled = (check: NonNullable<Checks['attempt.posted']>): Checks => ({
  'attempt.posted': (line) => {
    const found = check(line);
    return found && [found].flat().map((what) => what && `call ${line.event.attemptId} ${what}`);
  },
});

export function sentencesOf(finding: Finding): readonly string[] {
  if (typeof finding === 'string') return [finding];
  return Array.isArray(finding) ? finding.filter((one) => typeof one === 'string') : [];
}
