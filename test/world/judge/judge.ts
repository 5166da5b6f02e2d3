import { judgeAsked, judgeChanges, judgeDeeds } from './acts.ts';
import { judgeBooks, judgeDials, judgeDispositions } from './books.ts';
import { judgeCallBacks } from './call-backs.ts';
import { judgeDoubt } from './doubt.ts';
import type { Evidence } from './evidence.ts';
import { judgeCaps, judgeGoals, judgePilots, judgeSizes } from './limits.ts';
import { judgeBudgets, judgePairs, judgeRequests } from './never-twice.ts';
import { judgeClosed, judgeHours, judgeListed, judgeSuppressed, reasonsToClose } from './not-then.ts';
import { judgeCells, judgeOutcomes, judgeRows } from './outcomes.ts';

/** Every promise, by the name of what breaks it. */
export const rules = [
  'two calls at once',
  'called after an opt-out',
  'called after an answer',
  'called too often',
  'a request sent twice',
  'a batch taken twice',
  'an attempt dialled twice',
  'called without a request',
  'request and time disagree',
  ...reasonsToClose,
  'dialled though suppressed',
  'too many calls of a number',
  'called before the pilot was decided about',
  'called after the goal was reached',
  'a batch too large',
  'called before what was promised',
  'a promise kept late',
  'a promise kept twice',
  'a promise lost',
  'another campaign called first',
  'not one outcome',
  'not the row of the list',
  'wrong outcome',
  'wrong disposition',
  'wrong conversation',
  'wrong result',
  'wrong count',
  'released, and called',
  'in doubt without cause',
  'answered, and not done',
  'done though refused',
  'done by a repetition',
  'answered wrongly',
  'a defect',
  'no end',
  'needs a hand',
] as const;
export type Rule = (typeof rules)[number];

/** A promise that was broken. */
export interface Breach {
  rule: Rule;
  /** Whom it befell; null where it is about the campaign. */
  to: string | null;
  what: string;
  /** The record that would have told came later than everything newer, and than anybody waits: a stated remainder. */
  straggler?: boolean;
}

const judges: readonly ((evidence: Evidence) => Iterable<Breach>)[] = [
  judgePairs, judgeBudgets, judgeRequests, judgeDials, judgeListed, judgeClosed, judgeHours, judgeSuppressed, judgeCaps, judgePilots,
  judgeGoals, judgeSizes, judgeCallBacks, judgeRows, judgeCells, judgeOutcomes, judgeDispositions, judgeBooks, judgeDoubt, judgeDeeds,
  judgeChanges, judgeAsked, judgeEnd,
]; // prettier-ignore

/** Whether it came to its end by itself. */
function* judgeEnd({ faults, seen = [], presses = [] }: Evidence): Generator<Breach> {
  for (const what of new Set(faults)) yield { rule: 'no end', to: null, what };
  for (const what of seen) yield { rule: 'answered wrongly', to: null, what };
  for (const what of presses) yield { rule: 'needs a hand', to: null, what };
}

/** What a run broke, as seen from its outside; an empty list is an acquittal. */
export function judge(evidence: Evidence): Breach[] {
  return judges.flatMap((each) => [...each(evidence)]);
}
