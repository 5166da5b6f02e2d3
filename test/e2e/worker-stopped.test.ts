import { expect, test } from 'vitest';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-dialect.ts';
import { holdAccount } from '../../src/ledger/limits/account-pace.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { lookAgainUpdate, statusQuery } from '../../workflows/messages.ts';
import { patient, withRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { leave, untilActivityRuns } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';

const temporal = useSharedTemporal();

test.concurrent.for(someOf([601, 602]))(
  'a worker killed when a batch is planned but not reported leaves it to the next one (seed %d)',
  async (seed) => {
    const id = `planned-${seed}`;
    // Nobody waits for the plan's time to be up: its heartbeats stop.
    const settings = { ...patient, CARILLON_SHORT_TIMEOUT_MS: '600000', CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS: '4000' };
    await withRun({ id, seed, temporal, sandbox: { dialect: 'spec' }, settings }, async (run) => {
      const workflowId = campaignWorkflowId(id, 1);
      await run.start();
      // The planner waits, with the numbers already looked at, until the account may be used.
      const { accountId = '' } = (await findCampaign(run.store.db, id)) ?? {};
      await run.store.transaction((tx) => holdAccount(tx, accountId, Date.now() + 1_000 * 3_600_000));
      const first = run.startWorker();
      const handle = run.client.workflow.getHandle(workflowId);
      await until('the planner waits', async () => (await handle.query(statusQuery).catch(() => null))?.waitingFor === 'blocked');
      await run.store.db.updateTable('accounts').set({ not_before: 0 }).execute();
      // Planning needs the database's write lock.
      const lock = openSqliteFile(run.sqlitePath);
      lock.prepare('begin immediate').run([]);
      await handle.executeUpdate(lookAgainUpdate);
      await untilActivityRuns(run, workflowId, 'plan');
      run.toTemporal.freeze();
      lock.prepare('rollback').run([]);
      lock.close();
      await run.untilBatch(1, ['intent']);
      await first.kill();
      expect(run.sandbox.calls()).toEqual([]);
      expect(await run.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
      run.toTemporal.drop();
      run.startWorker();
      await run.untilEnd();
      const ledger = await judgeRun(run, { dialect: 'spec' });
      expect(ledger.batches.find((row) => row.n === 1)).toMatchObject({ state: 'confirmed', accepted_by: 'reply' });
    });
  },
);

test.concurrent.for([
  { point: 'batch_received', seed: 611 },
  { point: 'batch_work_done', seed: 612 },
] as const)('a worker asked to stop at $point lets the request end and leaves nothing unknown', async ({ point, seed }) => {
  const id = `sigterm-${seed}`;
  await withRun({ id, seed, temporal, settings: patient }, async (run) => {
    const gate = run.sandbox.gates.set(point, 2);
    const first = run.startWorker();
    await run.start();
    expect(await run.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    await leave(run, first, gate);
    expect(await run.batch(2)).toMatchObject({ state: 'confirmed', accepted_by: 'reply' });
    run.startWorker();
    await run.untilEnd();
    const ledger = await judgeRun(run);
    expect(ledger.attempts.filter((row) => row.disposition === 'unknown')).toEqual([]);
    expect(ledger.posts.map((row) => row.verdict)).not.toContain('unknown');
  });
});
