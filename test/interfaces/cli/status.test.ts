import { expect, test } from 'vitest';
import { checkNumbers } from '../../../src/campaign/preflight/caller-check.ts';
import { connectService } from '../../../src/service/registry.ts';
import { noteCallers } from '../../../src/ledger/limits/callers.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { noteCallerProven } from '../../../src/ledger/campaign/rounds.ts';
import { Scenario } from '../../ledger/scenario.ts';
import { createWorld } from './campaign-world.ts';
import { writeAccount } from '../../../src/ledger/limits/account-pace.ts';
import { createLedger } from './campaign-ledger.ts';

test('status tells what became of each number, of one that may not call as well', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({ yaml: ['from_phone_number_id: [pn_main, pn_second, pn_unverified]'] });
  expect(await world.run('start', path, '--no-check')).toMatchObject({ code: 0 });

  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const scenario = new Scenario(store, world.id);
  const campaign = await scenario.campaign();
  const { accountId } = campaign;
  const service = connectService({ baseUrl: accountId, apiKey: 'sk_sandbox_ok' });
  const { numbers } = await checkNumbers(service, campaign.rules.callers.numbers);
  await service.close();
  const checkedAt = Math.round(world.sandbox.clock.now());
  await noteCallers(store, campaign, { standings: numbers, faults: null, now: checkedAt });
  await noteCallerProven(store, world.id);
  await scenario.dial(1, checkedAt);
  await store.close();

  const status = JSON.parse((await world.run('status', world.id, '--json')).stdout) as { callers: unknown };
  const seen = { checkedAt: new Date(checkedAt).toISOString() };
  expect(status.callers).toEqual([
    { phoneNumberId: 'pn_main', state: 'in', reason: null, calls: 6, ...seen },
    { phoneNumberId: 'pn_second', state: 'in', reason: null, calls: 0, ...seen },
    { phoneNumberId: 'pn_unverified', state: 'out', reason: 'not_verified', calls: 0, ...seen },
  ]);
  expect((await world.run('status', world.id)).stdout).toMatch(
    /Numbers +pn_main +6 calls\n +pn_second +0 calls\n +pn_unverified +0 calls, OUT: is not verified\n/,
  );
});

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

test('the interface of a campaign is always there for programs; people are told of another than the contract', async () => {
  const ledger = await createLedger();
  const told = async () => ({
    list: (await ledger.run('status')).stdout,
    one: (await ledger.run('status', 'spring')).stdout,
    lists: (JSON.parse((await ledger.run('status', '--json')).stdout) as { campaigns: unknown[] }).campaigns,
    json: JSON.parse((await ledger.run('status', 'spring', '--json')).stdout) as unknown,
  });
  const contract = await told();
  expect([contract.lists[0], contract.json]).toMatchObject([{ api: 'contract' }, { api: 'contract' }]);
  expect(contract.list + contract.one).not.toMatch(/Interface|contract/);
  await ledger.change((store) => store.db.updateTable('campaigns').set({ api: 'campaigns' }).execute());
  const published = await told();
  expect([published.lists[0], published.json]).toMatchObject([{ api: 'campaigns' }, { api: 'campaigns' }]);
  expect(published.list).toMatch(/^spring .*, through campaigns\n$/);
  expect(published.one).toMatch(/^Interface campaigns$/m);
});
