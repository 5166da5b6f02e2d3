import { afterAll, beforeAll, expect, test } from 'vitest';
import { patient, withRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { connectSharedTemporal, type TestTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs } from '../support/until.ts';

let temporal: TestTemporal;
let postgres: PostgresServer;

beforeAll(async () => {
  [temporal, postgres] = await Promise.all([connectSharedTemporal(), startPostgresServer({ hasArchive: true })]);
});
afterAll(async () => {
  await temporal.stop();
  await postgres.stop();
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
