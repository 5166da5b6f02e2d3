import { expect, test } from 'vitest';
import { readAccount } from '../../../src/ledger/limits/account-pace.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { accountId, beginProven, noon } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { listRows } from '../../ledger/edit-world.ts';
import { ConsoleWorld } from './console-world.ts';
import { holds, problem, locationOf } from '../../support/answers.ts';

const lines = { maxConcurrentCalls: 5, startsPerMinute: null, batchSize: 2, refillThreshold: 1 };

test.for(dialects)('what all campaigns share is told with what each uses, and an administrator changes it: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const begun = await beginProven(store, { rows: listRows(6), rules: { pacing: lines } });
  await begun.dial(1);
  const world = await ConsoleWorld.over(store, { SVC_BASE_URL: accountId });
  world.api.at = noon;
  holds(await world.text('/limits', 'read'), [/no limit of their own[\s\S]*2 calls/], ['/limits/change']);

  expect(locationOf(await world.submit('/limits/change', { maxConcurrentCalls: '3', keepFree: '30' }, 'admin'))).toBe('/limits');
  expect(await readAccount(store.db, accountId)).toMatchObject({ maxConcurrentCalls: 3, keepFree: 300 });
  expect(await world.text('/limits', 'read')).toMatch(/30 %[\s\S]*2 of 3 lines/);
  expect(await world.api.ask('GET /limits')).toMatchObject({
    status: 200,
    body: { accountId, maxConcurrentCalls: 3, keepFree: 0.3, pace: 1, open: 2, campaigns: [{ open: 2, allowed: 2 }] },
  });

  for (const [fields, says] of [
    [{ maxConcurrentCalls: 'many' }, /id="maxConcurrentCalls-problem"/],
    [{ maxConcurrentCalls: '3', keepFree: '100' }, /id="keepFree-problem"/],
  ] as const) {
    const refused = await world.submit('/limits/change', fields, 'admin');
    expect(refused).toMatchObject({ status: 400 });
    holds(refused.text, [says], [/request cannot be used|keepFree: /]);
  }
  expect(await readAccount(store.db, accountId)).toMatchObject({ maxConcurrentCalls: 3, keepFree: 300 });
  await world.submit('/limits/change', { maxConcurrentCalls: '', keepFree: '30' }, 'admin');
  expect(await readAccount(store.db, accountId)).toMatchObject({ maxConcurrentCalls: null, keepFree: 0 });
  expect(await world.api.ask('POST /limits', { body: { keepFree: 0.5 } })).toMatchObject(problem(422, 'no_limit_to_share'));
});

test('an administrator sets house rules, sees first what they do, and campaigns without what is required pause', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store, { rows: listRows(6), rules: { pacing: lines } });
  const world = await ConsoleWorld.over(store, { SVC_BASE_URL: accountId });
  world.api.at = noon;
  holds(await world.text('/limits', 'operate'), ['each campaign is held to its own file and the law'], ['/limits/house']);
  const bad = await world.submit('/limits/house', { rules: 'caps: "<b>' }, 'admin');
  expect(bad.status).toBe(422);
  holds(bad.text, ['house.yaml:1'], ['caps: "<b>']);
  const rules = 'caps: [{ calls: 3, within: 7d }]\nconsent: required\n';
  const trial = await world.submit('/limits/house', { rules, look: 'yes' }, 'admin');
  expect(trial.text).toMatch(/Nothing is changed yet[\s\S]*spring would pause: it has no consent/);
  expect(await world.api.body('GET /house-rules', { role: 'read' })).toEqual({ now: null, says: [], before: [] });
  expect(locationOf(await world.submit('/limits/house', { rules }, 'admin'))).toBe('/limits');
  const { body } = await world.api.ask('GET /house-rules', { role: 'read' });
  expect(body).toMatchObject({
    now: { version: 1, text: rules, setAt: new Date(noon).toISOString() },
    says: ['At most 3 calls to a number within 7 days', 'No campaign calls without consent in its file'],
  });
  expect(await world.text('/limits', 'read')).toContain('At most 3 calls to a number within 7 days.');
  expect(await world.api.ask('POST /house-rules', { body: { rules: '{}' } })).toMatchObject({
    status: 200,
    body: { changed: true, version: 2, lacking: [], notice: expect.anything() },
  });
  expect(await world.api.body('POST /house-rules', { body: { rules: '{}' } })).toMatchObject({ changed: false, version: 2 });
});
