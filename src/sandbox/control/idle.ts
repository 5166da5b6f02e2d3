import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';
import { isIdle, tellUnderWay } from '../core/service/under-way.ts';

const longestWaitSeconds = 300;
/** Real milliseconds between two looks. */
const lookEveryMs = 25;

const idleQuery = z.strictObject({
  /** Real seconds. */
  wait: z.coerce.number().min(0).max(longestWaitSeconds).default(0),
});

/** Whether anything goes on still; waited for in real time, however the clock runs. */
export function controlIdle(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET /_sandbox/idle', {
    says: 'Tells what is under way; with wait, as soon as nothing is.',
    query: idleQuery,
    answer: async ({ query, reply }) => {
      const { wait } = query();
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const startedAt = performance.now();
      while (!isIdle(service) && performance.now() - startedAt < wait * 1000 && !gone.signal.aborted) {
        await sleep(lookEveryMs, undefined, { signal: gone.signal }).catch(() => undefined);
        service.scheduler.runDue();
      }
      return describeIdle(service);
    },
  });
}

/** What is under way, and when the next thing is due; null when only something from outside makes a difference. */
export function describeIdle(service: Service): Record<string, unknown> {
  const { nextAt } = service.scheduler;
  const idle = isIdle(service);
  return {
    idle,
    under_way: tellUnderWay(service),
    next_due_at: idle || nextAt === Infinity ? null : isoTime(nextAt),
    now: isoTime(service.clock.now()),
  };
}
