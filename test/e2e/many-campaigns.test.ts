import { test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { withRun } from '../support/campaign-run.ts';
import { untilActivityRuns } from '../support/kill-gaps.ts';
import { plantList } from '../support/planted-list.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';

const temporal = useSharedTemporal();

const campaigns = 200;

test('of 200 campaigns on one worker each is collected for at the same time: none waits until another has done', async () => {
  // So slow that nothing ends while this looks on.
  const slow = { sandbox: { speed: 0.1 }, settings: { CARILLON_COLLECT_MAX_MS: '300000' } };
  await withRun({ id: 'many-0', seed: 1201, temporal, recipients: 1, ...slow }, async (run) => {
    run.startWorker();
    await run.start();
    const { rows } = plantList(1202, campaigns - 1);
    const ids = rows.map((row, index) => ({
      id: `many-${index + 1}`,
      list: { ...run.list, rows: [{ ...row, row: 1 }] },
    }));
    for (const { id, list } of ids) await run.startAnother(id, list);
    for (const id of ['many-0', ...ids.map(({ id }) => id)]) await untilActivityRuns(run, campaignWorkflowId(id, 1), 'collect');
    // A campaign is collected for while its first batch is on its way.
    await until('every campaign has its call', () => run.sandbox.calls().length === campaigns);
  });
});
