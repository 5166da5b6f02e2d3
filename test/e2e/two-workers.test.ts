import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { deliverNow } from '../../src/temporal/webhooks.ts';
import { lookAgainUpdate } from '../../workflows/messages.ts';
import { emptyDatabase } from '../ledger/test-stores.ts';
import { sendJson, startHookServer } from '../shared/hooks/hook-server.ts';
import {
  addTestWebhook,
  deliverySettings,
  failuresOf,
  readMessages,
  taken,
  untilAllTaken,
  webhookIdOf,
} from '../shared/hooks/webhook-world.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { leave } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';

/*
 * What takes two workers over one database, which is PostgreSQL: one campaign goes through all of it.
 */

const temporal = useSharedTemporal();
const deploymentName = 'carillon';

/** As `temporal worker deployment set-current-version`. */
async function makeCurrent(buildId: string): Promise<void> {
  const { namespace } = temporal.server;
  await until(`version ${buildId} is known, and current`, async () => {
    try {
      await temporal.client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId });
      return true;
    } catch {
      return false;
    }
  });
}

/** Versions that ran the campaign's workflow, each once, in order. */
async function readVersions({ handle }: CampaignRun): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  const builds = (events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes: completed }) => completed?.deploymentVersion?.buildId ?? [],
  );
  return builds.filter((build, index) => build !== builds[index - 1]);
}

async function untilTakenOver(run: CampaignRun, buildId: string): Promise<void> {
  await until(`${buildId} takes the steps`, async () => {
    await run.handle.executeUpdate(lookAgainUpdate);
    return (await readVersions(run)).at(-1) === buildId;
  });
}

/** Process id of the worker that is sending the campaign's batch. */
async function findSender(run: CampaignRun): Promise<number> {
  return until('a submit runs', async () => {
    const { raw } = await run.handle.describe();
    const submit = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'submit');
    const pid = Number(submit?.lastWorkerIdentity?.split('@')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  });
}

test('a campaign moves on to another version and back, either of two workers may die, and one that stood still tells nothing out of order', async ({
  onTestFinished,
}) => {
  const hook = await startHookServer((response) => sendJson(response, {}, 500), onTestFinished);
  const { databaseUrl = '' } = await emptyDatabase('postgres');
  const options = { id: 'two-workers', seed: 1011, temporal, databaseUrl, recipients: 48, settings: deliverySettings };
  await withRun(options, async (run) => {
    const { gates } = run.sandbox;
    const start = (buildId: string, more: Record<string, string> = {}) =>
      run.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId, ...more });
    const areReady = () => until('all are ready', () => run.workers.every((worker) => worker.output().includes('is ready')));
    const [older, newer] = [start('0.2.0', patient), start('0.3.0', patient)];
    await areReady();
    await makeCurrent('0.2.0');
    expect(newer.output()).toContain('set-current-version --deployment-name carillon --build-id 0.3.0');
    // A running worker picks up a webhook unknown to Temporal.
    await addTestWebhook(run.store, hook.url, { webhookId: webhookIdOf(run) });
    // A held batch keeps the campaign from ending while versions change.
    const first = gates.set('batch_work_done', 2);
    await run.start();
    await run.met(first);
    await makeCurrent('0.3.0');
    await untilTakenOver(run, '0.3.0');
    const second = gates.set('batch_work_done');
    await leave(run, older, first);
    await run.met(second);

    // The dead worker's batch is doubted for as long as its request may take.
    const two = [1, 2].map(() => start('0.2.0'));
    await areReady();
    await makeCurrent('0.2.0');
    await untilTakenOver(run, '0.2.0');
    const last = gates.set('batch_work_done');
    await leave(run, newer, second);
    const { requestId } = await run.met(last);
    const sender = await findSender(run);
    const [dead, alive] = two[0]?.pid === sender ? two : two.toReversed();
    expect(dead?.pid).toBe(sender);
    const calls = run.sandbox.calls().length;
    await dead?.kill();
    gates.release(last);
    await run.untilEnd();
    expect(alive?.hasEnded()).toBe(false);
    expect(run.sandbox.calls().length).toBeGreaterThan(calls);
    await judgeRun(run, { lostReplies: [requestId] });
    expect(await run.unanswered()).toEqual([requestId]);
    expect(await readVersions(run)).toEqual(['0.2.0', '0.3.0', '0.2.0']);

    await until('it was tried to tell of it', async () => (await failuresOf(run)) > 0);
    // The remaining worker stalls while it waits for the answer to its delivery.
    const held: ServerResponse[] = [];
    hook.calls.length = 0;
    hook.answerWith((response) => {
      if (hook.calls.length === 2) held.push(response);
      else taken(response);
    });
    await deliverNow({ config: run.config, store: run.store, client: run.client }, webhookIdOf(run));
    await until('a request waits for its answer', () => held.length === 1);
    await alive?.freeze();
    // Otherwise Temporal would hand it one retry after the other.
    run.toTemporal.drop();
    start('0.2.0');
    await until('the other worker has taken over', () => hook.calls.length > 2);
    for (const response of held) taken(response);
    alive?.thaw();
    await untilAllTaken(run, hook);
    const ids = readMessages(hook.calls).map(({ id }) => id);
    const seqs = ids.map((id) => Number(id.split('_')[1]));
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
    expect(ids.filter((id) => id === ids[1])).toHaveLength(2);
  });
});
