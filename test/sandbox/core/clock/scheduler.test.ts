import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServiceClock } from '../../../../src/sandbox/core/clock/clock.ts';
import { Scheduler } from '../../../../src/sandbox/core/clock/scheduler.ts';
import { createManualClock, noon } from '../../harness.ts';

test('service time runs from its anchor at the given speed', () => {
  let real = 1_000;
  const clock = new ServiceClock({ speed: 120, epochMs: noon, realNow: () => real });
  real += 500;
  expect(clock.now()).toBe(noon + 60_000);
  expect(clock.toRealMs(60_000)).toBe(500);
});

test('things run in order of time, then of entry, and are told the instant they were due', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 })), (delays) => {
      const clock = createManualClock();
      const scheduler = new Scheduler(clock);
      const ran: [number, number][] = [];
      delays.forEach((delay, index) => scheduler.schedule(noon + delay, (at) => ran.push([at - noon, index])));
      clock.advance(25);
      scheduler.runDue();
      const expected = delays
        .map((delay, index): [number, number] => [delay, index])
        .filter(([delay]) => delay <= 25)
        .sort(([a, i], [b, j]) => a - b || i - j);
      expect(ran).toEqual(expected);
      expect(scheduler.pending).toBe(delays.length - expected.length);
      scheduler.close();
    }),
    { seed: 1 },
  );
});

test('what a due thing schedules for an earlier or equal instant runs in the same pass', () => {
  const clock = createManualClock();
  const scheduler = new Scheduler(clock);
  const ran: string[] = [];
  scheduler.schedule(noon + 10, (at) => scheduler.schedule(at + 5, () => ran.push('second')));
  clock.advance(100);
  scheduler.runDue();
  expect(ran).toEqual(['second']);
  scheduler.close();
});

test('the timer wakes by itself on a running clock', async () => {
  const scheduler = new Scheduler(new ServiceClock({ speed: 1000 }));
  const keepAlive = setInterval(() => {}, 1_000);
  const at = await new Promise<number>((resolve) => scheduler.schedule(Date.now() + 2_000, resolve));
  clearInterval(keepAlive);
  expect(at).toBeGreaterThan(0);
  scheduler.close();
});
