import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { undecidedStates } from '../../src/rules/ledger.ts';
import type { DevServer } from '../../src/temporal/dev-server.ts';
import { LostWorkflowError, startCampaign } from '../../src/temporal/start-campaign.ts';
import { deliverNow } from '../../src/temporal/webhooks.ts';
import { startHookServer } from '../shared/hooks/hook-server.ts';
import {
  addTestWebhook,
  deliverySettings,
  failuresOf,
  readMessages,
  taken,
  untilAllTaken,
  webhookIdOf,
} from '../shared/hooks/webhook-world.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { plantList } from '../support/planted-list.ts';
import { startTemporalForTests, type TestTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';

const dialects = someOf([
  { dialect: 'spec', seed: 711 },
  { dialect: 'extended', seed: 712 },
] as const);

const databaseFiles = (path: string) => ['', '-wal', '-shm'].map((end) => `${path}${end}`);

interface Losing extends TestTemporal<DevServer> {
  /** The server dies and loses all its data. `meanwhile`: runs before a new one replaces it. */
  lose(meanwhile?: () => Promise<unknown>): Promise<void>;
}

/** This test's own, since it is killed and loses its data. */
async function startLosing(atEnd: (stop: () => Promise<void>) => void): Promise<Losing> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-lost-'));
  const dataFile = join(folder, 'temporal.db');
  const temporal = await startTemporalForTests({ dataFile });
  atEnd(async () => {
    await temporal.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const { server } = temporal;
  const lose = async (meanwhile: () => Promise<unknown> = async () => {}): Promise<void> => {
    server.kill();
    await meanwhile();
    for (const file of databaseFiles(dataFile)) await rm(file, { force: true });
    await server.restart();
  };
  return { ...temporal, lose };
}

const recover = (run: CampaignRun, id = run.id) => run.command('recover', id, '--json');

const batchOf = (requestId: string): string => requestId.slice(0, requestId.lastIndexOf('/'));

async function untilConfirmed({ store }: CampaignRun, { requestId }: { requestId: string }): Promise<void> {
  const batch = store.db.selectFrom('batches').select('state').where('batch_id', '=', batchOf(requestId));
  await until(`${requestId} is confirmed`, async () => (await batch.executeTakeFirst())?.state === 'confirmed');
}

test.concurrent.for(dialects)(
  'two campaigns call the same people one call at a time, and outlive a receiver and a Temporal that are killed, one that has lost them, and their worker beside it: each row and change is told once, in order ($dialect)',
  async ({ dialect, seed }, { onTestFinished }) => {
    const temporal = await startLosing(onTestFinished);
    const id = `lost-${seed}`;
    const hook = await startHookServer(taken, onTestFinished);
    await hook.stop();
    // Rows in doubt in one campaign are not called by the other for two hours.
    const options = { id, seed, temporal, sandbox: { dialect, speed: 900 }, recipients: 32, settings: deliverySettings };
    await withRun(options, async (run) => {
      const { gates } = run.sandbox;
      // 70 seeds further the numbers are the same and the words differ.
      const second = { id: `second-${seed}`, list: plantList(seed + 70, 32) };
      expect(second.list.rows.map((row) => row.e164)).toEqual(run.list.rows.map((row) => row.e164));
      await addTestWebhook(run.store, hook.url, { webhookId: webhookIdOf(run) });
      const first = gates.set('batch_work_done');
      const worker = run.startWorker();
      await run.start();
      const killed = await run.met(first);
      await run.startAnother(second.id, second.list);
      const { pid } = temporal.server;
      temporal.server.kill();
      const next = gates.set('batch_work_done');
      gates.release(first);
      await untilConfirmed(run, killed);
      await temporal.server.restart();
      expect(temporal.server.pid).not.toBe(pid);

      const lost = await run.met(next);
      await until('the receiver is missed', async () => (await failuresOf(run)) > 0);
      await temporal.lose(async () => {
        gates.release(next);
        await untilConfirmed(run, lost);
      });
      const now = run.sandbox.clock.now();
      const started = startCampaign({ config: run.config, store: run.store, client: run.client, now }, id);
      await expect(started).rejects.toThrow(LostWorkflowError);
      // Neither ends before this is checked.
      const [third = ''] = [1, 2].map((nth) => gates.set('batch_work_done', nth));
      const recovered = await recover(run);
      expect(recovered).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(recovered.stdout)).toMatchObject({ campaignId: id, workflowId: campaignWorkflowId(id, 1) });
      const again = await recover(run);
      expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`Campaign ${id} runs at Temporal`) });
      expect(await recover(run, second.id)).toMatchObject({ code: 0 });

      const both = await run.met(third);
      const held: ServerResponse[] = [];
      hook.answerWith((response) => {
        if (hook.calls.length === 4) held.push(response);
        else taken(response);
      });
      await hook.startAgain();
      await deliverNow({ config: run.config, store: run.store, client: run.client }, webhookIdOf(run));
      await until('a request waits for its answer', () => held.length === 1);
      expect(worker.hasEnded()).toBe(false);
      await worker.kill();
      gates.release();
      await temporal.lose();
      for (const each of [id, second.id]) expect(await recover(run, each)).toMatchObject({ code: 0 });
      run.startWorker();
      await until('the same request comes again', () => hook.calls.length > 4);
      const [before, after] = readMessages(hook.calls.slice(3, 5));
      expect(after).toEqual(before);
      await run.untilEnd();
      await run.untilEnd(second.id);
      const told = await untilAllTaken(run, hook, [...run.list.tokens, ...second.list.tokens]);
      expect(told.map(({ type }) => type).filter((type) => /^campaign\.(started|completed)$/.test(type)).sort()).toEqual(['campaign.completed', 'campaign.completed', 'campaign.started', 'campaign.started']); // prettier-ignore
      expect(told.filter(({ type }) => type === 'row.ended').length).toBeGreaterThanOrEqual(64);
      const lostReplies = await run.unanswered();
      expect(lostReplies).toContain(both.requestId);
      const destroyed = dialect === 'spec' ? lostReplies.map(batchOf) : [];
      const { batches } = await judgeRun(run, { dialect, others: [second], misconduct: ['redial_too_soon'], lostReplies, destroyed });
      // The worker's request in flight was not repeated; it may have been sent while Temporal was gone.
      const k = Number(both.requestId.split('/').at(-1));
      expect([killed, lost, both].map((each) => batches.find((batch) => batch.batch_id === batchOf(each.requestId)))).toMatchObject([
        { accepted_by: 'reply', posts: 1 },
        { accepted_by: 'reply', posts: 1 },
        { posts: k },
      ]);
      expect(run.sandbox.journal().map(({ requestId }) => requestId)).not.toContain(`${batchOf(both.requestId)}/${k + 1}`);
      expect(await recover(run)).toMatchObject({ code: 2, stderr: expect.stringContaining('has ended (completed)') });
    });
  },
);

/** All are called, and only the third request lacks a verdict: before a first record at most 20 calls are made, so there may be four. */
async function untilLastRequest(run: CampaignRun): Promise<void> {
  const { db } = run.store;
  const undecided = db
    .selectFrom('batches')
    .select('batch_id')
    .where('state', 'in', [...undecidedStates]);
  const waiting = db.selectFrom('recipients').select('recipient_id').where('state', '=', 'waiting');
  await until('the last request has its verdict', async () => {
    const left = [...(await waiting.execute()), ...(await undecided.execute())];
    return run.called().length >= run.list.rows.length && left.length === 0;
  });
}

test.concurrent.for(dialects)(
  'of backups put back one that lacks requests is refused, with Temporal and without, and one that has them goes on ($dialect)',
  async ({ dialect, seed }, { onTestFinished }) => {
    const temporal = await startLosing(onTestFinished);
    const id = `back-${seed}`;
    const once = { retry: { maxAttempts: 1, maxUncounted: 0 } };
    await withRun({ id, seed: seed + 10, temporal, sandbox: { dialect }, rules: once }, async (run) => {
      const backUp = async (name: string) => {
        const file = join(run.folder, name);
        expect(await run.command('backup', file)).toMatchObject({ code: 0, stderr: '' });
        return async () => {
          for (const end of databaseFiles(run.sqlitePath)) await rm(end, { force: true });
          await copyFile(file, run.sqlitePath);
        };
      };
      const gate = run.sandbox.gates.set('batch_received', 2);
      const worker = run.startWorker();
      await run.start();
      await run.met(gate);
      const putBackEarly = await backUp('early.db');
      run.sandbox.gates.release(gate);
      await untilLastRequest(run);
      const putBackLate = await backUp('late.db');
      const settled = run.store.db.selectFrom('attempts').selectAll().where('state', '=', 'settled');
      await until('calls are settled after the backup', async () => (await settled.execute()).length > 8);
      await worker.terminate();
      const called = run.called();
      expect(called).toHaveLength(24);

      await putBackEarly();
      const older = run.startWorker();
      await expect(run.handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'LedgerOlder' } } });
      const refused = await recover(run);
      expect(refused).toMatchObject({ code: 1 });
      // By the service's records, or by Temporal where no record shows yet.
      expect(refused.stdout).toMatch(/"code":\s*"(unknown_calls|workflow_conflict)"/);
      await older.terminate();

      await putBackEarly();
      await temporal.lose();
      await until('the service lists what it has called', async () => (await recover(run)).stdout.includes('unknown_calls'));
      expect((await recover(run)).stderr).toContain('It was probably set back');
      await expect(run.handle.describe()).rejects.toThrow(/not found/);
      expect(run.called()).toEqual(called);

      await putBackLate();
      expect(await recover(run)).toMatchObject({ code: 0 });
      run.startWorker();
      await run.untilEnd();
      const store = await openStore({ sqlitePath: run.sqlitePath });
      await judgeRun({ ...run, store }, { dialect });
      await store.close();
      expect(run.called()).toEqual(called);
    });
  },
);
