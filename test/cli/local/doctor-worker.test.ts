import { expect, test } from 'vitest';
import { checkWorkers } from '../../../src/cli/local/doctor-reach.ts';
import { readConfig } from '../../../src/config.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { createWorld } from '../campaign-world.ts';

test('doctor looks for workers of this database', async () => {
  const world = await createWorld();
  const config = readConfig(world.env);
  expect(await checkWorkers(config, Date.now())).toEqual([]);
  await (await openStore({ sqlitePath: config.CARILLON_DB })).close();
  expect(await checkWorkers(config, Date.now())).toMatchObject([
    { name: 'Worker', status: 'warning', advice: expect.stringContaining('carillon worker') as string },
  ]);
  await world.work();
  expect(await checkWorkers(config, Date.now())).toMatchObject([{ name: 'Worker', status: 'ok' }]);
  // Who is down is told elsewhere.
  expect(await checkWorkers({ ...config, TEMPORAL_ADDRESS: '127.0.0.1:1' }, Date.now())).toEqual([]);
});
