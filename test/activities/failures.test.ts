import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { toFailure } from '../../activities/failures.ts';
import { createActivities } from '../../activities/index.ts';
import { RateLimitedError } from '../../src/service/port/errors.ts';
import type { ServiceClock } from '../../src/service/port/service-clock.ts';
import { asActivity } from '../support/activity-context.ts';

const gone = async (): Promise<never> => {
  throw Object.assign(new Error('no row for +12125550100'), { code: 'SQLITE_IOERR' });
};

/** Whatever an activity asks for is not there, and says so with a number in its words. */
const nothing = new Proxy({ serviceClock: gone } as unknown as ActivityDependencies, {
  get: (target, name) => {
    if (name === 'serviceClock') return target.serviceClock;
    if (name === 'limits') return { heartbeatEveryMs: 1_000, httpTimeoutMs: 1_000 };
    if (name === 'stopping') return new AbortController().signal;
    throw Object.assign(new Error('no row for +12125550100'), { code: 'SQLITE_IOERR' });
  },
});

test('whichever activity fails, its failure holds the code of the error and none of its words', async () => {
  const activities = createActivities(nothing);
  const failures = await Promise.all(
    Object.entries(activities).map(async ([name, activity]) => {
      const work = () => (activity as (input: object) => Promise<unknown>)({ batchId: 'spring/1/1', change: 'pause' });
      return [name, await asActivity(work).catch((error: unknown) => error)] as const;
    }),
  );
  expect(failures).toHaveLength(13);
  for (const [name, failure] of failures) {
    expect(failure, name).toBeInstanceOf(ApplicationFailure);
    expect(failure, name).toMatchObject({ type: 'Database', cause: undefined });
    expect((failure as Error).message, name).toMatch(/^(Error SQLITE_IOERR|TypeError)$/);
  }
});

test('what the service asks to be left alone for is time on its own clock, whatever was asked', async () => {
  const limit = new RateLimitedError(
    { method: 'GET', path: '/v1/convai/agents', requestId: null },
    { retryAfterMs: 60_000, code: null, batchId: null },
  );
  const clock = { toRealMs: (ms) => ms / 60 } as Pick<ServiceClock, 'toRealMs'> as ServiceClock;
  expect(await toFailure(limit, { serviceClock: async () => clock })).toMatchObject({ nextRetryDelay: 1_000 });
  // Without a clock rather too long than too short.
  expect(await toFailure(limit, { serviceClock: gone })).toMatchObject({ nextRetryDelay: 60_000 });
});

test('an activity that is cancelled says so to Temporal', async () => {
  const cancelled = new CancelledFailure('CANCELLED');
  expect(await toFailure(cancelled, { serviceClock: gone })).toBe(cancelled);
});
