import { expect, test } from 'vitest';
import {
  judgeScreening,
  needsScreening,
  screenedForMs,
  shortestLaterMs,
  writeScreening,
  type ScreeningVerdict,
} from '../../src/domain/screening.ts';

const minuteMs = 60_000;
const asked = 1_800_000_000_000;
const never = { screened: null, screenedAt: null };

function after(verdict: ScreeningVerdict) {
  return { screened: writeScreening(verdict, asked), screenedAt: asked };
}

test('whoever was never asked about is asked about, and not dialled', () => {
  expect(needsScreening(never, asked)).toBe(true);
  expect(judgeScreening(never, asked)).toEqual({ kind: 'unasked' });
  // An answer without its time says nothing, not even a good one.
  const undated = { screened: 'eligible', screenedAt: null };
  expect(needsScreening(undated, asked)).toBe(true);
  expect(judgeScreening(undated, asked)).toEqual({ kind: 'unasked' });
  const empty = { screened: null, screenedAt: asked };
  expect(needsScreening(empty, asked)).toBe(true);
  expect(judgeScreening(empty, asked)).toEqual({ kind: 'unasked' });
});

test('an answer allows a call for a quarter of an hour, and is asked for anew five minutes before that', () => {
  const eligible = after({ kind: 'eligible' });
  expect(screenedForMs).toBe(15 * minuteMs);
  for (const age of [0, 15 * minuteMs]) expect(judgeScreening(eligible, asked + age)).toEqual({ kind: 'dial' });
  expect(judgeScreening(eligible, asked + 15 * minuteMs + 1)).toEqual({ kind: 'unasked' });
  expect(needsScreening(eligible, asked + 10 * minuteMs - 1)).toBe(false);
  expect(needsScreening(eligible, asked + 10 * minuteMs)).toBe(true);
});

test.each([
  [{ kind: 'refused', code: null }, 'pre_dial_refused'],
  [{ kind: 'refused', code: 'moved_away' }, 'pre_dial:moved_away'],
  // A code that looks like another answer is still a refusal.
  [{ kind: 'refused', code: 'eligible' }, 'pre_dial:eligible'],
  [{ kind: 'refused', code: 'later:5' }, 'pre_dial:later:5'],
] as const)('after %o nobody is dialled, for the reason %s', (verdict, reason) => {
  for (const age of [0, 60 * minuteMs])
    expect(judgeScreening(after(verdict), asked + age)).toEqual({ kind: 'refused', reason });
});

test.each([
  [5 * minuteMs, 5 * minuteMs],
  [shortestLaterMs, minuteMs],
  [0, minuteMs],
  [-1, minuteMs],
])('a "later" of %i ms is asked about again after %i ms', (afterMs, expected) => {
  const later = { kind: 'later', until: asked + expected };
  expect(judgeScreening(after({ kind: 'later', afterMs }), asked)).toEqual(later);
});
