import { expect } from 'vitest';
import { listAccountRulesVersions, readLatestAccountRules, storeAccountRules } from '../../../src/ledger/limits/house.ts';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows, dayMs, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers, waits } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import type { AccountRules } from '../../../src/rules/campaign-rules.ts';
import { test, openLedger } from '../ledger-test.ts';

type Changes = Partial<Omit<AccountRules, 'version'>>;
const set = (store: Store, changes: Changes, now = noon) => {
  const nothing = { calendar: { hours: null, closedOn: [] }, caps: [], callerLimits: null, requires: { consent: false, optOut: false } };
  return storeAccountRules(store, { text: JSON.stringify(changes), rules: { ...nothing, ...changes }, now });
};
const begin = (store: Store, id: string, rules: RulesChanges = {}) =>
  beginProven(store, { campaignId: id, rows: buildRows(numbers(3), (index) => `Guest ${index} of ${id}`), rules });

test.from(openLedger)('a tighter rule holds for what is planned already', async (store) => {
  const spring = await begin(store, 'spring');
  await spring.dial(1);
  await spring.settle(['spring/1/1', 'spring/2/1', 'spring/3/1'], 'answered', noon + minuteMs);
  const autumn = await begin(store, 'autumn');
  expect(await autumn.plan(1, noon + 10 * minuteMs)).toMatchObject({ kind: 'batch', size: 3 });
  await set(store, { caps: [{ by: 'number', calls: 1, withinMs: dayMs }] }, noon + 11 * minuteMs);
  expect(await autumn.post(1, noon + 12 * minuteMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  const due = (await autumn.recipients()).map(({ state, due_at: at }) => [state, at > noon + dayMs - minuteMs]);
  expect(due).toEqual([1, 2, 3].map(() => ['waiting', true]));
  const winter = await begin(store, 'winter');
  expect(await winter.plan(1, noon + 15 * minuteMs)).toMatchObject(waits('due'));
  // Loosened: who was put off before a first call is looked at again.
  await set(store, { caps: [{ by: 'number', calls: 2, withinMs: dayMs }] }, noon + 20 * minuteMs);
  expect(await winter.dial(1, noon + 21 * minuteMs)).toHaveLength(3);
});

test('hours of the house close what those of the campaign leave open, and the lower limit of a number holds', async (dialect) => {
  const store = await openLedger(dialect);
  const limits = { perHour: 3, perDay: null };
  const spring = await begin(store, 'spring', { callers: { numbers: ['pn_main'], choice: 'region', limits } });
  // Noon in London: seven in New York, where they are.
  await set(store, { calendar: { hours: { tue: [{ from: 480, to: 1200 }] }, closedOn: [] } });
  expect(await spring.plan(1)).toMatchObject(waits('due'));
  const opens = noon + hourMs;
  await set(store, { callerLimits: { perHour: 2, perDay: null } }, opens);
  expect(await spring.dial(1, opens)).toHaveLength(2);
  expect(await spring.plan(2, opens + minuteMs)).toMatchObject(waits('caller_limit'));
});

test.from(openLedger)('a campaign without what is required calls nobody more, and pauses', async (store) => {
  const spring = await begin(store, 'spring');
  await spring.plan(1);
  expect(await set(store, { requires: { consent: true, optOut: false } }, noon + minuteMs)).toMatchObject({ version: 1, changed: true });
  expect(await spring.post(1, noon + 2 * minuteMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await spring.batch(1)).toMatchObject({ reason: 'house_rules', posts: 0 });
  expect(await spring.plan(2, noon + 3 * minuteMs)).toMatchObject(waits('paused'));
  const { state, stateReason } = (await findCampaign(store.db, 'spring')) ?? {};
  expect([state, stateReason]).toEqual(['paused', expect.stringMatching(/^version 1 of the house rules requires consent, and/)]);
});

test.both.from(openLedger)('each change is a version, the same again is none, and lifting leaves nothing', async (store) => {
  const caps = [{ by: 'number' as const, calls: 3, withinMs: dayMs }];
  expect(await set(store, {})).toMatchObject({ version: 0, changed: false });
  expect(await set(store, { caps })).toMatchObject({ version: 1, changed: true });
  expect(await set(store, { caps }, noon + 1)).toMatchObject({ version: 1, changed: false });
  expect(await readLatestAccountRules(store.db)).toMatchObject({ version: 1, caps });
  expect(await set(store, {}, noon + 2)).toMatchObject({ version: 2, changed: true });
  expect(await readLatestAccountRules(store.db)).toBeNull();
  expect((await listAccountRulesVersions(store.db)).map(({ version, setAt }) => [version, setAt])).toEqual([[2, noon + 2], [1, noon]]); // prettier-ignore
});
