import { expect, test } from 'vitest';
import { nextStep, type WaitReason } from '../../src/domain/next-step.ts';

const wait = (reason: WaitReason, outstanding: boolean, inMs: number | null = 5_000) =>
  nextStep({ kind: 'wait', reason, inMs, outstanding });

test('a batch is dialled, and a round without one is done', () => {
  expect(nextStep({ kind: 'batch', batchId: 'spring/1/1', size: 20 })).toEqual({
    kind: 'dial',
    batchId: 'spring/1/1',
    size: 20,
  });
  expect(nextStep({ kind: 'done' })).toEqual({ kind: 'done' });
});

test.for(['blocked', 'pacing', 'paused', 'scheduled'] as const)(
  'a wait because of "%s" ends with the clock, also while calls are open',
  (reason) => {
    expect(wait(reason, true)).toMatchObject({ kind: 'wait', forMs: 5_000 });
    expect(wait(reason, false)).toMatchObject({ kind: 'wait', forMs: 5_000 });
  },
);

test.for(['due', 'capacity', 'share', 'canary', 'words', 'collecting'] as const)(
  'a wait because of "%s" ends when the collector says so while calls are open, and with the clock otherwise',
  (reason) => {
    expect(wait(reason, true)).toMatchObject({ kind: 'wait', forMs: null });
    expect(wait(reason, false)).toMatchObject({ kind: 'wait', forMs: 5_000 });
  },
);

test('a pause of unknown length ends with a change alone', () => {
  expect(wait('paused', false, null)).toEqual({ kind: 'wait', reason: 'paused', outstanding: false, forMs: null });
});
