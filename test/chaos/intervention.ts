import type { Act } from './acts.ts';
import type { Sending } from './console/person.ts';
import type { Strike } from '../world/faults.ts';

/** What is done to a campaign at one effect of one of its operations. */
export interface Intervention {
  /** Which operation of the campaign, from 1. */
  step: number;
  /** Which effect of it, from 0. */
  nth: number;
  /** What befalls the process. */
  strike?: Strike;
  /** Of a refusal of the database: the statement that is refused. */
  statement?: number;
  /** By how much the clock of its machine is set, for a quarter of an hour. */
  clockByMs?: number;
  /** What a second process does first, from beginning to end. */
  beside?: {
    act: Act;
    /** A person's, through the API, and how their client sends it; left out: by the program itself. */
    sending?: Sending;
    /** For how long the first one has stood still by then. */
    lateMs?: number;
    /** It comes when the first one has all but committed, and holds its locks. */
    inside?: boolean;
    /** It stands still at this effect of its own until the operation of the first one is over, and then goes on. */
    stallsAt?: number;
    /** What befalls the second one, at which of its effects; somebody then begins again. */
    struck?: { nth: number; strike: Strike };
  };
}

/** Says what happens at an effect. */
export type Plan = (at: { step: number; operation: string; nth: number }) => Intervention | null;
