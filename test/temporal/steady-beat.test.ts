import type { Context } from '@temporalio/activity';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { beatWhileRunning } from '../../src/temporal/steady-beat.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs an activity that takes so long, and counts its heartbeats within twice that time. */
async function countBeats(takesMs: number, heartbeatTimeoutMs?: number): Promise<number> {
  const heartbeat = vi.fn<() => void>();
  const { inbound } = beatWhileRunning({ info: { heartbeatTimeoutMs }, heartbeat } as unknown as Context);
  const work = () => new Promise((resolve) => setTimeout(resolve, takesMs));
  const done = inbound?.execute?.({ args: [], headers: {} }, work) ?? work();
  await vi.advanceTimersByTimeAsync(2 * takesMs);
  await done;
  return heartbeat.mock.calls.length;
}

test('an activity beats four times within its heartbeat timeout for as long as it runs, and not for a moment', async () => {
  expect(await countBeats(60_001, 10_000)).toBe(24);
  expect(await countBeats(2_000, 10_000)).toBe(0);
});

test('an activity without a heartbeat timeout does not beat', async () => {
  expect(await countBeats(60_000)).toBe(0);
});
