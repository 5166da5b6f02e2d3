import { expect, test } from 'vitest';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { cancelUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-file.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';
import { createWorld, numberAt } from '../interfaces/cli/campaign-world.ts';

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

const run = promisify(execFile);

/** The largest file that a running process may write; a write beyond it fails, as on a full disk. Linux alone lets others set it. */
async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

test('a campaign whose disk is full goes on when there is room again, and its log says what was wrong', async ({ skip }) => {
  await run('prlimit', ['--version']).catch(() => skip('prlimit is not here'));
  await withRun({ id: 'full', seed: 641, temporal, settings: patient }, async (campaign) => {
    const gate = campaign.sandbox.gates.set('batch_work_done', 2);
    const worker = campaign.startWorker();
    await campaign.start();
    expect(await campaign.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    await limitFiles(worker.pid, 1);
    campaign.sandbox.gates.release(gate);
    await until('the worker cannot write', () => /SQLITE_(FULL|IOERR)/.test(worker.output()));
    const calls = campaign.sandbox.calls().length;
    expect(worker.hasEnded()).toBe(false);
    await limitFiles(worker.pid, 'unlimited');
    await campaign.untilEnd();
    expect(campaign.sandbox.calls().length).toBeGreaterThan(calls);
    const lost = await campaign.store.db.selectFrom('posts').selectAll().where('verdict', '=', 'unknown').execute();
    await judgeRun(campaign, { lostReplies: lost.map((post) => `${post.batch_id}/${post.k}`) });
  });
});

test.each([128, 1400])('a start that may write files of %i blocks only says that the disk is full', async (blocks) => {
  const world = await createWorld();
  const lines = Array.from({ length: 6_000 }, (_, index) => `${numberAt(index % 350)},Row${index}`);
  world.writeCampaign({ lines });
  const main = fileURLToPath(new URL('../../dist/src/interfaces/cli/main.js', import.meta.url));
  const limited = `ulimit -f ${blocks} && exec "$@"`;
  const failed = run('sh', ['-c', limited, 'start', process.execPath, main, 'start', world.campaignPath], {
    env: { PATH: process.env['PATH'], ...world.env },
  });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be used: (SQLite file \S+: )?the disk is full.*Make room and run/),
  });
});
