import { expect, test } from 'vitest';
import { readLimits } from '../../../src/ledger/limits/adjustments.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven } from '../../ledger/scenario.ts';
import { ConsoleWorld, hiddenFields } from './console-world.ts';

const path = '/campaigns/spring/limits';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2, startsPerMinute: 40 } } });
  const limits = async () => (await readLimits(store.db, 'spring'))?.now;
  return { store, scenario, limits, console: await ConsoleWorld.over(store) };
}

/** What stands in the fields of the form, as a browser sends it. */
const typed = { maxConcurrentCalls: '50', startsPerMinute: '40', batchSize: '2', priority: '10' };

test('the form says what is on the line and allowed, and what it changes holds from the next batch on', async () => {
  const { console, scenario, limits } = await openWorld();
  await scenario.dial(1);
  const form = await console.get(path);
  expect(form.text).toContain('2 calls may be on the line now, and 50 are allowed.');
  expect(form.text).toContain('A limit below 2 ends none of them');
  const done = await console.submit(path, { ...typed, maxConcurrentCalls: '7', startsPerMinute: '' });
  expect(done).toMatchObject({ status: 303, headers: { location: '/campaigns/spring' } });
  expect(await limits()).toMatchObject({ maxConcurrentCalls: 7, startsPerMinute: null, batchSize: 2 });
  expect((await console.get(path)).text).toMatch(/id="limit-maxConcurrentCalls"[\s\S]*?>7<[\s\S]*?>50</);
  await console.submit(path, { ...typed, reset: 'yes' });
  expect(await limits()).toMatchObject({ maxConcurrentCalls: 50, startsPerMinute: 40 });
});

test('a form of yesterday changes only what was changed in it: the limits of somebody else stay', async () => {
  const { console, limits } = await openWorld();
  const old = hiddenFields((await console.get(path)).text);
  await console.submit(path, { ...typed, batchSize: '9' }, 'admin');
  expect(await console.post(path, { ...old, ...typed, priority: '20' })).toMatchObject({ status: 303 });
  expect(await limits()).toMatchObject({ batchSize: 9, priority: 20 });
});

test('what is no limit is refused in the words of the API, and stays in its field', async () => {
  const { console, limits } = await openWorld();
  const before = await limits();
  for (const startsPerMinute of ['many', '-1', '1.5', '0']) {
    const refused = await console.submit(path, { ...typed, startsPerMinute });
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/role="alert">[^<]*startsPerMinute/);
    expect(refused.text).toContain(`value="${startsPerMinute}"`);
  }
  expect((await console.submit(path, typed)).text).toMatch(/role="alert">[^<]*names no limit/);
  expect(await limits()).toEqual(before);
});

test('the limits of a campaign that has ended are told, with who acted last, and not offered', async () => {
  const { console, store, limits } = await openWorld();
  const old = hiddenFields((await console.get(path)).text);
  await console.submit(path, { ...typed, priority: '20' }, 'admin');
  await store.db.updateTable('campaigns').set({ state: 'completed' }).where('campaign_id', '=', 'spring').execute();
  const shown = await console.get(path);
  expect(shown.status).toBe(409);
  expect(shown.text).toMatch(/no pace to change now\. Last changed by admin console: adjust/);
  expect(shown.text).not.toContain('<form class="act"');
  const refused = await console.post(path, { ...old, ...typed, priority: '30' });
  expect(refused.status).toBe(409);
  expect(refused.text).toMatch(/role="alert">[^<]*no pace to change[^<]*Last changed by admin console: adjust/);
  expect(await limits()).toMatchObject({ priority: 20 });
});

test('whoever may only look changes no limit', async () => {
  const { console, limits } = await openWorld();
  const before = await limits();
  expect((await console.get('/campaigns/spring', 'read')).text).not.toContain(path);
  expect(await console.get(path, 'read')).toMatchObject({ status: 403 });
  expect(await console.post(path, { key: 'k', ...typed, priority: '20', 'was-priority': '10' }, 'read')).toMatchObject({
    status: 403,
  });
  expect(await limits()).toEqual(before);
});
