import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkWebhooks } from '../../../../src/interfaces/cli/local/doctor-service.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { addTestWebhook } from '../../../shared/hooks/webhook-world.ts';
import { noon } from '../../../ledger/scenario.ts';
import { makeFolder } from '../../../temporal/fake-programs.ts';
import { checkWorkers } from '../../../../src/interfaces/cli/local/doctor-reach.ts';
import { createWorld } from '../campaign-world.ts';

const hourMs = 3_600_000;

test('doctor names webhooks that fail or are disabled, without their addresses', async () => {
  const sqlitePath = join(await makeFolder(), 'carillon.db');
  const config = readConfig({ CARILLON_DB: sqlitePath });
  expect(await checkWebhooks(config, noon)).toEqual([]);
  const change = async (work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) => {
    const store = await openStore({ sqlitePath });
    await work(store);
    await store.close();
  };
  await change((store) => addTestWebhook(store, 'https://crm.example.com/secret-path'));
  await change((store) => addTestWebhook(store, 'https://old.example.com/', { webhookId: '00c0ffee0002' }));
  expect(await checkWebhooks(config, noon)).toEqual([{ name: 'Webhooks', status: 'ok', detail: '2, none of which fails', advice: null }]);
  await change(({ db }) =>
    db
      .updateTable('webhooks')
      .set({ failures: 12, failing_since_real: noon - 3 * hourMs, failed_real: noon, fault: 'status', status: 500 })
      .where('webhook_id', '=', '00c0ffee0001')
      .execute(),
  );
  await change(({ db }) =>
    db.updateTable('webhooks').set({ state: 'disabled', reason: 'it answered 410' }).where('webhook_id', '=', '00c0ffee0002').execute(),
  );
  const [finding] = await checkWebhooks(config, noon);
  expect(finding).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('carillon webhook test 00c0ffee'),
  });
  expect(finding?.detail).toMatch(
    /^2 of 2: .*00c0ffee0001 \(crm\.example\.com\) failing for 3 h 0 min: 12 failures, the last one status 500/,
  );
  expect(finding?.detail).toContain('00c0ffee0002 (old.example.com) disabled: it answered 410');
  expect(finding?.detail).not.toContain('secret-path');
  // A pause is somebody's wish.
  await change(({ db }) => db.updateTable('webhooks').set({ state: 'paused' }).execute());
  expect(await checkWebhooks(config, noon)).toMatchObject([{ status: 'ok' }]);
});

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
