import { expect, test } from 'vitest';
import { endCampaign } from '../../../../src/ledger/rows/campaigns.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { beginProven, noon } from '../../../ledger/scenario.ts';
import { createWorld, numberAt, proven, until, useSharedWorld, type CampaignWorld } from '../campaign-world.ts';

const workingWorld = useSharedWorld();

function callsTo(world: CampaignWorld, numbers: readonly string[]): number[] {
  return world.sandbox.calls().flatMap(({ to, nth }) => (numbers.includes(to) ? [nth] : []));
}

async function statusOf(world: CampaignWorld): Promise<Record<string, unknown>> {
  return JSON.parse((await world.run('status', world.id, '--json')).stdout) as Record<string, unknown>;
}

test('a lost batch is decided on by a person, not too early, and redialled in the next round', async () => {
  const numbers = [0, 1, 2].map(numberAt);
  const world = workingWorld();
  world.sandbox.addFaults({ operation: 'batch_calls', nth: 1, effect: { type: 'reset', when: 'before' } });
  const yaml = ['advanced: { late_delivery: 3h }', 'retry: { max_attempts: 1 }'];
  expect(await world.run('start', world.writeCampaign({ rows: 3, yaml }))).toMatchObject({ code: 0 });
  await until(async () => ((await statusOf(world))['batches'] as Record<string, number>)['unknown'] === 1);
  const unasked = await world.run('resolve', world.id, '--redial');
  expect(unasked).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/cannot ask for confirmation\. Nothing was changed; run again with --yes/),
  });
  const early = await world.run('resolve', world.id, '--redial', '--yes');
  expect(early).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/No recipient .* is unresolved yet.*\n1 batch cannot be decided about yet.*Try again after 20/),
  });

  await world.sandbox.advance(3 * 3_600_000);
  await until(async () => (await statusOf(world))['state'] === 'completed');
  expect(await statusOf(world)).toMatchObject({ unresolved: 3, outcomes: { unresolved: 3 } });
  expect(callsTo(world, numbers)).toEqual([]);
  expect((await world.run('status', world.id)).stdout).toMatch(/3 rows unresolved: .*--redial.*--give-up/s);

  const redial = await world.run('resolve', world.id, '--redial', '--yes');
  expect(redial.stderr).toMatch(/called twice/);
  expect(redial).toMatchObject({
    code: 0,
    stdout: `3 recipients of campaign ${world.id} will be dialled again. Round 2 has been started: carillon status ${world.id}\n`,
  });
  await until(async () => (await statusOf(world))['state'] === 'completed');
  expect(await statusOf(world)).toMatchObject({ unresolved: 0, round: 2, done: 3 });
  expect(callsTo(world, numbers)).toEqual([1, 1, 1]);
  expect(await world.run('verify', world.id)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^verify: every promise was kept \(\d+ events of 1 campaign with \d+ calls\)\nok {4}no request repeats/),
  });
});

test('while a campaign drains, and for one of another service, nobody is redialled; who is given up stays unresolved', async () => {
  const world = await createWorld();
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const scenario = await beginProven(store);
  await scenario.plan(1);
  await scenario.post(1);
  await scenario.verdict(1, 'unknown');
  await scenario.sweep(noon + 3_600_000);
  await endCampaign(store, { campaignId: 'spring', now: noon + 3_600_000 }, { why: 'drained' });
  const refusals = [
    await world.run('resolve', 'spring', '--redial', '--yes'),
    await world.run('retry', 'spring', '--outcome', 'unresolved', '--yes'),
  ];
  for (const refused of refusals)
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Campaign spring was started against the service at http://service,'),
    });
  await store.db.updateTable('campaigns').set({ account_id: world.sandbox.url }).execute();
  const draining = await world.run('resolve', 'spring', '--redial', '--yes');
  expect(draining).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/Campaign spring is draining: nobody is dialled, so its rows stay unresolved\./),
  });
  expect(await scenario.batch(1)).toMatchObject({ state: 'held' });
  await store.close();

  const giveUp = (...flags: string[]) => world.run('resolve', 'spring', '--give-up', ...flags);
  const { total } = JSON.parse((await world.run('status', 'spring', '--json')).stdout) as { total: number };
  expect(await giveUp()).toMatchObject({
    code: 0,
    stdout: `${total} recipients of campaign spring stay unresolved; the decision is on record.\n`,
  });
  expect((await giveUp()).stdout).toMatch(/No recipient .* is unresolved\.\n/);
  const again = { campaignId: 'spring', decision: 'give_up', recipients: 0, openGivenUp: 0 };
  expect(JSON.parse((await giveUp('--json')).stdout)).toMatchObject(again);
  expect((await world.run('results', 'spring', '--output', '-')).stdout.match(/,unresolved,given_up,/g)).toHaveLength(total);
});

test('open calls can be given up, but not while records are still read', async () => {
  const world = await createWorld({ speed: 1 });
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const now = Math.round(world.sandbox.clock.now());
  const spring = await beginProven(store, { now });
  await spring.dial(1, now);
  await spring.sweep(now, [], false);
  const giveUp = () => world.run('resolve', 'spring', '--give-up', '--open');
  expect(await giveUp()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Nothing was given up: .* ago, so results may still come/),
  });
  await world.sandbox.advance(2 * 3_600_000);
  expect(await giveUp()).toMatchObject({ code: 0 });
  const { total, ...status } = JSON.parse((await world.run('status', 'spring', '--json')).stdout) as Record<string, unknown>;
  expect(status).toMatchObject({ outcomes: { unresolved: total }, open: 0 });
  expect((await world.run('results', 'spring', '--output', '-')).stdout.match(/,unresolved,given_up,/g)).toHaveLength(Number(total));
  await store.close();
});

test('it must be said which', async () => {
  const world = workingWorld();
  expect(await world.run('resolve', 'any')).toMatchObject({ code: 2, stderr: expect.stringContaining('--give-up') });
  expect(await world.run('resolve', 'any', '--redial', '--give-up')).toMatchObject({ code: 2 });
  expect(await world.run('resolve', 'any', '--redial', '--open')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--open goes with --give-up only'),
  });
});

test('rows that were not reached are called again in a new round, and others never are', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({
    lines: ['+12125550100,Ana', '+12125550101,Ben'],
    yaml: ['retry: { max_attempts: 1 }'],
  });
  await world.run('start', path);
  await until(async () => (await statusOf(world))['state'] === 'completed');
  expect(await world.run('retry', world.id, '--outcome', 'completed')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('rows that are completed are never called again'),
  });
  expect(await world.run('retry', world.id, '--outcome', 'cancelled', '--yes')).toMatchObject({
    code: 0,
    stdout: `No row of campaign ${world.id} is cancelled; nothing was started.\n`,
  });
  expect(await world.run('retry', world.id, '--outcome', 'exhausted,expired', '--yes')).toMatchObject({
    code: 0,
    stdout: `1 row of campaign ${world.id} will be called again. Round 2 has been started: carillon status ${world.id}\n`,
  });
  await until(async () => (await statusOf(world))['state'] === 'completed');
  expect(callsTo(world, ['+12125550100', '+12125550101'])).toEqual([1, 1, 2]);
  expect(callsTo(world, ['+12125550101'])).toEqual([1, 2]);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});
