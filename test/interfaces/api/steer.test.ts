import { expect, test } from 'vitest';
import { readMarks } from '../../../src/ledger/events.ts';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven } from '../../ledger/scenario.ts';
import { ApiWorld } from './api-world.ts';

const spring = 'POST /api/v1/campaigns/spring';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  return { scenario, store, world: await ApiWorld.over(store) };
}

test('a pause holds at once, without Temporal, and says that the workflow was not told', async () => {
  const { world, store } = await openWorld();
  const paused = await world.ask(`${spring}/pause`, { role: 'operate' });
  expect(paused).toMatchObject({
    status: 200,
    body: { state: 'paused', notice: expect.stringMatching(/no Temporal/) },
  });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
  // What takes Temporal fails outside, and may be asked for again under its key.
  expect(await world.ask(`${spring}/resume`, { key: 'r1' })).toMatchObject({ status: 500 });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
});

test('what was decided about another round is refused with who changed the campaign last, and the round goes on', async () => {
  const { world, store } = await openWorld();
  await world.ask(`${spring}/adjust`, { role: 'operate', body: { maxConcurrentCalls: 7 } });
  await store.db.updateTable('campaigns').set({ round: 2 }).where('campaign_id', '=', 'spring').execute();
  for (const wish of ['pause', 'resume', 'drain', 'cancel']) {
    const refused = await world.ask(`${spring}/${wish}`, { body: { round: 1 } });
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'wrong_state',
        detail: expect.stringMatching(/^Campaign spring is in round 2 now\. This was meant for round 1/),
        lastChange: { name: 'operate console', action: 'adjust', at: '2030-01-15T12:00:00.000Z' },
      },
    });
  }
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running' });
  expect(await world.ask(`${spring}/pause`, { body: { round: 2 } })).toMatchObject({ status: 200 });
});

test('limits are changed within the bounds of the campaign file, and restored', async () => {
  const { world } = await openWorld();
  const changed = await world.ask(`${spring}/adjust`, { body: { maxConcurrentCalls: 7, startsPerMinute: 30 } });
  // What was not named stays as it was, whatever a campaign file that leaves it out would mean.
  expect(changed.body.limits).toEqual({ ...changed.body.file, maxConcurrentCalls: 7, startsPerMinute: 30 });
  const restored = await world.ask(`${spring}/adjust`, { body: { reset: true } });
  expect(restored.body.limits).toEqual(restored.body.file);
  expect(await world.ask(`${spring}/adjust`, { body: {} })).toMatchObject({ status: 400, body: { code: 'invalid' } });
  expect(await world.ask(`${spring}/adjust`, { body: { maxConcurrentCalls: 0 } })).toMatchObject({ status: 400 });
  expect(await world.ask(`${spring}/adjust`, { role: 'read', body: { reset: true } })).toMatchObject({ status: 403 });
});

test('waiting rows are withdrawn, open ones stay, and a dry run changes nothing', async () => {
  const { world, scenario, store } = await openWorld();
  await scenario.dial(1);
  const rows = { rows: [1, 3, 99] };
  const dry = await world.ask(`${spring}/withdraw`, { body: { ...rows, dryRun: true } });
  expect(dry.body).toMatchObject({ dryRun: true, withdrawn: 1 });
  expect((await scenario.recipients()).filter(({ outcome }) => outcome === 'cancelled')).toHaveLength(0);
  const acted = async () => (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  expect(await acted()).toEqual([]);
  const done = await world.ask(`${spring}/withdraw`, { body: { ...rows, reason: 'moved away' } });
  expect(done.body).toMatchObject({
    withdrawn: 1,
    left: [{ key: 1, row: 1, why: 'call_open' }, { key: 99, row: null, why: 'not_found' }],
  }); // prettier-ignore
  expect(await acted()).toMatchObject([{ data: { action: 'withdraw' } }]);
  expect((await scenario.recipients()).flatMap(({ outcome, row_number: row }) => (outcome === null ? [] : [row]))).toEqual([3]);
  expect(await world.ask(`${spring}/withdraw`, { body: { ids: ['A1'] } })).toMatchObject({
    status: 409,
    body: { code: 'edit_refused' },
  });
  expect(await world.ask(`${spring}/withdraw`, { body: { ids: ['A1'], rows: [1] } })).toMatchObject({ status: 400 });
});

test('rows of a campaign that runs are not retried, and what is said of it is a conflict', async () => {
  const { world } = await openWorld();
  const answer = await world.ask(`${spring}/retry`, { body: { outcomes: ['exhausted'] } });
  expect(answer.status).toBe(409);
  expect(await world.ask(`${spring}/retry`, { body: { outcomes: ['completed'] } })).toMatchObject({ status: 400 });
  expect(await world.ask('POST /api/v1/campaigns/sprung/pause')).toMatchObject({
    status: 404,
    body: { code: 'unknown_campaign' },
  });
});
