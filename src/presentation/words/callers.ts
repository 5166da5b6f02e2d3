import { faultWords, type CallerStanding } from '../../rules/caller-choice.ts';
import type { CallerUse } from '../../ledger/limits/callers.ts';
import { plural } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';

/** `pn_main 40 calls`, `pn_second 12 calls, OUT: is not verified`: a line per number. */
export function callerUseLines(callers: readonly CallerUse[]): string[] {
  const width = Math.max(...callers.map(({ phoneNumberId }) => printable(phoneNumberId).length));
  return callers.map(({ phoneNumberId, calls, out }) => {
    const state = out === null ? '' : `, OUT: ${faultWords[out]}`;
    return `${printable(phoneNumberId).padEnd(width)}  ${plural(calls, 'call')}${state}`;
  });
}

/** The same for programs, before `withInstants`. */
export function callerUseAsJson(callers: readonly CallerUse[]): Record<string, unknown>[] {
  return callers.map(({ phoneNumberId, out, checkedAt, calls }) => ({
    phoneNumberId,
    state: out === null ? 'in' : 'out',
    reason: out,
    checkedAt,
    calls,
  }));
}

/** What a start says of numbers that will not call while others do. */
export function callersLeftOut(standings: readonly CallerStanding[]): string[] {
  return standings.flatMap(({ phoneNumberId, fault }) =>
    fault === null ? [] : [`Caller number ${printable(phoneNumberId)} ${faultWords[fault]}, so the others call without it.`],
  );
}
