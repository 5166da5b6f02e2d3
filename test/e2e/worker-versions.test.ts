import { afterAll, beforeAll, expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { leave } from '../support/kill-gaps.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { connectSharedTemporal, type TestTemporal } from '../support/temporal-for-tests.ts';
import { lookAgainUpdate } from '../../workflows/messages.ts';
import { patienceMs, until } from '../support/until.ts';

const deploymentName = 'carillon';

let temporal: TestTemporal;
let postgres: PostgresServer;

beforeAll(async () => {
  [temporal, postgres] = await Promise.all([connectSharedTemporal(), startPostgresServer()]);
});
afterAll(async () => {
  await temporal.stop();
  await postgres.stop();
});

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

/** Versions that took the steps of the campaign's workflow, each once, in order. */
async function readVersions({ client, id }: CampaignRun): Promise<string[]> {
  const { events } = await client.workflow.getHandle(campaignWorkflowId(id, 1)).fetchHistory();
  const builds = (events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes: completed }) => completed?.deploymentVersion?.buildId ?? [],
  );
  return builds.filter((build, index) => build !== builds[index - 1]);
}

/** Has the campaign take steps until this version takes them. */
async function untilTakenOver(run: CampaignRun, buildId: string): Promise<void> {
  const handle = run.client.workflow.getHandle(campaignWorkflowId(run.id, 1));
  await until(`${buildId} takes the steps`, async () => {
    await handle.executeUpdate(lookAgainUpdate);
    return (await readVersions(run)).at(-1) === buildId;
  });
}

test('a campaign moves on to the version that is made current, and back, in its middle', async () => {
  const databaseUrl = await postgres.createDatabase('versions');
  await withRun({ id: 'versions', seed: 1021, temporal, databaseUrl, recipients: 40, settings: patient }, async (run) => {
    const start = (buildId: string) => run.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId });
    const older = start('0.2.0');
    await makeCurrent('0.2.0');
    const newer = start('0.3.0');
    await until('both are ready', () => run.workers.every((worker) => worker.output().includes('is ready')));
    expect(newer.output()).toContain('set-current-version --deployment-name carillon --build-id 0.3.0');

    // The service holds a batch while versions change, so that the campaign cannot come to its end meanwhile.
    const { gates } = run.sandbox;
    const second = gates.set('batch_work_done', 2);
    await run.start();
    expect(await gates.waitUntilReached(second, patienceMs)).not.toBeNull();
    await makeCurrent('0.3.0');
    await untilTakenOver(run, '0.3.0');
    const third = gates.set('batch_work_done');
    await leave(run, older, second);
    expect(await gates.waitUntilReached(third, patienceMs)).not.toBeNull();
    start('0.2.0');
    await makeCurrent('0.2.0');
    await untilTakenOver(run, '0.2.0');
    await leave(run, newer, third);

    await run.untilEnd();
    await judgeRun(run);
    expect(await readVersions(run)).toEqual(['0.2.0', '0.3.0', '0.2.0']);
  });
});
