import { rename, rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { isFull } from '../support/depth.ts';
import { killInGap } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';

const temporal = useSharedTemporal();

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
  ).filter(({ n }) => isFull || n === 2),
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
