/** Page texts. */
interface OutcomeFacts {
  /** Name on pages. */
  word: string;
  /** Name next to the reason. */
  short?: string;
  /** Group in counts. */
  tone: 'reached' | 'unreached' | 'optout' | 'decide' | 'stopped' | 'cannot';
  /** Colour and icon of its badge. */
  badge: readonly ['good' | 'wait' | 'quiet' | 'bad', 'done' | 'x' | 'ban' | 'person' | 'alert' | 'clock'];
  /** Text on the next call. */
  next: string;
  /** The recipient was, or may have been, called. */
  isCalled?: true;
  /** No call follows, even if an operator requests one. */
  isFinal?: true;
  /** Why an operator may want another round; absent: no other round. */
  retry?: string;
}

/** In display order. */
const outcomeFacts = {
  completed: { word: 'Reached', tone: 'reached', badge: ['good', 'done'], next: 'Done', isCalled: true },
  exhausted: {
    word: 'Not reached',
    tone: 'unreached',
    badge: ['wait', 'x'],
    next: 'Not again',
    isCalled: true,
    retry: 'all attempts were used',
  },
  opted_out: { word: 'Opted out', tone: 'optout', badge: ['quiet', 'ban'], next: 'Never again', isCalled: true, isFinal: true },
  unresolved: {
    word: 'Needs a decision',
    tone: 'decide',
    badge: ['wait', 'person'],
    next: 'After a decision',
    isCalled: true,
    retry: 'it is unknown whether they were called; they may be called twice',
  },
  expired: {
    word: 'Ran out of time',
    tone: 'stopped',
    badge: ['quiet', 'clock'],
    next: 'Not again',
    retry: 'the campaign ended before an attempt',
  },
  cancelled: {
    word: 'Cancelled',
    tone: 'stopped',
    badge: ['quiet', 'x'],
    next: 'Not again',
    retry: 'the campaign was cancelled before an attempt',
  },
  rejected: {
    word: 'Cannot be called: error in the row',
    short: 'Cannot be called',
    tone: 'cannot',
    badge: ['bad', 'alert'],
    next: 'Not again',
    isFinal: true,
  },
  undialable: {
    word: 'Cannot be called: number or hours',
    short: 'Cannot be called',
    tone: 'cannot',
    badge: ['bad', 'alert'],
    next: 'Not again',
    retry: 'no open window, no known time zone, or an invalid number; useful once something has changed',
  },
  suppressed: { word: 'On the do-not-call list', tone: 'cannot', badge: ['quiet', 'ban'], next: 'Never again', isFinal: true },
} as const satisfies Readonly<Record<string, OutcomeFacts>>;

/** Final result of a recipient. Every data row of a list ends in exactly one. */
export type Outcome = keyof typeof outcomeFacts;
/** Outcomes that allow another round. */
export type RetriableOutcome = { [Name in Outcome]: (typeof outcomeFacts)[Name] extends { retry: string } ? Name : never }[Outcome];

/** All outcomes in display order. */
export const outcomes = Object.keys(outcomeFacts) as Outcome[];
/** Page texts and properties of each outcome. */
export const outcomeOf: Readonly<Record<Outcome, OutcomeFacts>> = outcomeFacts;
const outcomesWith = (holds: (facts: OutcomeFacts) => boolean) => outcomes.filter((outcome) => holds(outcomeOf[outcome]));
/** Outcomes that allow another round. */
export const retriableOutcomes = outcomesWith(({ retry }) => retry !== undefined) as RetriableOutcome[];
/** Outcomes of recipients who were, or may have been, called. */
export const calledOutcomes = outcomesWith(({ isCalled }) => isCalled === true);
/** Outcomes of recipients who cannot be called; one filter on pages. */
export const cannotOutcomes = outcomesWith(({ tone }) => tone === 'cannot');

/** Whether no call follows this outcome, even on request; null: no outcome yet. */
export function isNeverCalledAgain(outcome: Outcome | null): boolean {
  return outcome !== null && outcomeOf[outcome].isFinal === true;
}

/** Why a row was refused at import; reason of outcome `rejected` in the results. */
export const rejectionReasons = [
  'missing_phone',
  'invalid_phone',
  'unknown_range',
  'invalid_country',
  'invalid_timezone',
  'invalid_zip',
  'invalid_state',
  'invalid_date',
  'invalid_priority',
  'invalid_hours',
  'invalid_person',
  'missing_consent',
  'missing_value',
  'malformed_row',
  'duplicate_phone',
  'duplicate_id',
] as const;
/** One of `rejectionReasons`. */
export type RejectionReason = (typeof rejectionReasons)[number];
