import { expect, test } from 'vitest';
import { writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { createLedger } from './campaign-ledger.ts';

test('status says when nobody is dialled because clocks are too far apart', async () => {
  const ledger = await createLedger();
  const setApart = (clocksApartMs: number) =>
    ledger.change((store) => store.transaction((tx) => writeAccount(tx, 'http://service', { clocks_apart_ms: clocksApartMs })));
  await setApart(420_000);
  const { stdout } = await ledger.run('status', 'spring');
  expect(stdout).toContain("Clocks    the service's is 7 min ahead of a worker's: nobody is dialled until they agree");
  await setApart(0);
  expect((await ledger.run('status', 'spring')).stdout).not.toContain('Clocks');
});
