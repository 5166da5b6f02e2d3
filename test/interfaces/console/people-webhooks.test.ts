import { expect, test } from 'vitest';
import { listWebhooks } from '../../../src/ledger/webhooks/registry.ts';
import { sendJson, startHookServer } from '../../shared/hooks/hook-server.ts';
import { secret } from '../../shared/hooks/webhook-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign } from '../../ledger/scenario.ts';
import { ConsoleWorld } from './console-world.ts';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  await beginCampaign(store);
  return {
    store,
    console: await ConsoleWorld.over(store, { CARILLON_HOOK_SECRET: secret, CARILLON_HOOK_NETWORKS: '127.0.0.1' }),
  };
}

test('a webhook is added, paused, resumed and removed by an admin, and its address is shown to nobody', async () => {
  const { store, console } = await openWorld();
  expect((await console.get('/webhooks', 'read')).text).toContain('Nobody is told of events');
  const fields = { url: 'https://crm.example.com/planted-path', campaign: 'spring', type: 'row.ended' };
  expect(await console.submit('/webhooks/add', { ...fields, key: 'k1' })).toMatchObject({ status: 403 });
  for (let times = 0; times < 2; times += 1)
    expect(await console.post('/webhooks/add', { ...fields, key: 'k1' }, 'admin')).toMatchObject({
      status: 303,
      headers: { location: '/webhooks' },
    });
  const [webhook] = await listWebhooks(store.db);
  expect(webhook).toMatchObject({ campaignId: 'spring', types: ['row.ended'], state: 'active' });
  const own = `/webhooks/${webhook?.webhookId}`;
  const states = [['pause', 'paused'], ['resume', 'active']] as const; // prettier-ignore
  for (const [wish, state] of states) {
    expect(await console.submit(`${own}/${wish}`, {}, 'admin')).toMatchObject({ status: 303 });
    expect(await listWebhooks(store.db)).toMatchObject([{ state }]);
  }
  for (const [path, role] of [['/webhooks', 'read'], ['/webhooks', 'admin'], [`${own}/remove`, 'admin']] as const) {
    const { text } = await console.get(path, role);
    expect(text).toContain('crm.example.com');
    expect(text).not.toContain('planted');
  } // prettier-ignore
  expect((await console.get('/webhooks', 'operate')).text).not.toContain('/remove"');
  expect(await console.post(`${own}/remove`, { key: 'k9' })).toMatchObject({ status: 403 });
  expect(await console.submit(`${own}/remove`, {}, 'admin')).toMatchObject({ status: 303 });
  expect(await listWebhooks(store.db)).toEqual([]);
  expect(await console.get(`${own}/pause`, 'admin')).toMatchObject({ status: 404 });
});

test('a ping that was not taken says so, and an address that cannot be used is refused', async () => {
  const { console, store } = await openWorld();
  const server = await startHookServer((response) => sendJson(response, {}, 500));
  const made = await console.post('/webhooks/add', { key: 'k1', url: new URL('/crm', server.url).href }, 'admin');
  expect(made.status).toBe(303);
  const [webhook] = await listWebhooks(store.db);
  const pinged = await console.submit(`/webhooks/${webhook?.webhookId}/test`, {}, 'admin');
  expect(pinged).toMatchObject({ status: 200, text: expect.stringContaining('The ping was not taken') });
  const refused = await console.post('/webhooks/add', { key: 'k2', url: 'ftp://crm.example.com/key' }, 'admin');
  expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('cannot be used') });
  expect(await listWebhooks(store.db)).toHaveLength(1);
  server.answerWith((response) => sendJson(response, {}));
  expect(await console.submit(`/webhooks/${webhook?.webhookId}/test`, {}, 'admin')).toMatchObject({ status: 303 });
});
