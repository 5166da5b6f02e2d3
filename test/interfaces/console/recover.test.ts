import { expect, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { openTemporal } from '../../../src/operations/control/control.ts';
import { readMarks } from '../../../src/ledger/events.ts';
import { serve } from '../api/call-service.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { sharedTemporal } from '../../support/temporal-for-tests.ts';
import { ConsoleWorld } from './console-world.ts';

const path = '/campaigns/spring/recover';

/** A campaign of which Temporal has never heard, with open calls, and a service with these conversations. */
async function openLost(conversations: () => object[]) {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  await scenario.dial(1);
  const service = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ conversations: conversations() }));
  });
  await store.db.updateTable('campaigns').set({ account_id: service.url }).execute();
  const { address, namespace } = await sharedTemporal();
  const settings = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    SVC_BASE_URL: service.url,
    SVC_API_KEY: 'sk_of_this_test',
  };
  const console = await ConsoleWorld.over(store, settings, (limitMs) => openTemporal({}, readConfig(settings), limitMs));
  const acted = async () =>
    (await readMarks(store.db, 'spring')).flatMap((mark) => (mark.type === 'operator.acted' ? [mark.data.action] : []));
  return { console, store, acted };
}

test('a campaign that Temporal has lost is recovered from the page, which says before in numbers what goes on', async () => {
  // Two may be those of the open calls; the third is of somebody of whom the database knows nothing.
  let conversations: object[] = ['conv_1', 'conv_2', 'conv_of_nobody'].map((id, index) => ({
    conversation_id: id,
    metadata: { start_time: new Date(noon + (30 + index) * 1_000).toISOString() },
  }));
  const { console, acted } = await openLost(() => conversations);
  const form = await console.get(path);
  expect(form.status).toBe(200);
  expect(form.text).toMatch(/Waiting rows<\/dt>\s*<dd><span class="num">4</);
  expect(form.text).toMatch(/Open calls<\/dt>\s*<dd><span class="num">2</);
  expect(await console.submit(path, {}, 'read')).toMatchObject({ status: 403 });
  const unknown = await console.submit(path);
  expect(unknown).toMatchObject({ status: 409, text: expect.stringContaining('conv_of_nobody') });
  expect(unknown.text).toContain('class="act"');
  conversations = [];
  expect(await console.submit(path)).toMatchObject({ status: 303, headers: { location: '/campaigns/spring' } });
  expect(await acted()).toEqual(['recover']);
  const again = await console.get(path);
  expect(again).toMatchObject({ status: 409, text: expect.stringContaining('Temporal runs this campaign') });
  expect(again.text).not.toContain('class="act"');
});

test('a campaign that has ended or was not started is not offered to be recovered, nor while Temporal is silent', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store);
  const console = await ConsoleWorld.over(store);
  const silent = await console.get(path);
  expect(silent).toMatchObject({ status: 503, text: expect.stringContaining('this test has no Temporal') });
  expect(silent.text).not.toContain('class="act"');
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  expect(await console.get(path)).toMatchObject({ status: 409, text: expect.stringContaining('It is completed') });
  await store.db.updateTable('campaigns').set({ state: 'draft', round: 0 }).execute();
  expect(await console.get(path)).toMatchObject({ status: 409, text: expect.stringContaining('It was not started yet') });
  expect(await console.get(path, 'read')).toMatchObject({ text: expect.stringContaining('role operate') });
});
