import { expect, test } from 'vitest';
import { createTokenBucket } from '../../../src/service/http/rate-limits.ts';

/** A clock that moves only when someone sleeps; sleepers wake in order of their time. */
function fakeClock() {
  let nowMs = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => nowMs,
    advance: (ms: number) => (nowMs += ms),
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
}

test('a burst starts at once, what follows is spaced by the rate', async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ perSecond: 10, burst: 3, ...clock });
  for (let n = 0; n < 6; n += 1) await bucket.take();
  expect(clock.slept).toEqual([100, 200, 300]);
});

test('a quiet time saves up one burst and no more', async () => {
  const clock = fakeClock();
  const bucket = createTokenBucket({ perSecond: 10, burst: 2, ...clock });
  for (let n = 0; n < 2; n += 1) await bucket.take();
  clock.advance(60_000);
  for (let n = 0; n < 3; n += 1) await bucket.take();
  expect(clock.slept).toEqual([100]);
});

test('over any long time no more starts happen than rate × time + burst', async () => {
  const clock = fakeClock();
  const starts: number[] = [];
  const bucket = createTokenBucket({ perSecond: 20, burst: 5, ...clock });
  for (let n = 0; n < 200; n += 1) {
    const before = clock.slept.length;
    await bucket.take();
    starts.push(clock.now() + (clock.slept.length > before ? (clock.slept.at(-1) ?? 0) : 0));
    clock.advance((n * 7) % 60);
  }
  for (let from = 0; from < starts.length; from += 1) {
    for (let to = from; to < starts.length; to += 1) {
      const spanMs = (starts[to] ?? 0) - (starts[from] ?? 0);
      expect(to - from + 1).toBeLessThanOrEqual((spanMs * 20) / 1000 + 5 + 1e-6);
    }
  }
});

test('closing wakes those who wait, with an error', async () => {
  const bucket = createTokenBucket({ perSecond: 0.001, burst: 1 });
  await bucket.take();
  const waiting = bucket.take();
  bucket.close();
  await expect(waiting).rejects.toThrow();
  await expect(bucket.take()).rejects.toThrow();
});
