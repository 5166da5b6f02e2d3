import { expect, test } from 'vitest';
import { withRun } from '../support/campaign-run.ts';
import { isFull } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { gaps, killInGap } from '../support/kill-gaps.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';

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

/** Each gap in each of them; where one must do, in the dialect that postgres.test.ts does not have there. */
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
    const posts = await killInGap(run, kill.gap, kill.n);
    run.startWorker();
    await run.untilEnd();

    const batchId = `${id}/1/${kill.n}`;
    // In this dialect a call that nobody answered leaves a record that names nobody: with the reply goes the only evidence.
    const lost = kill.gap !== 'verdict_committed';
    const neverSent = kill.gap === 'posting_committed';
    const ledger = await judgeRun(run, {
      dialect,
      lostReplies: lost ? [`${batchId}/${posts}`] : [],
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
