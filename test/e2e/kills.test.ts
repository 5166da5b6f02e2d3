import { expect, test } from 'vitest';
import { rename, rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { Random } from '../../src/sandbox/core/random.ts';
import { holdAccount } from '../../src/ledger/limits/account-pace.ts';
import { readResults } from '../../src/ledger/read/result-rows.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-file.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { lookAgainUpdate, statusQuery } from '../../workflows/messages.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { isFull } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { gaps, killInGap, killWorkerIn, untilActivityRuns, type Gap } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until, within } from '../support/until.ts';

const temporal = useSharedTemporal();

/**
 * Where a worker may die without anybody losing knowledge. Between its last commit and the service there is none: nobody can tell whether
 * such a batch was sent, so its people are a person's to decide.
 */
const places = [...gaps.filter((gap) => gap !== 'posting_committed'), 'reading'] as const;
type Place = Exclude<Gap, 'posting_committed'> | 'reading';

async function killReader(run: CampaignRun): Promise<void> {
  const reads = run.toService.holdBack('GET ');
  const worker = run.startWorker();
  await within('a read is on its way', reads);
  await worker.kill();
  run.toService.drop();
}

/** Plays a campaign of the same people to its end. Answers what became of each row, as its person would tell it. */
async function play(id: string, seed: number, kills: readonly { place: Place; nth: number }[]): Promise<object[]> {
  return withRun({ id, seed, temporal, recipients: 60, batchSize: 4 }, async (run) => {
    await run.start();
    const lostReplies: string[] = [];
    const confirmed: object[] = [];
    for (const { place, nth } of kills) {
      if (place === 'reading') {
        await killReader(run);
        continue;
      }
      const { batchId, requestId } = await killWorkerIn(run, place, nth);
      const isLost = place !== 'verdict_committed';
      if (isLost) lostReplies.push(requestId);
      confirmed.push({ batch_id: batchId, state: 'confirmed', accepted_by: isLost ? 'evidence' : 'reply' });
    }
    run.startWorker();
    await run.untilEnd();
    expect(run.workers.filter((worker) => worker.hasEnded())).toHaveLength(kills.length);
    const { batches } = await judgeRun(run, { lostReplies });
    expect(batches).toEqual(expect.arrayContaining(confirmed.map((batch) => expect.objectContaining(batch) as unknown)));
    const rows: object[] = [];
    for await (const { row, outcome, reason, attempts, disposition, detail } of readResults(run.store.db, id))
      rows.push({ row, outcome, reason, attempts, disposition, detail });
    return rows;
  });
}

test.concurrent('killed at each place, a campaign ends with the outcomes of one that was never disturbed', async () => {
  const seed = 4_711;
  const random = new Random(seed, 'kills');
  const rounds = isFull ? 2 : 1;
  const kills = Array.from({ length: rounds }, () => places)
    .flat()
    // Three batches in a row of which nobody knows would pause the campaign, so a good one lies between two.
    .map((place) => ({ place, nth: 2 + Math.floor(random.next() * 2) }));
  const [calm, shaken] = await Promise.all([play('calm', seed, []), play('shaken', seed, kills)]);
  expect(calm).toHaveLength(60);
  expect(shaken).toEqual(calm);
});

/** Kills a worker after it has committed its first batch, of which it has told nobody. */
async function killPlanner(run: CampaignRun): Promise<void> {
  // The planner waits, with the numbers already looked at, until the account may be used.
  const { accountId = '' } = (await findCampaign(run.store.db, run.id)) ?? {};
  await run.store.transaction((tx) => holdAccount(tx, accountId, Date.now() + 1_000 * 3_600_000));
  const worker = run.startWorker();
  const workflowId = campaignWorkflowId(run.id, 1);
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
  await worker.kill();
  expect(run.sandbox.calls()).toEqual([]);
  expect(await run.batch(1)).toMatchObject({ state: 'intent', posts: 0 });
  run.toTemporal.drop();
}

test.concurrent('workers that die over a plan and over requests are missed by their heartbeats alone', async () => {
  const id = 'missed';
  // Whatever else ends an activity takes longer than this test may.
  const settings = { CARILLON_SHORT_TIMEOUT_MS: '900000', CARILLON_SUBMIT_SLACK_MS: '900000' };
  await withRun({ id, seed: 601, temporal, sandbox: { dialect: 'spec' }, recipients: 40, settings }, async (run) => {
    await run.start();
    await killPlanner(run);
    // In this dialect a call that nobody answered leaves a record that names nobody: with the reply goes the only evidence.
    const lost = [await killWorkerIn(run, 'work_done', 2), await killWorkerIn(run, 'posting_committed', 2)];
    run.startWorker();
    await run.untilEnd();
    const { batches } = await judgeRun(run, {
      dialect: 'spec',
      lostReplies: lost.map(({ requestId }) => requestId),
      destroyed: lost.map(({ batchId }) => batchId),
    });
    const of = (batchId = '') => batches.find((row) => row.batch_id === batchId);
    expect(of(`${id}/1/1`)).toMatchObject({ state: 'confirmed', accepted_by: 'reply' });
    expect(of(lost[0]?.batchId)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
    expect(of(lost[1]?.batchId)).toMatchObject({ state: 'held', posts: 1 });
  });
});

/** The batch at whose POST the worker dies, and what kind of service it is. */
const circumstances = [
  { n: 1, dialect: 'extended' },
  { n: 2, dialect: 'extended' },
  { n: 1, dialect: 'spec' },
  { n: 2, dialect: 'spec' },
  { n: 3, dialect: 'extended', listOrder: 'oldest_first' },
  { n: 2, dialect: 'spec', listOrder: 'oldest_first' },
] as const;

/** Each gap in each of them, as campaigns of their own. */
const kills = gaps.flatMap((gap, row) =>
  circumstances.map((circumstance, column) => ({ gap, seed: 100 * (row + 1) + column, ...circumstance })),
);

test.concurrent.for(isFull ? kills : [])('a worker killed in gap $gap at batch $n ($dialect, seed $seed)', async (kill) => {
  const { gap, seed, n, dialect } = kill;
  const sandbox = { dialect, ...('listOrder' in kill ? { listOrder: kill.listOrder } : {}) };
  await withRun({ id: `${gap}-${seed}`, seed, temporal, sandbox }, async (run) => {
    const { batchId, requestId } = await killInGap(run, gap, n);
    run.startWorker();
    await run.untilEnd();
    const lost = gap !== 'verdict_committed';
    const isHeld = gap === 'posting_committed';
    const ledger = await judgeRun(run, {
      dialect,
      lostReplies: lost ? [requestId] : [],
      destroyed: isHeld || (lost && dialect === 'spec') ? [batchId] : [],
    });
    expect(ledger.batches.find((row) => row.batch_id === batchId)).toMatchObject({
      state: isHeld ? 'held' : 'confirmed',
      posts: Number(requestId.slice(batchId.length + 1)),
      ...(isHeld ? {} : { accepted_by: lost ? 'evidence' : 'reply' }),
    });
  });
});

test.concurrent('nobody is called twice when the database is set back to a copy made while a submit was pending', async () => {
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
    const sent = run.sandbox.journal().flatMap(({ requestId }) => (requestId?.startsWith(`${id}/`) ? [requestId] : []));
    expect(sent).toEqual([...new Set(sent)]);
    const called = run.sandbox.calls().map(({ to }) => to);
    expect(called.length).toBeGreaterThan(8);
    expect(called).toEqual([...new Set(called)]);
  });
});
