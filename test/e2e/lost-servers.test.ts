import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { undecidedStates } from '../../src/rules/ledger.ts';
import { readConfig } from '../../src/shared/config.ts';
import type { DevServer } from '../../src/temporal/dev-server.ts';
import { resolveTemporalBinary } from '../../src/temporal/server-binary.ts';
import { LostWorkflowError, startCampaign } from '../../src/temporal/start-campaign.ts';
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

/** The server suggests to continue as new at 4,096 events by default. */
const suggestedEvents = 60;

let folder: string;
/** Of this file's own, since it is killed, and loses what it knows. */
let temporal: TestTemporal<DevServer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-lost-'));
  const { path } = await resolveTemporalBinary({ config: readConfig() });
  const program = join(folder, 'temporal');
  const value = `limit.historyCount.suggestContinueAsNew=${suggestedEvents}`;
  await writeFile(
    program,
    `#!/bin/sh\ncase "$1 $2" in\n"server start-dev") exec "${path}" "$@" --dynamic-config-value ${value} ;;\nesac\nexec "${path}" "$@"\n`,
  );
  await chmod(program, 0o755);
  temporal = await startTemporalForTests({ dataFile: join(folder, 'temporal.db'), config: { CARILLON_TEMPORAL_BIN: program } });
});
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});

const dialects = someOf([
  { dialect: 'spec', seed: 711 },
  { dialect: 'extended', seed: 712 },
] as const);

const databaseFiles = (path: string) => ['', '-wal', '-shm'].map((end) => `${path}${end}`);

/** The server dies, and everything that it knew is gone. `meanwhile`: what happens before a new one stands in its place. */
async function loseTemporal(meanwhile: () => Promise<unknown> = async () => {}): Promise<void> {
  temporal.server.kill();
  await meanwhile();
  for (const file of databaseFiles(join(folder, 'temporal.db'))) await rm(file, { force: true });
  await temporal.server.restart();
}

const recover = (run: CampaignRun) => run.command('recover', run.id, '--json');

test.for(dialects)(
  'a campaign outlives a Temporal that is killed, one that has lost it, and its worker beside it ($dialect)',
  async (given) => {
    const { dialect, seed } = given;
    const id = `lost-${seed}`;
    await withRun({ id, seed, temporal, sandbox: { dialect }, recipients: 40 }, async (run) => {
      const { gates } = run.sandbox;
      const first = gates.set('batch_work_done', 2);
      const worker = run.startWorker();
      await run.start();
      const killed = await run.met(first);
      const { pid } = temporal.server;
      temporal.server.kill();
      const second = gates.set('batch_work_done');
      gates.release(first);
      await run.untilBatch(killed.n, ['confirmed']);
      await temporal.server.restart();
      expect(temporal.server.pid).not.toBe(pid);

      const lost = await run.met(second);
      await loseTemporal(async () => {
        gates.release(second);
        await run.untilBatch(lost.n, ['confirmed']);
      });
      const now = run.sandbox.clock.now();
      const started = startCampaign({ config: run.config, store: run.store, client: run.client, now }, id);
      await expect(started).rejects.toThrow(LostWorkflowError);
      // It does not end before that is looked at.
      const third = gates.set('batch_work_done');
      const recovered = await recover(run);
      expect(recovered).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(recovered.stdout)).toMatchObject({ campaignId: id, workflowId: campaignWorkflowId(id, 1) });
      const again = await recover(run);
      expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`Campaign ${id} runs at Temporal`) });

      const both = await run.met(third);
      expect(worker.hasEnded()).toBe(false);
      await worker.kill();
      gates.release(third);
      await loseTemporal();
      expect(await recover(run)).toMatchObject({ code: 0 });
      run.startWorker();
      await run.untilEnd();
      const { batches } = await judgeRun(run, {
        dialect,
        lostReplies: [both.requestId],
        destroyed: dialect === 'spec' ? [`${id}/1/${both.n}`] : [],
      });
      // What was on its way with the worker was not sent again; it may have been sent before, when Temporal was gone.
      const [, batchId, k] = /^(.*)\/(\d+)$/.exec(both.requestId) ?? [];
      expect([killed, lost, both].map(({ n }) => batches.find((batch) => batch.n === n))).toMatchObject([
        { accepted_by: 'reply', posts: 1 },
        { accepted_by: 'reply', posts: 1 },
        { posts: Number(k) },
      ]);
      expect(run.requests()).not.toContain(`${batchId}/${Number(k) + 1}`);
      expect(await recover(run)).toMatchObject({ code: 2, stderr: expect.stringContaining('has ended (completed)') });
    });
  },
);

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
    return run.called().length >= run.list.rows.length && left.length === 0;
  });
}

test.for(dialects)(
  'of backups put back one that lacks requests is refused, with Temporal and without, and one that has them goes on ($dialect)',
  async (given) => {
    const { dialect, seed } = given;
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
      // By the service's records, or by what Temporal knows where no record shows yet.
      expect(refused.stdout).toMatch(/"code":\s*"(unknown_calls|workflow_conflict)"/);
      await older.terminate();

      await putBackEarly();
      await loseTemporal();
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

async function countRuns(workflowId: string): Promise<number> {
  const { workflow } = temporal.client;
  let { runId } = await workflow.getHandle(workflowId).describe();
  for (let count = 1; ; count += 1) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    if (runId === '') return count;
  }
}

test.concurrent('a worker killed again and again while a long campaign continues as new loses and doubles nothing', async () => {
  // So few lines that each batch waits for the one before it: batches that go one after the other make no events.
  const narrow = { rules: { pacing: { maxConcurrentCalls: 4, refillThreshold: 4 } }, batchSize: 4 };
  await withRun({ id: 'long', seed: 902, temporal, recipients: 60, ...narrow }, async (run) => {
    const lostReplies: string[] = [];
    let worker = run.startWorker();
    await run.start();
    for (const nth of [3, 4]) {
      const gate = run.sandbox.gates.set('batch_work_done', nth);
      lostReplies.push((await run.met(gate)).requestId);
      await worker.kill();
      run.sandbox.gates.release(gate);
      worker = run.startWorker();
    }
    const { submitted } = await run.untilEnd();
    const { batches } = await judgeRun(run, { lostReplies });
    expect(submitted).toBe(batches.length);
    expect(await countRuns(campaignWorkflowId(run.id, 1))).toBeGreaterThan(2);
  });
});

test.for(dialects)(
  'two campaigns call the same people one call at a time, and receiver, worker and Temporal are killed in turn: each row and change is told once, in order ($dialect)',
  async (given) => {
    const { dialect, seed } = given;
    const hook = await startHookServer(taken);
    await hook.stop();
    await withRun({ id: `told-${seed}`, seed: seed + 20, temporal, sandbox: { dialect }, settings: deliverySettings }, async (run) => {
      // 70 seeds further the numbers are the same and the words are others.
      const second = { id: `second-${seed}`, list: plantList(seed + 90, 24) };
      expect(second.list.rows.map((row) => row.e164)).toEqual(run.list.rows.map((row) => row.e164));
      await addTestWebhook(run.store, hook.url, { webhookId: webhookIdOf(run) });
      const first = run.startWorker();
      await run.start();
      await run.startAnother(second.id, second.list);
      await until('the receiver is missed', async () => (await failuresOf(run)) > 0);
      const held: ServerResponse[] = [];
      hook.answerWith((response) => {
        if (hook.calls.length === 4) held.push(response);
        else taken(response);
      });
      await hook.startAgain();
      await until('a request waits for its answer', () => held.length === 1);
      await first.kill();
      run.startWorker();
      await until('the same request comes again', () => hook.calls.length > 4);
      const [before, after] = readMessages(hook.calls.slice(3, 5));
      expect(after).toEqual(before);
      temporal.server.kill();
      await temporal.server.restart();
      await hook.stop();
      await hook.startAgain();
      await run.untilEnd();
      await run.untilEnd(second.id);
      const told = await untilAllTaken(run, hook, [...run.list.tokens, ...second.list.tokens]);
      expect(told.map(({ type }) => type).filter((type) => /^campaign\.(started|completed)$/.test(type)).sort()).toEqual(['campaign.completed', 'campaign.completed', 'campaign.started', 'campaign.started']); // prettier-ignore
      expect(told.filter(({ type }) => type === 'row.ended').length).toBeGreaterThanOrEqual(48);
      const lostReplies = await run.unanswered();
      const destroyed = dialect === 'spec' ? lostReplies.map((request) => request.slice(0, request.lastIndexOf('/'))) : [];
      await judgeRun(run, { dialect, others: [second], misconduct: ['redial_too_soon'], lostReplies, destroyed });
    });
  },
);
