import { expect, test } from 'vitest';
import { Random } from '../../src/sandbox/core/random.ts';
import { readResults } from '../../src/ledger/read/result-rows.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { isFull } from '../support/depth.ts';
import { commitVerdict, gaps, goOn, type Gap } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, within } from '../support/until.ts';

const temporal = useSharedTemporal();

const seed = 4_711;
const kills = isFull ? 10 : 5;
const recipients = 12 * kills;

/**
 * Where a worker may die without anybody losing knowledge. Between its last commit and the service there is none: nobody can tell whether
 * such a batch was sent, so its people are a person's to decide (see worker-killed.test.ts).
 */
const places = [...gaps.filter((gap) => gap !== 'posting_committed'), 'reading'] as const;
type Place = Exclude<Gap, 'posting_committed'> | 'reading';

/** Starts a worker and kills it (SIGKILL) when it has come to this place. Answers the id of the request whose reply was lost with it. */
async function killAt(run: CampaignRun, place: Place, nth: number): Promise<string | null> {
  const { gates } = run.sandbox;
  if (place === 'reading') {
    const reads = run.toService.holdBack('GET ');
    const worker = run.startWorker();
    await within('a read is on its way', reads);
    await worker.kill();
    run.toService.drop();
    return null;
  }
  const gate = gates.set(place === 'request_received' ? 'batch_received' : 'batch_work_done', nth);
  const replied = gates.set('batch_replied', nth);
  const worker = run.startWorker();
  const met = await gates.waitUntilReached(gate, patienceMs);
  if (met?.requestId == null) throw new Error(`no batch came to ${place}\n${await run.describe()}`);
  const n = Number(met.requestId.split('/').at(-2));
  if (place === 'reply_sent') {
    await worker.freeze();
    gates.release(gate);
    await within('the reply is sent', gates.waitUntilReached(replied, patienceMs));
  }
  if (place === 'verdict_committed') await commitVerdict(run, n, gate);
  await worker.kill();
  expect((await run.batch(n))?.state).toBe(place === 'verdict_committed' ? 'confirmed' : 'posting');
  if (place === 'verdict_committed') await goOn(run);
  gates.release();
  run.toService.drop();
  run.toTemporal.drop();
  return place === 'verdict_committed' ? null : met.requestId;
}

/** What became of each row, as its person would tell it. */
async function outcomesOf(run: CampaignRun): Promise<object[]> {
  const rows: object[] = [];
  for await (const { row, outcome, reason, attempts, disposition, detail } of readResults(run.store.db, run.id))
    rows.push({ row, outcome, reason, attempts, disposition, detail });
  return rows;
}

/** Plays the same campaign to its end, with the same people behind its numbers. */
async function play(id: string, points: readonly { place: Place; nth: number }[]): Promise<object[]> {
  return withRun({ id, seed, temporal, recipients, batchSize: 4 }, async (run) => {
    await run.start();
    const lostReplies: string[] = [];
    for (const { place, nth } of points) {
      const lost = await killAt(run, place, nth);
      if (lost !== null) lostReplies.push(lost);
    }
    run.startWorker();
    await run.untilEnd();
    expect(run.workers.filter((worker) => worker.hasEnded())).toHaveLength(points.length);
    await judgeRun(run, { lostReplies });
    return outcomesOf(run);
  });
}

test(`${kills} times killed, a campaign ends with the outcomes of one that was never disturbed`, { timeout: 900_000 }, async () => {
  const random = new Random(seed, 'kills');
  const points = Array.from({ length: kills }, (_, index) => ({
    place: places[index % places.length] ?? 'reading',
    // Three batches in a row of which nobody knows would pause the campaign, so a good one lies between two.
    nth: 2 + Math.floor(random.next() * 2),
  }));
  const [calm, shaken] = await Promise.all([play('calm', []), play('shaken', points)]);
  expect(calm).toHaveLength(recipients);
  expect(shaken).toEqual(calm);
});
