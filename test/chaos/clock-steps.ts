import { minuteMs } from '../support/campaign-rules.ts';

/** How the clock of the machine that drives a campaign is set. */
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
