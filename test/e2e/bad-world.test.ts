import { expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { cancelUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-dialect.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';

/** A number that nobody has verified. */
const unverified = { callers: { numbers: ['pn_unverified'], choice: 'region' } } as const;

const temporal = useSharedTemporal();

async function untilPaused(run: CampaignRun): Promise<string> {
  return until(`${run.id} is paused`, async () => {
    const campaign = await findCampaign(run.store.db, run.id);
    return campaign?.state === 'paused' ? (campaign.stateReason ?? '') : undefined;
  });
}

function serviceTimePasses(run: CampaignRun, ms: number): Promise<true> {
  const end = run.sandbox.clock.now() + ms;
  return until('service time has passed', () => run.sandbox.clock.now() >= end);
}

test.concurrent('a service that is down at the start is waited for', async () => {
  await withRun({ id: 'down-at-start', seed: 801, temporal }, async (run) => {
    await run.toService.refuse();
    const worker = run.startWorker();
    await run.start();
    await until('the worker has tried', () => worker.output().includes('ServiceUnavailable'));
    await serviceTimePasses(run, 10 * 60_000);
    await run.toService.accept();
    await run.untilEnd();
    await judgeRun(run);
  });
});

test.concurrent.for(
  someOf([
    { dialect: 'spec', seed: 803 },
    { dialect: 'extended', seed: 802 },
  ] as const),
)('a service that is down for ten minutes in the middle is waited for ($dialect)', async ({ dialect, seed }) => {
  await withRun({ id: `down-${seed}`, seed, temporal, sandbox: { dialect } }, async (run) => {
    const gate = run.sandbox.gates.set('batch_work_done', 2);
    run.startWorker();
    await run.start();
    const lost = await run.sandbox.gates.waitUntilReached(gate, patienceMs);
    await run.toService.refuse();
    run.sandbox.gates.release(gate);
    await serviceTimePasses(run, 10 * 60_000);
    await run.toService.accept();
    await run.untilEnd();
    await judgeRun(run, {
      dialect,
      lostReplies: [lost?.requestId ?? 'nothing came'],
      destroyed: dialect === 'spec' ? [`${run.id}/1/2`] : [],
    });
  });
});

test.concurrent('a wrong key pauses the campaign; with the right one it goes on', async () => {
  await withRun({ id: 'wrong-key', seed: 804, temporal }, async (run) => {
    const wrong = run.startWorker({ SVC_API_KEY: 'sk_planted_wrong' });
    await run.start();
    expect(await untilPaused(run)).toContain('refuses the API key (401): set SVC_API_KEY');
    expect(run.sandbox.calls()).toEqual([]);
    await wrong.terminate();
    expect(wrong.output()).not.toContain('sk_planted_wrong');
    run.startWorker();
    expect(await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).executeUpdate(resumeUpdate)).toBe(true);
    await run.untilEnd();
    await judgeRun(run);
  });
});

test.concurrent('a key that is revoked in the middle pauses the campaign and loses nothing', async () => {
  await withRun({ id: 'revoked-key', seed: 805, temporal }, async (run) => {
    run.sandbox.addFaults({ operation: 'batch_calls', nth: 2, effect: { type: 'error', status: 401 } });
    run.startWorker();
    await run.start();
    expect(await untilPaused(run)).toContain('refuses the API key (401)');
    expect(await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).executeUpdate(resumeUpdate)).toBe(true);
    await run.untilEnd();
    const ledger = await judgeRun(run);
    expect(ledger.batches.filter((row) => row.state === 'refused')).toHaveLength(1);
  });
});

test.concurrent('an unverified number is refused at the start where the service tells', async () => {
  await withRun({ id: 'unverified', seed: 806, temporal, rules: unverified }, async (run) => {
    run.startWorker();
    await run.start();
    expect(await untilPaused(run)).toContain('pn_unverified is not verified');
    expect(run.sandbox.calls()).toEqual([]);
    await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).executeUpdate(cancelUpdate);
    await run.untilEnd();
    const { recipients } = await judgeRun(run);
    expect(new Set(recipients.map((row) => row.outcome))).toEqual(new Set(['cancelled']));
  });
});

test.concurrent('an unverified number of which nothing is told costs one batch of calls, then the campaign pauses', async () => {
  const options = {
    id: 'canary',
    seed: 807,
    temporal,
    recipients: 30,
    batchSize: 20,
    sandbox: { dialect: 'spec' as const, unansweredCreateRecord: false },
    rules: unverified,
  };
  await withRun(options, async (run) => {
    run.startWorker();
    await run.start();
    expect(await untilPaused(run)).toContain('that the caller number is verified');
    expect(run.sandbox.calls()).toHaveLength(20);
    await run.client.workflow.getHandle(campaignWorkflowId(run.id, 1)).executeUpdate(cancelUpdate);
    await run.untilEnd();
    await judgeRun(run, { dialect: 'spec' });
    expect(run.sandbox.calls()).toHaveLength(20);
  });
});

test.concurrent('a database that another process locks for three seconds is waited for', async () => {
  await withRun({ id: 'locked', seed: 808, temporal, settings: patient }, async (run) => {
    const gate = run.sandbox.gates.set('batch_work_done', 2);
    run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    const lock = openSqliteFile(run.sqlitePath);
    lock.prepare('begin immediate').run([]);
    // What the service answers now cannot be written before the lock is gone.
    run.sandbox.gates.release(gate);
    const end = Date.now() + 3_000;
    await until('three seconds have passed', () => Date.now() >= end);
    lock.prepare('rollback').run([]);
    lock.close();
    await run.untilEnd();
    await judgeRun(run);
  });
});
