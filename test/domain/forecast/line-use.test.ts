import { expect, test } from 'vitest';
import { LineUse } from '../../../src/domain/forecast/line-use.ts';

const minuteMs = 60_000;

function stand(lines: LineUse) {
  const { inUse, startsInMinute, nextFreeAt, nextStartLeavesAt, lastEndsAt } = lines;
  return { inUse, startsInMinute, nextFreeAt, nextStartLeavesAt, lastEndsAt };
}

const unused = {
  inUse: 0,
  startsInMinute: 0,
  nextFreeAt: Infinity,
  nextStartLeavesAt: Infinity,
  lastEndsAt: null,
};

test('without calls no line is in use, and none will become free', () => {
  const lines = new LineUse();
  expect(stand(lines)).toEqual(unused);
  lines.begin(1_000, 0, minuteMs);
  lines.advanceTo(5_000);
  expect(stand(lines)).toEqual(unused);
});

test('a line is free at the very instant at which its call ends', () => {
  const lines = new LineUse();
  lines.begin(1_000, 2, 10_000);
  lines.begin(1_000, 3, 5_000);
  expect(stand(lines)).toEqual({
    inUse: 5,
    startsInMinute: 5,
    nextFreeAt: 6_000,
    nextStartLeavesAt: 1_000 + minuteMs,
    lastEndsAt: 11_000,
  });
  lines.advanceTo(5_999);
  expect(lines.inUse).toBe(5);
  lines.advanceTo(6_000);
  expect([lines.inUse, lines.nextFreeAt]).toEqual([2, 11_000]);
  lines.advanceTo(11_000);
  expect([lines.inUse, lines.nextFreeAt, lines.lastEndsAt]).toEqual([0, Infinity, 11_000]);
});

test('a start counts for a minute, its last instant not included', () => {
  const lines = new LineUse();
  lines.begin(0, 2, 5_000);
  lines.advanceTo(10_000);
  lines.begin(10_000, 3, 5_000);
  lines.advanceTo(minuteMs - 1);
  expect([lines.startsInMinute, lines.nextStartLeavesAt]).toEqual([5, minuteMs]);
  lines.advanceTo(minuteMs);
  expect([lines.startsInMinute, lines.nextStartLeavesAt]).toEqual([3, minuteMs + 10_000]);
  lines.advanceTo(10 * minuteMs);
  expect([lines.startsInMinute, lines.nextStartLeavesAt]).toEqual([0, Infinity]);
});

test('several calls may end, and several starts grow old, in one step', () => {
  const lines = new LineUse();
  lines.begin(0, 1, 10_000);
  lines.advanceTo(1_000);
  lines.begin(1_000, 1, 2_000);
  lines.advanceTo(2_000);
  lines.begin(2_000, 1, 200_000);
  lines.advanceTo(2 * minuteMs);
  expect([lines.inUse, lines.startsInMinute, lines.lastEndsAt]).toEqual([1, 0, 202_000]);
});
