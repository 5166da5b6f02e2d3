import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { cancelUpdate, pauseUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { readConfig } from '../../src/shared/config.ts';
import { countOpen } from '../../src/ledger/limits/counters.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { resolveTemporalBinary } from '../../src/temporal/server-binary.ts';
import { patient, withRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { plantList } from '../support/planted-list.ts';
import { startTemporalForTests, type TestTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';

/** The server suggests to continue as new at 4,096 events by default. */
const suggestedEvents = 60;

let folder: string;
let temporal: TestTemporal;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-temporal-'));
  const { path } = await resolveTemporalBinary({ config: readConfig() });
  const program = join(folder, 'temporal');
  const value = `limit.historyCount.suggestContinueAsNew=${suggestedEvents}`;
  await writeFile(
    program,
    `#!/bin/sh\ncase "$1 $2" in\n"server start-dev") exec "${path}" "$@" --dynamic-config-value ${value} ;;\nesac\nexec "${path}" "$@"\n`,
  );
  await chmod(program, 0o755);
  temporal = await startTemporalForTests({ config: { CARILLON_TEMPORAL_BIN: program } });
});
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});

async function countRuns(workflowId: string): Promise<number> {
  const handle = temporal.client.workflow.getHandle(workflowId);
  const last = await handle.describe();
  let count = 1;
  let history = await temporal.client.workflow.getHandle(workflowId, last.runId).fetchHistory();
  for (;;) {
    const earlier = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (earlier == null || earlier === '') return count;
    count += 1;
    history = await temporal.client.workflow.getHandle(workflowId, earlier).fetchHistory();
  }
}

/** So few lines that each batch waits for the one before it: batches that go one after the other make no events. */
const narrow = { rules: { pacing: { maxConcurrentCalls: 4, refillThreshold: 4 } }, batchSize: 4 };

test.concurrent('a long campaign continues as new, and nothing is lost or doubled', async () => {
  await withRun({ id: 'long', seed: 901, temporal, recipients: 60, ...narrow, settings: patient }, async (run) => {
    run.startWorker();
    await run.start();
    const { submitted } = await run.untilEnd();
    const ledger = await judgeRun(run);
    expect(submitted).toBe(ledger.batches.length);
    expect(await countRuns(campaignWorkflowId(run.id, 1))).toBeGreaterThan(2);
  });
});

test.concurrent('a worker killed again and again while the campaign continues as new loses nothing', async () => {
  await withRun({ id: 'long-killed', seed: 902, temporal, recipients: 40, ...narrow }, async (run) => {
    const lostReplies: string[] = [];
    let worker = run.startWorker();
    await run.start();
    for (const nth of [3, 4]) {
      const gate = run.sandbox.gates.set('batch_work_done', nth);
      const info = await run.sandbox.gates.waitUntilReached(gate, patienceMs);
      lostReplies.push(info?.requestId ?? 'nothing came');
      await worker.kill();
      run.sandbox.gates.release(gate);
      worker = run.startWorker();
    }
    await run.untilEnd();
    await judgeRun(run, { lostReplies });
    expect(await countRuns(campaignWorkflowId(run.id, 1))).toBeGreaterThan(1);
  });
});

test.concurrent('pause stops dialling, resume goes on, cancel ends it with an outcome for everyone', async () => {
  await withRun({ id: 'paused', seed: 903, temporal, recipients: 48, settings: patient }, async (run) => {
    const handle = temporal.client.workflow.getHandle(campaignWorkflowId(run.id, 1));
    const gate = run.sandbox.gates.set('batch_work_done', 2);
    run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    expect((await findCampaign(run.store.db, run.id))?.state).toBe('paused');
    // Again is harmless: it is paused.
    expect(await handle.executeUpdate(pauseUpdate)).toBe(true);
    run.sandbox.gates.release(gate);
    await until('all open calls are collected', async () => (await countOpen(run.store.db, run.id)) === 0);
    const posts = () => run.sandbox.journal().filter((entry) => entry.operation === 'batch_calls').length;
    expect(posts()).toBe(2);

    const next = run.sandbox.gates.set('batch_work_done', 1);
    expect(await handle.executeUpdate(resumeUpdate)).toBe(true);
    expect(await run.sandbox.gates.waitUntilReached(next, patienceMs)).not.toBeNull();
    expect(await handle.executeUpdate(cancelUpdate)).toBe(true);
    run.sandbox.gates.release(next);
    await run.untilEnd();
    expect(posts()).toBe(3);
    const { recipients } = await judgeRun(run);
    expect((await findCampaign(run.store.db, run.id))?.state).toBe('cancelled');
    expect(recipients.filter((row) => row.outcome === 'cancelled').length).toBeGreaterThanOrEqual(24);
  });
});

test.concurrent.for(
  someOf([
    { dialect: 'spec', seed: 905 },
    { dialect: 'extended', seed: 904 },
  ] as const),
)('two campaigns call the same people for one agent at the same time, one call at a time ($dialect)', async ({ dialect, seed }) => {
  await withRun({ id: `first-${seed}`, seed, temporal, sandbox: { dialect }, settings: patient }, async (run) => {
    // 70 seeds further the numbers are the same and the words are others.
    const second = { id: `second-${seed}`, list: plantList(seed + 70, 24) };
    expect(second.list.rows.map((row) => row.e164)).toEqual(run.list.rows.map((row) => row.e164));
    run.startWorker();
    await run.start();
    await run.startAnother(second.id, second.list);
    await run.untilEnd();
    await run.untilEnd(second.id);
    await judgeRun(run, { dialect, others: [second], misconduct: ['redial_too_soon'] });
  });
});
