import { expect } from 'vitest';
import { pausedByOperator } from '../../src/rules/lifecycle.ts';
import { pauseCampaign, resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import type { CampaignRun } from './campaign-run.ts';
import { until, within } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A batch's last step when the worker died. */
export const gaps = ['posting_committed', 'request_received', 'work_done', 'reply_sent', 'verdict_committed'] as const;
export type Gap = (typeof gaps)[number];

/** Of a pending activity, in the numbers of Temporal's API. */
const startedState = 2;

export async function killInGap(run: CampaignRun, gap: Gap, n: number): Promise<{ batchId: string; requestId: string }> {
  await run.start();
  return killWorkerIn(run, gap, n);
}

/** Kills a worker (SIGKILL) in the gap of its nth POST, and proves it. Returns the batch and its last request. */
export async function killWorkerIn(run: CampaignRun, gap: Gap, n: number): Promise<{ batchId: string; requestId: string }> {
  const { gates } = run.sandbox;
  const held = gap === 'posting_committed' ? run.toService.holdBack('POST ', n) : undefined;
  const gate = held === undefined ? gates.set(gap === 'request_received' ? 'batch_received' : 'batch_work_done', n) : '';
  const replied = gap === 'reply_sent' ? gates.set('batch_replied', n) : '';
  const worker = run.startWorker();
  if (held === undefined) await run.met(gate);
  else await within(`POST ${n} is on its way`, held);
  if (gap === 'reply_sent') {
    await worker.freeze();
    gates.release(gate);
    await run.met(replied);
  }
  const met = await newestBatch(run);
  if (gap === 'verdict_committed') await commitVerdict(run, met, gate);
  await worker.kill();
  const request = await expectGap(run, gap, met);
  if (gap === 'verdict_committed') await goOn(run);
  gates.release();
  run.toService.drop();
  run.toTemporal.drop();
  return request;
}

async function newestBatch({ store, id }: CampaignRun): Promise<number> {
  const { n } = await store.db
    .selectFrom('batches')
    .select('n')
    .where('campaign_id', '=', id)
    .orderBy('n', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return n;
}

/** Lets the reply to batch n pass and kills before Temporal gets the result. Pauses first: no next batch begins. */
async function commitVerdict(run: CampaignRun, n: number, gate: string): Promise<void> {
  run.toTemporal.mute();
  const at = { campaignId: run.id, now: run.sandbox.clock.now() };
  expect(await pauseCampaign(run.store, at, { reason: pausedByOperator })).toBe(true);
  run.sandbox.gates.release(gate);
  await run.untilBatch(n, ['confirmed']);
}

async function goOn(run: CampaignRun): Promise<void> {
  expect(await resumeCampaign(run.store, { campaignId: run.id, now: run.sandbox.clock.now() })).toBe(true);
}

async function expectGap(run: CampaignRun, gap: Gap, n: number): Promise<{ batchId: string; requestId: string }> {
  const batch = await run.batch(n);
  const batchId = batch?.batch_id ?? '';
  const requestId = `${batchId}/${batch?.posts}`;
  const entry = run.sandbox.journal().find((request) => request.requestId === requestId);
  expect(batch?.state).toBe(gap === 'verdict_committed' ? 'confirmed' : 'posting');
  if (gap === 'posting_committed') expect(entry).toBeUndefined();
  else expect(entry).toBeDefined();
  const queued = run.sandbox.calls().filter((call) => call.requestId === requestId).length;
  expect(queued).toBe(gap === 'posting_committed' || gap === 'request_received' ? 0 : batch?.size);
  if (gap === 'reply_sent' || gap === 'verdict_committed') expect(entry?.ending).toBe('sent');
  return { batchId, requestId };
}

/** Ends a worker (SIGTERM) with the request that the service holds for it. */
export async function leave(run: CampaignRun, worker: WorkerProcess, gate: string): Promise<void> {
  const ended = worker.terminate();
  await until('the worker has heard it', () => worker.output().includes('stopping: '));
  expect(worker.hasEnded()).toBe(false);
  run.sandbox.gates.release(gate);
  expect(await within('the worker has ended', ended)).toEqual({ code: 0, signal: null });
}

/** Until the server sees the activity under way; its workflow may be yet to come. */
export async function untilActivityRuns(run: CampaignRun, workflowId: string, name: string): Promise<void> {
  const handle = run.client.workflow.getHandle(workflowId);
  await until(`activity ${name} runs`, async () => {
    const found = await handle.describe().catch(() => null);
    return found?.raw.pendingActivities?.some(({ activityType, state }) => activityType?.name === name && Number(state) === startedState);
  });
}
