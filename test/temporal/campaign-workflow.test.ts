import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { type Activities, createActivities } from '../../activities/index.ts';
import type { RoundEnd } from '../../src/ledger/campaign/rounds.ts';
import type { Planned } from '../../src/rules/pacing/next-step.ts';
import type { ServiceClock } from '../../src/service/port/service-clock.ts';
import type { campaign } from '../../workflows/campaign.ts';
import { drainUpdate, lookAgainUpdate, pauseUpdate, resumeUpdate, statusQuery } from '../../workflows/messages.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { until } from '../support/until.ts';
import { type CampaignServer, fakeActivities, progress, startCampaignServer, withCampaign } from './campaign-server.ts';

const hourMs = 3_600_000;
const waiting = { kind: 'wait', reason: 'due', inMs: hourMs, outstanding: false } satisfies Planned;
const paused = { kind: 'wait', reason: 'paused', inMs: null, outstanding: false } satisfies Planned;
/** Events after which the server wants a run to continue as new. */
const longAfter = 150;

let server: CampaignServer;
beforeAll(async () => {
  server = await startCampaignServer({ longAfter });
});
afterAll(() => server.stop());

/** Has a campaign with these activities driven. */
const play = <Result>(activities: Partial<Activities>, drive: (handle: WorkflowHandle<typeof campaign>) => Promise<Result>) =>
  withCampaign(activities, (_client, handle) => drive(handle), server);

/** What a campaign comes to that nobody interferes with. */
const resultOf = (activities: Partial<Activities>) => play(activities, (handle) => handle.result());

/** Which run of the workflow has called the activity. */
const runOf = (): string => Context.current().info.workflowExecution?.runId ?? '';

/** A promise, and what settles it. */
function gate() {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

test('a verdict that the database did not take is written by itself, and its batch is not submitted again', async () => {
  const verdict = { batchId: 'spring/1/1', k: 1, verdict: 'confirmed', now: noon } as const;
  const submitted: string[] = [];
  const recorded: unknown[] = [];
  const activities = fakeActivities(
    {
      submit: async ({ batchId }) => {
        submitted.push(batchId);
        return batchId === verdict.batchId ? { kind: 'unrecorded', verdict } : { kind: 'verdict', batchId, state: 'confirmed' };
      },
      recordPostVerdict: async (told) => {
        recorded.push(told);
        return { state: 'confirmed' };
      },
    },
    2,
  );
  expect(await resultOf(activities)).toMatchObject({ state: 'closed', submitted: 2 });
  expect(recorded).toEqual([verdict]);
  expect(submitted).toEqual(['spring/1/1', 'spring/1/2']);
});

test('a submit whose word the database took late is made again when nothing was sent', async () => {
  const states = ['intent', 'not_sent', 'posting', 'confirmed'] as const;
  let submits = 0;
  const verdict = { batchId: 'spring/1/1', k: 1, verdict: 'not_sent', now: noon } as const;
  const activities = fakeActivities({
    submit: async () => ({ kind: 'unrecorded', verdict }),
    recordPostVerdict: async () => ({ state: states[submits++] ?? 'confirmed' }),
  });
  expect(await resultOf(activities)).toMatchObject({ state: 'closed', submitted: 1, done: 6 });
  // Also one in `posting`: the submit is what makes it unknown.
  expect(submits).toBe(4);
});

test('a campaign that waits for an hour hears a pause at once, and goes on with its resume', async () => {
  let state: 'running' | 'paused' | 'resumed' = 'running';
  const activities = fakeActivities({
    plan: async () => ({ running: waiting, paused, resumed: { kind: 'done' } as const })[state],
    changeState: async ({ change }) => {
      state = change === 'pause' ? 'paused' : 'resumed';
      return { changed: true };
    },
  });
  await play(activities, async (handle) => {
    const ask = () => handle.query(statusQuery);
    await expect.poll(ask).toMatchObject({ state: 'dialling', waitingFor: 'due' });
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    await expect.poll(ask).toMatchObject({ state: 'paused', waitingFor: 'paused' });
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    expect(await handle.result()).toMatchObject({ state: 'closed' });
  });
});

test('a long run continues as new only after the update that is under way, with its count of batches', async () => {
  const taken = gate();
  const plans: { run: string; batchNumber: number }[] = [];
  let checks = 0;
  const activities = fakeActivities({
    checkCallers: async () => {
      checks += 1;
      return { ok: true };
    },
    plan: async ({ batchNumber }) => {
      const run = runOf();
      plans.push({ run, batchNumber });
      if (run !== plans[0]?.run) return { kind: 'done' };
      return batchNumber === 1
        ? { kind: 'batch', batchId: 'spring/1/1', size: 6 }
        : { kind: 'wait', reason: 'due', inMs: 1, outstanding: false };
    },
    changeState: async () => {
      await taken.passed;
      return { changed: true };
    },
  });
  await play(activities, async (handle) => {
    const update = await handle.startUpdate(drainUpdate, { waitForStage: 'ACCEPTED' });
    await until('the history is long', async () => (await handle.describe()).historyLength >= longAfter);
    // A run that goes on plans again within milliseconds.
    let seen = -1;
    const isQuiet = () => {
      const before = seen;
      seen = plans.length;
      return seen === before;
    };
    await until('nothing is planned any more', isQuiet, { everyMs: 250 });
    expect(plans.every(({ run }) => run === plans[0]?.run)).toBe(true);
    taken.open();
    expect(await update.result()).toBe(true);
    expect(await handle.result()).toMatchObject({ state: 'closed', submitted: 1 });
  });
  expect(plans.at(-1)).toMatchObject({ batchNumber: 2 });
  expect(plans.at(-1)?.run).not.toBe(plans[0]?.run);
  expect(checks).toBe(1);
});

test('a check of agent and callers that fails for ever does not make one history without end', async () => {
  const runs = new Set<string>();
  const activities = fakeActivities({
    checkCallers: async () => {
      runs.add(runOf());
      return runs.size === 1 ? { ok: false, inMs: 1, pausedAt: null } : { ok: true };
    },
  });
  expect(await resultOf(activities)).toMatchObject({ state: 'closed', submitted: 1 });
  expect(runs.size).toBe(2);
});

test('a campaign whose callers were refused dials when they are mended and it is resumed, and its hook hears of the pause once', async () => {
  let mended = false;
  let checks = 0;
  const told: unknown[] = [];
  const activities = fakeActivities({
    checkCallers: async () => {
      checks += 1;
      return mended ? { ok: true } : { ok: false, inMs: null, pausedAt: noon };
    },
    notifyPause: async (pause) => {
      told.push(pause);
    },
  });
  await play(activities, async (handle) => {
    await expect.poll(() => handle.query(statusQuery)).toMatchObject({ state: 'paused', submitted: 0 });
    // Resumed too early, it stays paused.
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    await until('they are checked again', () => checks === 2);
    await expect.poll(() => handle.query(statusQuery)).toMatchObject({ state: 'paused', submitted: 0 });
    await until('the hook was told', () => told.length > 0);
    mended = true;
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    expect(await handle.result()).toMatchObject({ state: 'closed', submitted: 1 });
  });
  expect(told).toEqual([{ campaignId: 'spring', round: 1, pausedAt: noon }]);
});

test('a round whose books cannot be closed yet is dialled on, and the hook hears of the end of the one that is closed', async () => {
  const end = { endedAt: noon } as RoundEnd;
  const batches: number[] = [];
  const told: unknown[] = [];
  let closings = 0;
  const activities = fakeActivities({
    plan: async ({ batchNumber }) => {
      batches.push(batchNumber);
      const isDue = batchNumber === 1 || (batchNumber === 2 && closings === 1);
      return isDue ? { kind: 'batch', batchId: `spring/1/${batchNumber}`, size: 3 } : { kind: 'done' };
    },
    closeRound: async () => {
      closings += 1;
      return { closed: closings === 2, progress, end: closings === 2 ? end : null };
    },
    notify: async (notice) => {
      told.push(notice);
    },
  });
  await play(activities, async (handle) => {
    expect(await handle.result()).toMatchObject({ state: 'closed', submitted: 2 });
    await until('the hook was told', () => told.length > 0);
  });
  expect(batches).toEqual([1, 2, 2, 3]);
  expect(told).toEqual([{ campaignId: 'spring', round: 1, end }]);
});

test.each([
  { where: 'waits for the next call to be due', refuses: false },
  { where: 'is paused since its callers were refused', refuses: true },
])('`temporal workflow cancel` of a campaign that $where drains it, and the database says where that came from', async ({ refuses }) => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  const clock = { now: () => noon, speed: 1 } as ServiceClock;
  const { store } = scenario;
  const { changeState } = createActivities({ store, serviceClock: async () => clock } as ActivityDependencies);
  const drains = async () => (await scenario.campaign()).state === 'draining';
  const activities = fakeActivities({
    checkCallers: async () => (refuses && !(await drains()) ? { ok: false, inMs: null, pausedAt: null } : { ok: true }),
    plan: async () => ((await drains()) ? { kind: 'done' } : waiting),
    changeState,
  });
  await play(activities, async (handle) => {
    const waits = { state: refuses ? 'paused' : 'dialling', waitingFor: refuses ? 'paused' : 'due' };
    await expect.poll(() => handle.query(statusQuery)).toMatchObject(waits);
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ state: 'closed' });
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });
  expect(await scenario.campaign()).toMatchObject({
    state: 'draining',
    draining: 'drained',
    stateReason: 'its workflow was cancelled in Temporal',
  });
});

test('`temporal workflow cancel` does not break off the request that is under way, and its verdict counts', async () => {
  const begun = gate();
  const answered = gate();
  let broken: boolean | undefined;
  let isDraining = false;
  const activities = fakeActivities({
    submit: async ({ batchId }) => {
      begun.open();
      await answered.passed;
      Context.current().heartbeat();
      broken = Context.current().cancellationSignal.aborted;
      return { kind: 'verdict', batchId, state: 'confirmed' };
    },
    changeState: async ({ change }) => {
      isDraining = change === 'drain';
      return { changed: true };
    },
  });
  await play(activities, async (handle) => {
    await begun.passed;
    await handle.cancel();
    await until('it drains', () => isDraining);
    answered.open();
    expect(await handle.result()).toMatchObject({ state: 'closed', submitted: 1 });
  });
  expect(broken).toBe(false);
});

test('what the planner says together with a verdict is not asked for again, and a verdict without it is', async () => {
  const asked: number[] = [];
  const wanted: unknown[] = [];
  const activities = fakeActivities({
    plan: async ({ batchNumber }) => {
      asked.push(batchNumber);
      return batchNumber === 4 ? { kind: 'done' } : { kind: 'batch', batchId: `spring/1/${batchNumber}`, size: 6 };
    },
    submit: async ({ batchId, thenPlan }) => {
      wanted.push(thenPlan);
      const verdict = { kind: 'verdict', batchId, state: 'confirmed' } as const;
      if (batchId === 'spring/1/2') return verdict;
      const next = Number(batchId.at(-1)) + 1;
      const planned: Planned = next > 3 ? { kind: 'done' } : { kind: 'batch', batchId: `spring/1/${next}`, size: 6 };
      return { ...verdict, planned };
    },
  });
  expect(await resultOf(activities)).toMatchObject({ state: 'closed', submitted: 3 });
  expect(asked).toEqual([1, 3]);
  expect(wanted).toEqual([2, 3, 4].map((batchNumber) => ({ campaignId: 'spring', round: 1, batchNumber })));
});

test('what changes while a batch is sent is planned with, though the planner may have looked before it', async () => {
  const hourMs = 3_600_000;
  let plans = 0;
  let begin!: (look: () => Promise<unknown>) => void;
  const begun = new Promise<() => Promise<unknown>>((resolve) => (begin = (look) => resolve(look)));
  const activities = fakeActivities({
    plan: async () => {
      plans += 1;
      return plans === 1 ? { kind: 'batch', batchId: 'spring/1/1', size: 6 } : { kind: 'done' };
    },
    submit: async ({ batchId }) => {
      const look = await begun;
      await look();
      const planned = { kind: 'wait', reason: 'due', inMs: hourMs, outstanding: false } as const;
      return { kind: 'verdict', batchId, state: 'confirmed', planned };
    },
  });
  await play(activities, async (handle) => {
    begin(() => handle.executeUpdate(lookAgainUpdate));
    expect(await handle.result()).toMatchObject({ state: 'closed' });
  });
  expect(plans).toBe(2);
});

interface Metadata {
  currentDetails?: string;
  definition?: Record<string, { name: string; description?: string }[]>;
}

test("Temporal's UI shows state, reason and counters while a campaign waits, each batch with its verdict, and nothing to wait for at its end; what a person wishes goes first", async () => {
  const progress = { total: 5, done: 2, open: 3, waiting: 0, unresolved: 0 };
  let mayEnd = false;
  const activities: Partial<Activities> = {
    checkCallers: async () => ({ ok: true }),
    plan: async ({ batchNumber }) => {
      if (batchNumber === 1) return { kind: 'batch', batchId: 'spring/1/1', size: 3 };
      return mayEnd ? { kind: 'done' } : { kind: 'wait', reason: 'due', inMs: 3_600_000, outstanding: false };
    },
    submit: async ({ batchId }) => ({ kind: 'verdict', batchId, state: 'confirmed' }),
    collect: async () => ({ outstanding: false, progress, reason: 'nothing_outstanding', state: 'running' }),
    closeRound: async () => ({ closed: true, progress, end: null }),
    changeState: async () => ({ changed: true }),
  };
  await play(activities, async (handle) => {
    const ask = () => handle.query<Metadata>('__temporal_workflow_metadata');
    await expect
      .poll(async () => (await ask()).currentDetails)
      .toBe(
        '**dialling**, waits for the next recipient to be due\n\n1 batches submitted\n\n2 of 5 done, 3 calls open, 0 waiting, 0 unresolved',
      );
    const { definition = {} } = await ask();
    const described = [...(definition['updateDefinitions'] ?? []), ...(definition['queryDefinitions'] ?? [])];
    const undescribed = described.filter(({ name, description }) => !name.startsWith('__') && (description ?? '') === '');
    expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(['pause', 'resume', 'drain', 'cancel', 'status']));
    expect(undescribed).toEqual([]);
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    mayEnd = true;
    await handle.executeUpdate(lookAgainUpdate);
    expect(await handle.result()).toMatchObject({ state: 'closed', waitingFor: null, done: 2 });
    const { events } = await handle.fetchHistory();
    const summaries = (events ?? []).flatMap(({ userMetadata }) =>
      userMetadata?.summary == null ? [] : [defaultPayloadConverter.fromPayload<string>(userMetadata.summary)],
    );
    expect(summaries).toEqual(
      expect.arrayContaining(['plans batch 1', 'from batch 1, 3 calls', 'plans batch 2, after batch 1: confirmed', 'waits: due']),
    );
    const scheduled = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    const urgent = scheduled.filter(({ priority }) => priority?.priorityKey === 1);
    expect(urgent.map(({ activityType }) => activityType?.name)).toEqual(['changeState']);
  });
});
