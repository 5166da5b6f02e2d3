import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { undecidedStates } from '../../src/rules/ledger.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import type { DevServer } from '../../src/temporal/dev-server.ts';
import { LostWorkflowError, startCampaign } from '../../src/temporal/start-campaign.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { killInGap } from '../support/kill-gaps.ts';
import { startTemporalForTests, type TestTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';
import { runCommand } from '../support/worker-process.ts';

let folder: string;
let temporal: TestTemporal<DevServer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-recover-'));
  temporal = await startTemporalForTests({ dataFile: join(folder, 'temporal.db') });
});
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});

const databaseFiles = (path: string) => ['', '-wal', '-shm'].map((end) => `${path}${end}`);

/** The server dies, and everything that it knew is gone. `meanwhile`: what happens before a new one stands in its place. */
async function loseTemporal(meanwhile: () => Promise<unknown> = async () => {}): Promise<void> {
  temporal.server.kill();
  await meanwhile();
  for (const file of databaseFiles(join(folder, 'temporal.db'))) await rm(file, { force: true });
  await temporal.server.restart();
}

/** Puts a backup in the place of the database. No worker runs. */
async function restore(run: CampaignRun, backup: string): Promise<void> {
  for (const file of databaseFiles(run.sqlitePath)) await rm(file, { force: true });
  await copyFile(backup, run.sqlitePath);
}

async function backUp(run: CampaignRun): Promise<string> {
  const file = join(run.folder, 'backup.db');
  expect(await runCommand(['backup', file], run.settings)).toMatchObject({ code: 0, stderr: '' });
  return file;
}

const recover = (run: CampaignRun) => runCommand(['recover', run.id, '--json'], run.settings);
const calledOf = (run: CampaignRun) => run.sandbox.calls().map(({ to }) => to);
const requestsOf = (run: CampaignRun) =>
  run.sandbox.journal().flatMap(({ requestId }) => (requestId?.startsWith(`${run.id}/`) ? [requestId] : []));

test.for(
  someOf([
    { dialect: 'spec', seed: 711 },
    { dialect: 'extended', seed: 712 },
  ] as const),
)('a campaign whose workflow Temporal has lost goes on from the ledger ($dialect)', async ({ dialect, seed }) => {
  const id = `lost-${seed}`;
  await withRun({ id, seed, temporal, sandbox: { dialect }, settings: patient }, async (run) => {
    const gate = run.sandbox.gates.set('batch_work_done', 2);
    run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    await loseTemporal(async () => {
      run.sandbox.gates.release(gate);
      await run.untilBatch(2, ['confirmed']);
    });
    const now = run.sandbox.clock.now();
    const started = startCampaign({ config: run.config, store: run.store, client: run.client, now }, id);
    await expect(started).rejects.toThrow(LostWorkflowError);

    // It does not end before that is looked at.
    const next = run.sandbox.gates.set('batch_received');
    const recovered = await recover(run);
    expect(recovered).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(recovered.stdout)).toMatchObject({ campaignId: id, workflowId: campaignWorkflowId(id, 1) });
    const again = await recover(run);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`Campaign ${id} runs at Temporal`) });
    run.sandbox.gates.release(next);

    await run.untilEnd();
    const ledger = await judgeRun(run, { dialect });
    expect(ledger.posts.map((row) => row.verdict)).not.toContain('unknown');
    expect(await recover(run)).toMatchObject({ code: 2, stderr: expect.stringContaining('has ended (completed)') });
  });
});

test('a batch that was on its way when worker and Temporal were lost is not sent again', async () => {
  const id = 'lost-both';
  await withRun({ id, seed: 713, temporal }, async (run) => {
    await killInGap(run, 'work_done', 2);
    await loseTemporal();
    expect(await recover(run)).toMatchObject({ code: 0 });
    run.startWorker();
    await run.untilEnd();
    await judgeRun(run, { lostReplies: [`${id}/1/2/1`] });
    expect(requestsOf(run)).not.toContain(`${id}/1/2/2`);
  });
});

/**
 * Everybody is called, and every request has its verdict. That is not said of the third batch: until the service has shown a record, no
 * more than twenty calls are made, so a slow machine makes four batches of 24 rows.
 */
async function untilLastRequest(run: CampaignRun): Promise<void> {
  const { db } = run.store;
  const undecided = db
    .selectFrom('batches')
    .select('batch_id')
    .where('state', 'in', [...undecidedStates]);
  const waiting = db.selectFrom('recipients').select('recipient_id').where('state', '=', 'waiting');
  await until('the last request has its verdict', async () => {
    const left = [...(await waiting.execute()), ...(await undecided.execute())];
    return calledOf(run).length >= run.list.rows.length && left.length === 0;
  });
}

/** Runs a campaign past a backup, without calls that are made again, and puts the backup back. */
async function setBack(run: CampaignRun): Promise<void> {
  const gate = run.sandbox.gates.set('batch_received', 2);
  const worker = run.startWorker();
  await run.start();
  expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
  const backup = await backUp(run);
  run.sandbox.gates.release(gate);
  await untilLastRequest(run);
  await worker.terminate();
  await restore(run, backup);
}

const once = { retry: { maxAttempts: 1, maxUncounted: 0 } };

test.for(
  someOf([
    { dialect: 'spec', seed: 721 },
    { dialect: 'extended', seed: 722 },
  ] as const),
)('nobody is called twice when the database is set back under a running Temporal ($dialect)', async ({ dialect, seed }) => {
  const id = `back-${seed}`;
  await withRun({ id, seed, temporal, sandbox: { dialect }, settings: patient, rules: once }, async (run) => {
    await setBack(run);
    const before = calledOf(run);
    expect(before).toHaveLength(24);
    run.startWorker();
    const result = run.client.workflow.getHandle(campaignWorkflowId(id, 1)).result();
    await expect(result).rejects.toMatchObject({ cause: { cause: { type: 'LedgerOlder' } } });
    const refused = await recover(run);
    expect(refused).toMatchObject({ code: 1 });
    // By the service's records, or by what Temporal knows where no record shows yet.
    expect(refused.stdout).toMatch(/"code":\s*"(unknown_calls|workflow_conflict)"/);
    expect(calledOf(run)).toEqual(before);
    expect(before).toEqual([...new Set(before)]);
  });
});

test.for(
  someOf([
    { dialect: 'spec', seed: 731 },
    { dialect: 'extended', seed: 732 },
  ] as const),
)(
  'a database that was set back is not recovered when Temporal is lost, too: the service shows what it does not know ($dialect)',
  async ({ dialect, seed }) => {
    const id = `both-${seed}`;
    await withRun({ id, seed, temporal, sandbox: { dialect }, settings: patient, rules: once }, async (run) => {
      await setBack(run);
      await loseTemporal();
      const before = calledOf(run);
      await until('the service lists what it has called', async () => (await recover(run)).stdout.includes('unknown_calls'));
      const refused = await recover(run);
      expect(refused.stderr).toContain('It was probably set back');
      expect(calledOf(run)).toEqual(before);
      await expect(run.client.workflow.getHandle(campaignWorkflowId(id, 1)).describe()).rejects.toThrow(/not found/);
    });
  },
);

test('a database set back to after its last request goes on and collects again what it had known', async () => {
  await withRun({ id: 'back-known', seed: 741, temporal, rules: once }, async (run) => {
    const worker = run.startWorker();
    await run.start();
    await untilLastRequest(run);
    const backup = await backUp(run);
    const settled = run.store.db.selectFrom('attempts').selectAll().where('state', '=', 'settled');
    await until('calls are settled after the backup', async () => (await settled.execute()).length > 8);
    await worker.terminate();
    await restore(run, backup);
    run.startWorker();
    await run.untilEnd();
    const store = await openStore({ sqlitePath: run.sqlitePath });
    await judgeRun({ ...run, store });
    await store.close();
    expect(calledOf(run)).toHaveLength(24);
  });
});

test.for(
  someOf([
    { n: 2, dialect: 'extended', seed: 702 },
    { n: 1, dialect: 'spec', seed: 701 },
  ] as const),
)('Temporal killed while batch $n is on its way does not stop the campaign ($dialect)', async ({ n, dialect, seed }) => {
  await withRun({ id: `temporal-${seed}`, seed, temporal, sandbox: { dialect }, settings: patient }, async (run) => {
    const gate = run.sandbox.gates.set('batch_work_done', n);
    const worker = run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    const pid = temporal.server.pid;
    temporal.server.kill();
    run.sandbox.gates.release(gate);
    await run.untilBatch(n, ['confirmed']);
    await temporal.server.restart();
    expect(temporal.server.pid).not.toBe(pid);
    await run.untilEnd();
    expect(worker.hasEnded()).toBe(false);
    const ledger = await judgeRun(run, { dialect });
    expect(ledger.posts.map((row) => row.verdict)).not.toContain('unknown');
  });
});
