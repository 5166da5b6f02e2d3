import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdAccount } from '../../src/ledger/limits/account-pace.ts';
import { readResults } from '../../src/ledger/read/result-rows.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-file.ts';
import { webhookWorkflowId } from '../../src/rules/ids.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { lookAgainUpdate, resumeUpdate, statusQuery } from '../../workflows/messages.ts';
import { createWorld, numberAt } from '../interfaces/cli/campaign-world.ts';
import { addTestWebhook } from '../shared/hooks/webhook-world.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { isFull, someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { gaps, killInGap, killWorkerIn, untilActivityRuns, type Gap } from '../support/kill-gaps.ts';
import { startTemporalForTests, type TestTemporal } from '../support/temporal-for-tests.ts';
import { until, within } from '../support/until.ts';
import { program } from '../support/worker-process.ts';

const execute = promisify(execFile);
/** This file's own, so that a long campaign continues as new; a server suggests that at 4,096 events by default. */
let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await startTemporalForTests({ longAfter: 30 });
});
afterAll(() => temporal.stop());

/** Where a worker may die with nothing lost. Between last commit and request, it is unknown whether the batch was sent. */
type Place = Exclude<Gap, 'posting_committed'> | 'planning' | 'reading';
/** During a request the ledger is the same in each gap, and the interleavings cover each. */
const places: readonly Place[] = isFull
  ? ['planning', 'request_received', 'work_done', 'reply_sent', 'verdict_committed', 'reading']
  : ['planning', 'work_done', 'verdict_committed', 'reading'];

async function killReader(run: CampaignRun): Promise<void> {
  const reads = run.toService.holdBack('GET ');
  const worker = run.startWorker();
  await within('a read is on its way', reads);
  await worker.kill();
  run.toService.drop();
}

/** Kills a worker after it has committed its first batch, unreported. */
async function killPlanner(run: CampaignRun): Promise<void> {
  // The planner waits, with the numbers already checked, until the account may be used.
  const { accountId = '' } = (await findCampaign(run.store.db, run.id)) ?? {};
  await run.store.transaction((tx) => holdAccount(tx, accountId, Date.now() + 1_000 * 3_600_000));
  const worker = run.startWorker();
  await until('the planner waits', async () => (await run.handle.query(statusQuery).catch(() => null))?.waitingFor === 'blocked');
  await run.store.db.updateTable('accounts').set({ not_before: 0 }).execute();
  // Planning needs the database's write lock.
  const lock = openSqliteFile(run.sqlitePath);
  lock.prepare('begin immediate').run([]);
  await run.handle.executeUpdate(lookAgainUpdate);
  await untilActivityRuns(run, run.handle.workflowId, 'plan');
  run.toTemporal.mute();
  lock.prepare('rollback').run([]);
  lock.close();
  await run.untilBatch(1, ['intent']);
  await worker.kill();
  expect(run.sandbox.calls()).toEqual([]);
  expect(await run.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  run.toTemporal.drop();
}

/** Only missed heartbeats end a dead worker's activity within a test's time. */
const heartbeatsAlone = { CARILLON_SHORT_TIMEOUT_MS: '900000', CARILLON_SUBMIT_SLACK_MS: '900000' };

const people = isFull ? 60 : 40;

/** Plays a campaign of the same recipients to its end. Returns each row's outcome. */
async function play(id: string, seed: number, kills: readonly { place: Place; nth: number }[]): Promise<object[]> {
  const options = { id, seed, temporal, recipients: people, batchSize: 4, settings: heartbeatsAlone };
  return withRun(options, async (run) => {
    await run.start();
    const lostReplies: string[] = [];
    const confirmed: object[] = [];
    for (const { place, nth } of kills) {
      if (place === 'planning' || place === 'reading') {
        await (place === 'planning' && run.workers.length === 0 ? killPlanner(run) : killReader(run));
        continue;
      }
      const { batchId, requestId } = await killWorkerIn(run, place, nth);
      const isLost = place !== 'verdict_committed';
      if (isLost) lostReplies.push(requestId);
      confirmed.push({ batch_id: batchId, state: 'confirmed', accepted_by: isLost ? 'evidence' : 'reply' });
    }
    run.startWorker();
    const { submitted } = await run.untilEnd();
    expect(run.workers.filter((worker) => worker.hasEnded())).toHaveLength(kills.length);
    expect(await countRuns(run)).toBeGreaterThan(kills.length > 0 ? 1 : 0);
    const { batches } = await judgeRun(run, { lostReplies });
    expect(submitted).toBe(batches.length);
    expect(batches).toEqual(expect.arrayContaining(confirmed.map((batch) => expect.objectContaining(batch) as unknown)));
    const rows: object[] = [];
    for await (const { row, outcome, reason, attempts, disposition, detail } of readResults(run.store.db, id))
      rows.push({ row, outcome, reason, attempts, disposition, detail });
    return rows;
  });
}

/** How often its workflow ran, continued as new after the first. */
async function countRuns({ client, handle }: CampaignRun): Promise<number> {
  let { runId } = await handle.describe();
  for (let count = 1; ; count += 1) {
    const { events } = await client.workflow.getHandle(handle.workflowId, runId).fetchHistory();
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    if (runId === '') return count;
  }
}

test.concurrent(
  'killed at each place, a campaign that continues as new ends with the outcomes of one that was never disturbed',
  async () => {
    const seed = 4_711;
    const random = new Random(seed, 'kills');
    const rounds = isFull ? 2 : 1;
    const kills = Array.from({ length: rounds }, () => places)
      .flat()
      // Three unresolved batches in a row would pause the campaign, so a good one lies between two.
      .map((place) => ({ place, nth: 2 + Math.floor(random.next() * 2) }));
    const [calm, shaken] = await Promise.all([play('calm', seed, []), play('shaken', seed, kills)]);
    expect(calm).toHaveLength(people);
    expect(shaken).toEqual(calm);
  },
);

/** The batch at whose POST the worker dies, and the kind of service. */
const circumstances = [
  { n: 1, dialect: 'extended' },
  { n: 2, dialect: 'extended' },
  { n: 1, dialect: 'spec' },
  { n: 2, dialect: 'spec' },
  { n: 3, dialect: 'extended', listOrder: 'oldest_first' },
  { n: 2, dialect: 'spec', listOrder: 'oldest_first' },
] as const;

/** Each gap in each of them, as campaigns of their own. */
const kills = gaps.flatMap((gap, row) =>
  circumstances.map((circumstance, column) => ({ gap, seed: 100 * (row + 1) + column, ...circumstance })),
);

test.concurrent.for(isFull ? kills : [])('a worker killed in gap $gap at batch $n ($dialect, seed $seed)', async (kill) => {
  const { gap, seed, n, dialect } = kill;
  const sandbox = { dialect, ...('listOrder' in kill ? { listOrder: kill.listOrder } : {}) };
  await withRun({ id: `${gap}-${seed}`, seed, temporal, sandbox }, async (run) => {
    const { batchId, requestId } = await killInGap(run, gap, n);
    run.startWorker();
    await run.untilEnd();
    const lost = gap !== 'verdict_committed';
    const isHeld = gap === 'posting_committed';
    const ledger = await judgeRun(run, {
      dialect,
      lostReplies: lost ? [requestId] : [],
      destroyed: isHeld || (lost && dialect === 'spec') ? [batchId] : [],
    });
    expect(ledger.batches.find((row) => row.batch_id === batchId)).toMatchObject({
      state: isHeld ? 'held' : 'confirmed',
      posts: Number(requestId.slice(batchId.length + 1)),
      ...(isHeld ? {} : { accepted_by: lost ? 'evidence' : 'reply' }),
    });
  });
});

async function untilPaused(run: CampaignRun): Promise<string> {
  return until(`${run.id} is paused`, async () => {
    const campaign = await findCampaign(run.store.db, run.id);
    return campaign?.state === 'paused' ? (campaign.stateReason ?? '') : undefined;
  });
}

/** The key is refused at the check of the callers, and later when a batch is sent. */
async function resumeOnceRefused(run: CampaignRun): Promise<void> {
  expect(await untilPaused(run)).toContain('refuses the API key (401): set SVC_API_KEY');
  expect(await run.handle.executeUpdate(resumeUpdate)).toBe(true);
}

/** Cuts the service off for ten minutes of its time. `meanwhile`: runs during the cut. */
async function closeWay({ toService, sandbox }: CampaignRun, meanwhile: () => unknown): Promise<void> {
  await toService.refuse();
  await meanwhile();
  const end = sandbox.clock.now() + 10 * 60_000;
  await until('service time has passed', () => sandbox.clock.now() >= end);
  await toService.heal();
}

/** Limits the size of files that a process may write, as on a full disk. Linux only. */
async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  await execute('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

test.concurrent.for(
  someOf([
    { dialect: 'extended', seed: 802 },
    { dialect: 'spec', seed: 803 },
  ] as const),
)(
  'one campaign outlives a key that is refused, a worker that dies before its request, a service that is away, a key that is revoked, a locked database and a full disk ($dialect)',
  async (given) => {
    const { dialect, seed } = given;
    const canLimit = await execute('prlimit', ['--version']).then(
      () => true,
      () => false,
    );
    await withRun({ id: `bad-${seed}`, seed, temporal, sandbox: { dialect }, recipients: 48 }, async (run) => {
      const { gates } = run.sandbox;
      run.sandbox.addFaults({ operation: 'get_agent', nth: 1, effect: { type: 'error', status: 401 } });
      await run.start();
      // An operator decides about its rows, since it may have been sent.
      const [held] = await Promise.all([killWorkerIn(run, 'posting_committed', 1), resumeOnceRefused(run)]);
      // Down before the next request, and again during an answer.
      await closeWay(run, async () => {
        const worker = run.startWorker();
        await until('the worker has tried', () => worker.output().includes('ServiceUnavailable'));
      });
      const second = gates.set('batch_work_done', 2);
      const { requestId: lost } = await run.met(second);
      await closeWay(run, () => gates.release(second));

      run.sandbox.addFaults({ operation: 'batch_calls', nth: 1, effect: { type: 'error', status: 401 } });
      const next = gates.set('batch_work_done');
      await resumeOnceRefused(run);

      // The service's answer cannot be written until the lock is gone.
      await run.met(next);
      const lock = openSqliteFile(run.sqlitePath);
      lock.prepare('begin immediate').run([]);
      gates.release(next);
      const end = Date.now() + 3_000;
      await until('three seconds have passed', () => Date.now() >= end);
      const last = gates.set('batch_work_done');
      lock.prepare('rollback').run([]);
      lock.close();

      await run.met(last);
      const worker = run.workers.at(-1);
      if (canLimit && worker !== undefined) {
        await limitFiles(worker.pid, 1);
        gates.release(last);
        await until('the worker cannot write', () => /SQLITE_(FULL|IOERR)/.test(worker.output()));
        expect(worker.hasEnded()).toBe(false);
        await limitFiles(worker.pid, 'unlimited');
      }
      gates.release();
      const calls = run.sandbox.calls().length;
      await run.untilEnd();
      expect(run.sandbox.calls().length).toBeGreaterThan(calls);
      const lostReplies = await run.unanswered();
      expect(lostReplies).toContain(lost);
      const ledger = await judgeRun(run, {
        dialect,
        lostReplies: [held.requestId, ...lostReplies],
        destroyed: [held.batchId, ...(dialect === 'spec' ? lostReplies.map((request) => request.slice(0, request.lastIndexOf('/'))) : [])],
      });
      expect(ledger.batches.find((row) => row.batch_id === held.batchId)).toMatchObject({ state: 'held', posts: 1 });
      expect(ledger.batches.filter((row) => row.state === 'refused')).toHaveLength(1);
    });
  },
);

const deliveries = 104;

test.concurrent(`a campaign is collected for beside ${deliveries} deliveries in one worker: none waits for another`, async () => {
  // So slow that nothing ends during the check.
  await withRun({ id: 'many', seed: 1201, temporal, recipients: 1, sandbox: { speed: 0.1 } }, async (run) => {
    const ids = Array.from({ length: deliveries }, (_, index) => `many${index}`);
    for (const webhookId of ids) await addTestWebhook(run.store, 'https://crm.example.com/', { webhookId, types: ['campaign.failed'] });
    run.startWorker();
    for (const webhookId of ids) await untilActivityRuns(run, webhookWorkflowId(webhookId), 'deliver');
    await run.start();
    await untilActivityRuns(run, run.handle.workflowId, 'collect');
    await until('the campaign has its call', () => run.sandbox.calls().length === 1);
  });
});

test('a start that may write files of 1400 blocks only says that the disk is full', async () => {
  const { address, namespace } = temporal.server;
  const world = await createWorld({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
  const lines = Array.from({ length: 350 }, (_, index) => `${numberAt(index)},${`Row${index} `.repeat(500)}`);
  world.writeCampaign({ lines });
  const failed = execute('sh', ['-c', 'ulimit -f 1400 && exec "$@"', 'start', process.execPath, program, 'start', world.campaignPath], {
    env: { PATH: process.env['PATH'], ...world.env },
  });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be used: (SQLite file \S+: )?the disk is full.*Make room and run/),
  });
});
