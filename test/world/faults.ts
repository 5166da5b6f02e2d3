/** The words for faults: what befalls a process, where, and just before, during or after it. Worlds, mixes and interleavings draw from them. */
import { minuteMs } from '../support/campaign-rules.ts';

/** What can befall a process at one of its effects: a transaction, a write of its own, or a request to the service. */
export const strikes = [
  /** The process is gone; a transaction had done all but its commit. */
  'dies before',
  /** The effect stands, and the process is gone before it hears of it. */
  'dies after',
  /** The effect does not happen, and the process is told so. */
  'fails',
  /** The effect stands, and the process is told that it failed. */
  'unheard',
] as const;

/** What the database says at one statement of a transaction, which is undone. */
export const refusals = ['locked', 'disk full'] as const;
export type Refusal = (typeof refusals)[number];

export type Strike = (typeof strikes)[number] | Refusal;

export function isRefusal(strike: Strike | null): strike is Refusal {
  return refusals.some((each) => each === strike);
}

/** A strike; for a refusal also which statement is refused: 0 begins the transaction; the commit, where there are fewer. */
export interface Blow {
  strike: Strike;
  statement?: number;
}

/** How the clock of a machine is set. */
export const clockSteps = {
  'clock 5 min ahead': 5 * minuteMs,
  'clock 5 min behind': -5 * minuteMs,
  'clock 1 h ahead': 60 * minuteMs,
  'clock 1 h behind': -60 * minuteMs,
} as const;
export type ClockStep = keyof typeof clockSteps;

export const steps = Object.values(clockSteps) as [number, ...number[]];

export const wrongForMs = 15 * minuteMs;

export function nameStep(byMs: number): ClockStep | undefined {
  return (Object.keys(clockSteps) as ClockStep[]).find((name) => clockSteps[name] === byMs);
}

/** Thrown into the driver when the simulated process is gone; its own code never goes on. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied' as const;
}

export interface Mortality {
  /** Kills the process; what awaits the answer waits for ever. */
  die(): Promise<never>;
  died: Promise<never>;
}

export function createMortality(): Mortality {
  let kill: (error: ProcessDied) => void = () => {};
  const died = new Promise<never>((_, reject) => {
    kill = reject;
  });
  died.catch(() => {});
  return {
    died,
    die: () => {
      kill(new ProcessDied('the process is gone'));
      return new Promise<never>(() => {});
    },
  };
}

export function brokenConnection(): Error {
  return Object.assign(new Error('the connection to the database broke'), { code: 'ECONNRESET' });
}
