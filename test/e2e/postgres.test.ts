import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { isFull } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { gaps, killInGap } from '../support/kill-gaps.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { connectSharedTemporal, type TestTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';

let temporal: TestTemporal;
let postgres: PostgresServer;

beforeAll(async () => {
  [temporal, postgres] = await Promise.all([connectSharedTemporal(), startPostgresServer({ hasArchive: true })]);
});
afterAll(async () => {
  await temporal.stop();
  await postgres.stop();
});

/** Where one must do, one whose reply is lost: worker-killed.test.ts has each gap. */
const kills = gaps
  .map((gap, index) => ({
    gap,
    n: 1 + (index % 2),
    seed: 1001 + index,
    dialect: index % 2 === 0 ? ('extended' as const) : ('spec' as const),
  }))
  .filter(({ gap }) => isFull || gap === 'work_done');

test.concurrent.for(kills)('on PostgreSQL, a worker killed in gap $gap at batch $n ($dialect)', async ({ gap, n, seed, dialect }) => {
  const id = `postgres-${gap}`;
  const databaseUrl = await postgres.createDatabase(`gap_${seed}`);
  await withRun({ id, seed, temporal, databaseUrl, sandbox: { dialect } }, async (run) => {
    const { batchId, requestId } = await killInGap(run, gap, n);
    run.startWorker();
    await run.untilEnd();
    const lost = gap !== 'verdict_committed';
    await judgeRun(run, {
      dialect,
      lostReplies: lost ? [requestId] : [],
      destroyed: gap === 'posting_committed' || (lost && dialect === 'spec') ? [batchId] : [],
    });
  });
});

/** Process id of the worker that sends the campaign's batch now. */
async function findSender(run: CampaignRun): Promise<number> {
  return until('a submit runs', async () => {
    const { raw } = await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).describe();
    const submit = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'submit');
    const pid = Number(submit?.lastWorkerIdentity?.split('@')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  });
}

test.concurrent('of two workers on one database either may die; the other goes on', async () => {
  const databaseUrl = await postgres.createDatabase('two_workers');
  await withRun({ id: 'two-workers', seed: 1011, temporal, databaseUrl, recipients: 40 }, async (run) => {
    const gate = run.sandbox.gates.set('batch_work_done', 2);
    run.startWorker();
    run.startWorker();
    await until('both are ready', () => run.workers.every((worker) => worker.output().includes('is ready')));
    await run.start();
    const met = await run.sandbox.gates.waitUntilReached(gate, patienceMs);
    const sender = await findSender(run);
    const [dead, alive] = run.workers[0]?.pid === sender ? run.workers : run.workers.toReversed();
    expect(dead?.pid).toBe(sender);
    await dead?.kill();
    run.sandbox.gates.release(gate);
    await run.untilEnd();
    expect(alive?.hasEnded()).toBe(false);
    await judgeRun(run, { lostReplies: [met?.requestId ?? 'nothing came'] });
  });
});

// Not beside the others: it ends their connections too.
test('PostgreSQL restarted in the middle does not stop the campaign', async () => {
  const databaseUrl = await postgres.createDatabase('restarted');
  await withRun({ id: 'restarted', seed: 1012, temporal, databaseUrl, settings: patient }, async (run) => {
    const gate = run.sandbox.gates.set('batch_work_done', 2);
    const worker = run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    const { posts } = await run.untilBatch(2, ['posting']);
    await postgres.restart(async () => {
      run.sandbox.gates.release(gate);
      // The verdict has nowhere to go yet.
      await until('the worker has tried to write it', () => worker.output().includes('could not be written'));
    });
    await run.untilEnd();
    expect(worker.hasEnded()).toBe(false);
    const ledger = await judgeRun(run);
    expect(ledger.batches.find((row) => row.n === 2)).toMatchObject({ state: 'confirmed', posts });
  });
});

test('a campaign goes on from a base backup of PostgreSQL and its archived log, and sends nothing again', async () => {
  const databaseUrl = await postgres.createDatabase('archived');
  await withRun({ id: 'archived', seed: 1031, temporal, databaseUrl, settings: patient }, async (run) => {
    const gate = run.sandbox.gates.set('batch_received', 2);
    const worker = run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    const restore = await postgres.backUp();
    run.sandbox.gates.release(gate);
    await run.untilBatch(3, ['confirmed']);
    await worker.terminate();
    const before = run.sandbox.calls().length;
    await restore();

    expect(await run.batch(3)).toMatchObject({ state: 'confirmed' });
    run.startWorker();
    await run.untilEnd();
    expect(before).toBeGreaterThanOrEqual(24);
    await judgeRun(run);
  });
});
