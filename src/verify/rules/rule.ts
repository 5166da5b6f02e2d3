import type { Attempt, AuditState, Campaign, EventType, PendingOutcome } from '../book.ts';
import type { Line, LineOf } from '../line.ts';
import type { AttemptRow, BatchRow, CampaignRow, RecipientRow } from '../reader.ts';

/** Violations, a sentence each; other values are none. */
export type Finding = Sentence | readonly Sentence[];
type Sentence = string | false | null | undefined;

/** Checks by line type. */
type Checks = { readonly [Type in EventType]?: (line: LineOf<Type>) => Finding };

export interface Rows {
  campaigns: CampaignRow;
  recipients: RecipientRow;
  attempts: AttemptRow;
  batches: BatchRow;
}

/** What the log has for the id of a table row. */
export interface Compared {
  book: AuditState;
  campaign: Campaign;
  id: string;
  attempt: Attempt | undefined;
}

export interface Rule {
  promise: string;
  /** Checks a line against the state before it. */
  on?: Checks;
  /** Checks a line that may not follow from one before it. A finding skips its other checks and its effect. */
  alone?: { readonly [Type in EventType]?: (line: Line) => Finding };
  /** Checks the time of any line against the one before it. */
  onEach?: (line: Line) => Finding;
  /** Checks an outcome against its row's calls. `brought`: the next line caused it. */
  onOutcome?: (line: Line, outcome: PendingOutcome, brought: boolean) => Finding;
  /** Checks a campaign at the end of the log. */
  atEnd?: (campaign: Campaign) => Finding;
  /** Checks a row of the tables; undefined: none with this id. */
  inTables?: { readonly [Table in keyof Rows]?: (compared: Compared, row: Rows[Table] | undefined) => Finding };
  /** How far a line breaks the rule; later facts may explain that much. */
  excess?: (line: Line) => number;
}

/** Checks a requested call; each sentence continues from its id. */
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
