import * as fc from 'fast-check';
import { expect } from 'vitest';
import { ServiceClock } from '../../../../src/sandbox/core/clock/clock.ts';
import { ClockMover } from '../../../../src/sandbox/core/clock/mover.ts';
import { ServiceEvents } from '../../../../src/sandbox/core/clock/service-events.ts';
import { Scheduler } from '../../../../src/sandbox/core/clock/scheduler.ts';
import { createManualClock, noon, plainNumbers, startTestSandbox, testWith, type Json, type TestSandbox } from '../../harness.ts';
import { startModelServer, stream } from '../../llm/model-server.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const test = testWith(onHold);

function advance(sandbox: TestSandbox, by: Record<string, unknown>): Promise<{ status: number; body: Json }> {
  return sandbox.post('/_sandbox/clock/advance', by);
}

function createMovable() {
  const clock = new ServiceClock({ speed: 0, epochMs: noon });
  const scheduler = new Scheduler(clock);
  const events = new ServiceEvents();
  const pendingWork = new Set<Promise<unknown>>();
  return { clock, scheduler, events, pendingWork, mover: new ClockMover({ clock, scheduler, events, pendingWork }) };
}

test('a clock that is moved by hand stands still between two moves', async ({ sandbox }) => {
  expect(await sandbox.read('/_sandbox/clock')).toEqual({
    mode: 'manual',
    speed: 0,
    now: '2030-01-15T12:00:00.000Z',
    now_ms: noon,
    shown_offset_ms: 0,
    movable: true,
    moving: null,
  });
  expect((await sandbox.read('/_sandbox/health')).clock).toMatchObject({ speed: 0, anchorServiceMs: noon });
  const { body, status } = await advance(sandbox, { seconds: 90 });
  expect([status, body.now, body.advanced_ms]).toEqual([200, '2030-01-15T12:01:30.000Z', 90_000]);
  expect((await advance(sandbox, { ms: 1 })).body.now_ms).toBe(noon + 90_001);
  expect((await advance(sandbox, { until: '2030-01-15T13:00:00+00:00' })).body.now_ms).toBe(noon + 3_600_000);
});

test('everything due on the way happens in order, each at its own instant', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ at: fc.integer({ min: 0, max: 60 }), after: fc.integer({ min: -1, max: 20 }) })),
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 4 }),
      async (things, moves) => {
        const { clock, scheduler, mover } = createMovable();
        const happened: number[] = [];
        const note = (at: number): void => {
          expect(clock.now()).toBe(at);
          happened.push(at);
        };
        for (const { at, after } of things) {
          scheduler.schedule(noon + at, (when) => {
            note(when);
            if (after >= 0) scheduler.schedule(when + after, note);
          });
        }
        for (const move of moves) await mover.move(clock, (now) => now + move);
        const end = noon + moves.reduce((sum, move) => sum + move, 0);
        const due = things.flatMap(({ at, after }) => (after < 0 ? [at] : [at, at + after])).map((at) => noon + at);
        expect(happened).toEqual(due.filter((at) => at <= end).sort((a, b) => a - b));
        expect([clock.now(), scheduler.ranUntil]).toEqual([end, end]);
      },
    ),
    { seed: 4, numRuns: 60 },
  );
});

test('time waits for work that is under way elsewhere', async () => {
  const { clock, scheduler, pendingWork, mover } = createMovable();
  const told: string[] = [];
  scheduler.schedule(noon + 10, () => {
    const work = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      told.push(`work at ${clock.now() - noon}`);
      scheduler.schedule(noon + 15, () => told.push(`its result at ${clock.now() - noon}`));
      pendingWork.delete(work);
    });
    pendingWork.add(work);
  });
  scheduler.schedule(noon + 20, () => told.push(`another at ${clock.now() - noon}`));
  await mover.move(clock, () => noon + 100);
  expect(told).toEqual(['work at 10', 'its result at 15', 'another at 20']);
});

test('two moves at once happen one after the other', async ({ sandbox }) => {
  const moves = await Promise.all([1, 2, 3].map((seconds) => advance(sandbox, { seconds })));
  expect(moves.map(({ body }) => body.advanced_ms)).toEqual([1_000, 2_000, 3_000]);
  expect((await sandbox.read('/_sandbox/clock')).now_ms).toBe(noon + 6_000);
});

test('a long move lets other requests through and tells how far it has come', async () => {
  const { clock, scheduler, events, mover } = createMovable();
  let left = 40;
  const busy = (at: number): void => {
    const until = performance.now() + 15;
    while (performance.now() < until);
    if ((left -= 1) > 0) scheduler.schedule(at + 1_000, busy);
  };
  scheduler.schedule(noon + 1_000, busy);
  let turns = 0;
  const others = setInterval(() => (turns += 1), 1);
  await mover.move(clock, () => noon + 3_600_000);
  clearInterval(others);
  expect(turns).toBeGreaterThan(3);
  const progress = events.since(0).events.map(({ data }) => data['moving_to']);
  expect(progress.length).toBeGreaterThan(1);
  expect(progress).toEqual([...progress.slice(1).map(() => noon + 3_600_000), null]);
});

test.for<[Record<string, unknown>, string]>([
  [{ seconds: -1 }, 'forward only'],
  [{ until: '2030-01-15T11:59:59Z' }, 'goes forward only'],
  [{ until: 'tomorrow' }, 'Must be a time such as'],
  [{ ms: 1, seconds: 1 }, 'exactly one of seconds, ms and until'],
  [{}, 'exactly one of seconds, ms and until'],
  [{ until: '9999-12-31T23:59:59Z' }, 'Must be before'],
])('a move by %j is refused', async ([by, why], { sandbox }) => {
  const { status, body } = await advance(sandbox, by);
  expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining(why)]);
  expect((await sandbox.read('/_sandbox/clock')).now_ms).toBe(noon);
});

test('a clock can be stopped, moved and set running again, and never goes back', async () => {
  const sandbox = await startTestSandbox({ clock: 'manual', epochMs: noon });
  const put = (body: Record<string, unknown>) => sandbox.put('/_sandbox/clock', body);
  expect((await put({ mode: 'scaled', speed: 50_000 })).body).toMatchObject({ mode: 'scaled', speed: 50_000 });
  await expect.poll(async () => (await sandbox.read('/_sandbox/clock')).now_ms).toBeGreaterThan(noon + 60_000);
  const stopped = (await put({ mode: 'manual' })).body.now_ms;
  expect((await sandbox.read('/_sandbox/clock')).now_ms).toBe(stopped);
  expect((await put({ mode: 'realtime' })).body.now_ms).toBeGreaterThanOrEqual(stopped);
  const jumped = (await advance(sandbox, { seconds: 3_600 })).body;
  expect(jumped.now_ms).toBeGreaterThanOrEqual(stopped + 3_600_000);
  expect(jumped.speed).toBe(1);
  for (const refused of [{ mode: 'scaled' }, { mode: 'scaled', speed: 0 }, { mode: 'realtime', speed: 2 }, { mode: 'x' }])
    expect((await put(refused)).status).toBe(422);
});

test('what waits is woken when the clock is set running', async ({ sandbox }) => {
  await sandbox.batch(['+12125550101']);
  await sandbox.put('/_sandbox/clock', { mode: 'scaled', speed: 10_000 });
  await expect.poll(() => sandbox.calls()[0]?.state).toBe('failed');
});

test('a clock that a program handed in is moved by that program only', async () => {
  const sandbox = await startTestSandbox();
  const { status, body } = await advance(sandbox, { seconds: 1 });
  expect([status, body.detail.code]).toEqual([409, 'clock_not_movable']);
  await expect(sandbox.advance(1_000)).rejects.toThrow('handed in');
});

test('calls come to their end while time is moved, in one go or in many small ones', async () => {
  const [atOnce, inSteps] = await Promise.all([startTestSandbox(onHold), startTestSandbox(onHold)]);
  for (const sandbox of [atOnce, inSteps]) await sandbox.batch(plainNumbers(60));
  await atOnce.advance(7_200_000);
  for (let step = 0; step < 120; step += 1) await inSteps.advance(60_000);
  const told = atOnce.calls().map((call) => ({ ...call, realAcceptedAt: 0 }));
  expect(told.every(({ endedAt }) => endedAt !== null)).toBe(true);
  expect(inSteps.calls().map((call) => ({ ...call, realAcceptedAt: 0 }))).toEqual(told);
});

test('a conversation whose words come from elsewhere is waited for', async () => {
  const model = await startModelServer((response) => stream(response, 'Thank you. Goodbye.'));
  const sandbox = await startTestSandbox(onHold);
  const llm = { model_id: 'custom', custom_llm: { url: model.url } };
  await sandbox.batch(['+12125550100'], { agent_id: await sandbox.createAgent({ agent: { llm } }) });
  await sandbox.advance(3_600_000);
  expect(model.requests.length).toBeGreaterThan(0);
  expect(sandbox.calls()[0]).toMatchObject({ state: 'done', result: 'answered' });
});

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

test('a clock that jumps a year ahead brings every call to its end once, when its line was free', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 1 });
  await sandbox.batch(plainNumbers(3));
  await sandbox.advance(365 * 24 * 3_600_000);
  expect(sandbox.calls().map(({ to }) => to)).toEqual(plainNumbers(3));
  const times = sandbox.calls().map(({ dialedAt, endedAt }) => [dialedAt ?? 0, endedAt ?? 0]);
  for (const [dialedAt, endedAt] of times) expect(dialedAt).toBeLessThanOrEqual(endedAt ?? 0);
  expect(Math.max(...times.flat())).toBeLessThan(noon + 24 * 3_600_000);
});
