import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { startFaultyWay } from '../support/faulty-way.ts';
import { bothDialects, emptyDatabase } from './test-stores.ts';

test.runIf(bothDialects.includes('postgres'))(
  'a connection that falls silent is given up, and the next transaction has another one',
  async () => {
    const location = await emptyDatabase('postgres');
    const url = new URL(location.databaseUrl ?? '');
    const way = await startFaultyWay(Number(url.port));
    onTestFinished(() => way.close());
    url.port = String(way.port);
    await (await openStore(location)).close();
    const store = await openStore({ ...location, databaseUrl: url.href, longestSilenceMs: 400 });
    onTestFinished(() => store.close());
    const count = () => store.transaction((tx) => tx.selectFrom('campaigns').select('campaign_id').execute());
    expect(await count()).toEqual([]);

    way.forget();
    await expect(count()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(await count()).toEqual([]);
    way.forget();
    await expect(store.db.selectFrom('campaigns').select('campaign_id').execute()).rejects.toThrow(/silent for 0.4 s/);
    expect(await count()).toEqual([]);
  },
);
