import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { modeOf, type ServiceClock } from '../core/clock/clock.ts';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { conflict } from '../core/service-error.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service, FeaturesUnderWay } from '../core/service/service.ts';
import { countStates, isUnderWay, type Call } from '../core/state/call.ts';

const fastest = 100_000;
/** Last year that fits the four digits of an ISO time. */
const latest = Date.UTC(9999, 11, 31);

/** Farthest that `until: idle` searches, in service time: thirty days. */
const longestSearchMs = 30 * 24 * 3_600_000;

const modeBody = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('realtime') }),
  z.strictObject({ mode: z.literal('manual') }),
  z.strictObject({
    mode: z.literal('scaled'),
    speed: z.number().gt(0, 'Must be above 0; use the mode "manual" for a clock that stands.').max(fastest, `Must be at most ${fastest}.`),
  }),
]);
const span = z.number().min(0, 'Must not be negative: the clock goes forward only.').max(latest);
const timeOrIdle = 'Must be a time such as "2030-01-15T12:00:00Z", or "idle".';
const advanceBody = z.strictObject({
  seconds: span.optional(),
  ms: span.optional(),
  until: z.union([z.literal('idle'), z.iso.datetime({ offset: true, error: timeOrIdle })], { error: timeOrIdle }).optional(),
});

const stepBody = z.strictObject({ ms: z.number().int().min(-latest).max(latest) });

export function controlClock(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET /_sandbox/clock', { says: 'Tells service time and how it runs.', answer: () => describeClock(service) });

  serveControl(app, 'PUT /_sandbox/clock', {
    says: 'Lets service time run in real time, at another speed, or stand.',
    body: modeBody,
    answer: ({ body }) => {
      const clock = movableClock(service);
      const input = body();
      clock.setSpeed({ realtime: 1, manual: 0, scaled: input.mode === 'scaled' ? input.speed : 1 }[input.mode]);
      service.clockMover.announce();
      return describeClock(service);
    },
  });

  serveControl(app, 'POST /_sandbox/clock/advance', {
    says: 'Moves service time forward; everything due on the way happens.',
    body: advanceBody,
    answer: async ({ request }) => {
      const clock = movableClock(service);
      const input = validate(advanceBody, 'body', request.body ?? {});
      const target = readTarget(input, clock.now());
      if (target === 'idle') return advanceUntilIdle(service, clock);
      const { from, to, instants } = await service.clockMover.move(clock, target);
      return { ...describeClock(service), advanced_ms: to - from, instants };
    },
  });

  serveControl(app, 'POST /_sandbox/clock/step', {
    says: 'Sets the clock that the service shows forward or back; service time stays.',
    body: stepBody,
    answer: ({ body }) => {
      const { ms } = body();
      const now = service.clock.now();
      const shown = now + service.clockSteps.offsetMs + ms;
      if (shown < 0 || shown > latest) {
        const message = `The clock must show a time from 1970 to ${isoTime(latest)}.`;
        throw refuseField(['body', 'ms'], message, 'out_of_range', ms);
      }
      service.clockSteps.step(now, ms);
      return describeClock(service);
    },
  });
}

/** Reports what is due after the bound or waits for an outside party, without waiting. */
async function advanceUntilIdle(service: Service, clock: ServiceClock): Promise<Record<string, unknown>> {
  let bound = latest;
  const { from, to, instants } = await service.clockMover.moveUntil(
    clock,
    () => isIdle(service),
    (now) => (bound = Math.min(latest, now + longestSearchMs)),
  );
  const idleReport = describeIdle(service);
  const reached = idleReport['idle'] === false && service.scheduler.nextAt > bound && service.scheduler.nextAt !== Infinity;
  return { ...describeClock(service), advanced_ms: to - from, instants, ...idleReport, bound: isoTime(bound), bound_reached: reached };
}

export function describeClock({ clock, clockMover, clockSteps }: Service): Record<string, unknown> {
  const { underWay } = clockMover;
  return {
    mode: modeOf(clock),
    speed: clock.speed,
    now: isoTime(clock.now()),
    now_ms: clock.now(),
    shown_offset_ms: clockSteps.offsetMs,
    movable: clockMover.clock !== null,
    moving: underWay === null ? null : { from: isoTime(underWay.from), to: isoTime(underWay.to) },
  };
}

function movableClock({ clockMover }: Service): ServiceClock {
  if (clockMover.clock !== null) return clockMover.clock;
  const message = 'The clock was handed in by the program that started this sandbox; only that program moves it.';
  throw conflict('clock_not_movable', message);
}

function readTarget({ seconds, ms, until }: z.output<typeof advanceBody>, now: number): 'idle' | ((now: number) => number) {
  if ([seconds, ms, until].filter((value) => value !== undefined).length !== 1)
    throw refuseField(['body'], 'Give exactly one of seconds, ms and until.', 'invalid_advance');
  if (until === undefined) {
    const byMs = Math.round(ms ?? (seconds ?? 0) * 1000);
    if (now + byMs > latest) throw refuseField(['body'], `Must end before ${isoTime(latest)}.`, 'too_late');
    return (start) => start + byMs;
  }
  if (until === 'idle') return until;
  const instant = Date.parse(until);
  if (instant < now) {
    const message = `Service time is ${isoTime(now)} already and goes forward only; to go back, restore a snapshot or reset.`;
    throw refuseField(['body', 'until'], message, 'clock_goes_forward', until);
  }
  if (instant > latest) throw refuseField(['body', 'until'], `Must be before ${isoTime(latest)}.`, 'too_late', until);
  return () => instant;
}

const longestWaitSeconds = 300;
/** Poll interval, real ms. */
const pollEveryMs = 25;

const idleQuery = z.strictObject({
  /** Real seconds. */
  wait: z.coerce.number().min(0).max(longestWaitSeconds).default(0),
});

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
        await sleep(pollEveryMs, undefined, { signal: gone.signal }).catch(() => undefined);
        service.scheduler.runDue();
      }
      return describeIdle(service);
    },
  });
}

/** What is under way and the next due time; null when only an outside action changes anything. */
function describeIdle(service: Service): Record<string, unknown> {
  const { nextAt } = service.scheduler;
  const idle = isIdle(service);
  return {
    idle,
    under_way: countUnderWay(service),
    next_due_at: idle || nextAt === Infinity ? null : isoTime(nextAt),
    now: isoTime(service.clock.now()),
  };
}

/** No call, batch request, socket, model answer or webhook delivery is pending. */
function isIdle(service: Service): boolean {
  const { state, pendingWork, journal, clock } = service;
  const { sockets, webhook_deliveries: deliveries } = underWayInFeatures(service);
  if (pendingWork.size + journal.batchesInProgress + sockets + deliveries > 0) return false;
  const now = clock.now();
  const goesOn = (call: Call): boolean => isUnderWay(call, now);
  // Newest first: likeliest under way.
  return state.calls.findLast(goesOn) === undefined && state.conversations.everything.findLast(goesOn) === undefined;
}

function countUnderWay(service: Service): Record<string, number> {
  const { state, pendingWork, journal, clock } = service;
  const now = clock.now();
  const calls = new Set([...state.calls, ...state.conversations.everything].filter((call) => isUnderWay(call, now)));
  const counts = countStates(calls, now);
  return {
    /** Inbound and outbound; queued ones wait for a line or their batch's time. */
    calls_queued: counts.queued,
    calls_dialing: counts.dialing,
    calls_in_progress: counts.in_progress,
    calls_processing: counts.processing,
    ...underWayInFeatures(service),
    /** Not answered yet, or held at a gate. */
    batch_requests: journal.batchesInProgress,
    awaited_answers: pendingWork.size,
  };
}

function underWayInFeatures({ features }: Service): FeaturesUnderWay {
  return Object.assign({ sockets: 0, webhook_deliveries: 0 }, ...features.map((feature) => feature.underWay?.()));
}
