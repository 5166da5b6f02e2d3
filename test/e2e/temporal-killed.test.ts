import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DevServer } from '../../src/temporal/dev-server.ts';
import { patient, withRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { startTemporalForTests, type TestTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs } from '../support/until.ts';

let folder: string;
let temporal: TestTemporal<DevServer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-temporal-'));
  temporal = await startTemporalForTests({ dataFile: join(folder, 'temporal.db') });
});
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});

test.for([
  { n: 1, dialect: 'spec', seed: 701 },
  { n: 2, dialect: 'extended', seed: 702 },
] as const)('Temporal killed while batch $n is on its way does not stop the campaign ($dialect)', async ({ n, dialect, seed }) => {
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
