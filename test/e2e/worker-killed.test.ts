import { expect, test } from 'vitest';
import { rename, rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { withRun, patient, type CampaignRun } from '../support/campaign-run.ts';
import { isFull, someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { gaps, killInGap, leave, untilActivityRuns } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-file.ts';
import { holdAccount } from '../../src/ledger/limits/account-pace.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { lookAgainUpdate, statusQuery } from '../../workflows/messages.ts';
import { patienceMs, until } from '../support/until.ts';

const temporal = useSharedTemporal();

/** The batch at whose POST the worker dies, and what kind of service it is. */
const circumstances = [
  { n: 1, dialect: 'extended' },
  { n: 2, dialect: 'extended' },
  { n: 1, dialect: 'spec' },
  { n: 2, dialect: 'spec' },
  { n: 3, dialect: 'extended', listOrder: 'oldest_first' },
  { n: 2, dialect: 'spec', listOrder: 'oldest_first' },
] as const;

/** Each gap in each of them; where one must do, in both dialects over the gaps. */
const kills = gaps.flatMap((gap, row) =>
  circumstances.flatMap((circumstance, column) => {
    const nth = circumstances.slice(0, column).filter(({ dialect }) => dialect === circumstance.dialect).length;
    const isChosen = circumstance.dialect === (row % 2 === 0 ? 'spec' : 'extended') && nth === Math.floor(row / 2);
    return isFull || isChosen ? [{ gap, seed: 100 * (row + 1) + column, ...circumstance }] : [];
  }),
);

test.concurrent.for(kills)('a worker killed in gap $gap at batch $n ($dialect, seed $seed)', async (kill) => {
  const id = `${kill.gap}-${kill.seed}`;
  const { dialect } = kill;
  const sandbox = { dialect, ...('listOrder' in kill ? { listOrder: kill.listOrder } : {}) };
  await withRun({ id, seed: kill.seed, temporal, sandbox }, async (run) => {
    const { batchId, requestId } = await killInGap(run, kill.gap, kill.n);
    const posts = Number(requestId.slice(batchId.length + 1));
    run.startWorker();
    await run.untilEnd();

    // In this dialect a call that nobody answered leaves a record that names nobody: with the reply goes the only evidence.
    const lost = kill.gap !== 'verdict_committed';
    const neverSent = kill.gap === 'posting_committed';
    const ledger = await judgeRun(run, {
      dialect,
      lostReplies: lost ? [requestId] : [],
      destroyed: neverSent || (lost && dialect === 'spec') ? [batchId] : [],
    });
    const batch = ledger.batches.find((row) => row.batch_id === batchId);
    if (neverSent) expect(batch).toMatchObject({ state: 'held', posts });
    else
      expect(batch).toMatchObject({
        state: 'confirmed',
        posts,
        accepted_by: kill.gap === 'verdict_committed' ? 'reply' : 'evidence',
      });
  });
});

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

test.concurrent.for(
  someOf([
    { point: 'batch_work_done', seed: 612 },
    { point: 'batch_received', seed: 611 },
  ] as const),
)('a worker asked to stop at $point lets the request end and leaves nothing unknown', async ({ point, seed }) => {
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

/** What decides how long a dead worker is waited for, as it is when nobody sets it. */
const defaults = {
  SVC_CONNECT_TIMEOUT_MS: '10000',
  SVC_HEADERS_TIMEOUT_MS: '60000',
  SVC_BODY_TIMEOUT_MS: '30000',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '30000',
  CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS: '15000',
  CARILLON_COLLECT_MAX_MS: '300000',
  CARILLON_POSTING_WINDOW_MS: '60000',
  CARILLON_SUBMIT_SLACK_MS: '30000',
  CARILLON_SHORT_TIMEOUT_MS: '60000',
  CARILLON_STICKY_TIMEOUT_MS: '10000',
};

/** Without heartbeats it would be the time that a submit may take: posting window, HTTP limits and slack, more than three minutes. */
const stalledMs = 150_000;

const timing = {
  dispatchMarginMs: 600_000,
  settleMs: 600_000,
  analysisWaitMs: 900_000,
  lateDeliveryMs: 900_000,
  lateLookbackMs: 7_200_000,
  pollMs: 10_000,
  clockToleranceMs: 300_000,
  ringLimitMs: 60_000,
};

const requestsOf = (run: CampaignRun) =>
  run.sandbox.journal().flatMap(({ requestId }) => (requestId?.startsWith(`${run.id}/`) ? [requestId] : []));

test.concurrent.for(
  (
    [
      { gap: 'verdict_committed', n: 1 },
      { gap: 'verdict_committed', n: 2 },
      { gap: 'work_done', n: 1 },
      { gap: 'work_done', n: 2 },
      { gap: 'request_received', n: 2 },
    ] as const
  ).filter(({ gap, n }) => isFull || (n === 2 && gap !== 'request_received')),
)('dialling goes on soon after a worker was killed in submit $n ($gap)', async ({ gap, n }) => {
  const id = `stall-${gap}-${n}`;
  await withRun({ id, seed: 71 + n, temporal, sandbox: { speed: 1 }, settings: defaults, rules: { timing } }, async (run) => {
    await killInGap(run, gap, n);
    run.startWorker();
    const next = `${id}/1/${n + 1}/1`;
    await until(`${next} is sent`, () => requestsOf(run).includes(next), { limitMs: stalledMs });
  });
});

test('nobody is called twice when the database is set back to a copy made while a submit was pending', async () => {
  const id = 'set-back';
  // The submit of the second batch waits for its turn for seconds: time for a copy.
  const settings = { CARILLON_SUBMITS_PER_SECOND: '0.2' };
  await withRun({ id, seed: 81, temporal, settings }, async (run) => {
    const copy = `${run.sqlitePath}.copy`;
    const copied = run.untilBatch(2, ['intent']).then(() => sql`vacuum into ${sql.lit(copy)}`.execute(run.store.db));
    await killInGap(run, 'work_done', 2);
    await copied;
    for (const end of ['-wal', '-shm']) await rm(`${run.sqlitePath}${end}`, { force: true });
    await rename(copy, run.sqlitePath);
    run.startWorker();
    const handle = run.client.workflow.getHandle(campaignWorkflowId(id, 1));
    await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'LedgerOlder' } } });
    const sent = requestsOf(run);
    expect(sent).toEqual([...new Set(sent)]);
    const called = run.sandbox.calls().map(({ to }) => to);
    expect(called.length).toBeGreaterThan(8);
    expect(called).toEqual([...new Set(called)]);
  });
});
