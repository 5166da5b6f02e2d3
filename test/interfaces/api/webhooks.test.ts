import { expect, test } from 'vitest';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { appendEvents, readAllEvents } from '../../../src/ledger/events.ts';
import { listWebhooks, steerWebhook } from '../../../src/ledger/webhooks/registry.ts';
import { sendJson, startHookServer } from '../../shared/hooks/hook-server.ts';
import { addTestWebhook, secret, startDelivery, webhookId } from '../../shared/hooks/webhook-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign, noon } from '../../ledger/scenario.ts';
import { bothDialects, dialects } from '../../ledger/test-stores.ts';
import { until } from '../../support/until.ts';
import { ApiWorld } from './api-world.ts';
import { problem } from '../../support/answers.ts';

const path = '/api/v1/webhooks';

async function openWorld(dialect: (typeof dialects)[number] = 'sqlite') {
  const store = await openCleanStore(dialect);
  await beginCampaign(store);
  return { store, world: await ApiWorld.over(store, { settings: { CARILLON_HOOK_SECRET: secret, CARILLON_HOOK_NETWORKS: '127.0.0.1' } }) };
}

test.for(dialects)('a webhook is added once per key, listed, paused, resumed and removed: %s', async (dialect) => {
  const { store, world } = await openWorld(dialect);
  const body = { url: 'https://crm.example.com/planted-path', campaign: 'spring', types: ['row.ended'] };
  const added = await world.ask(`POST ${path}`, { key: 'first', body });
  expect(added.status).toBe(201);
  const { webhookId: id } = added.body as { webhookId: string };
  expect(added.body).toMatchObject({
    place: 'crm.example.com',
    campaign: 'spring',
    types: ['row.ended'],
    state: 'active',
    madeBy: 'person:admin console',
    failures: 0,
    lastFailure: null,
    notice: 'this test has no Temporal',
  });
  // Its process died before storing the answer: it is carried out again.
  await store.db.deleteFrom('answers').execute();
  expect((await world.body(`POST ${path}`, { key: 'first', body })).webhookId).toBe(id);
  expect(await listWebhooks(store.db)).toHaveLength(1);

  const listed = await world.ask(`GET ${path}`, { role: 'read' });
  expect(listed.body.webhooks).toEqual([await world.body(`GET ${path}/${id}`, { role: 'read' })]);
  expect(JSON.stringify([listed.body, added.body])).not.toContain('planted');
  expect(await world.body(`POST ${path}/${id}/pause`)).toMatchObject({ state: 'paused', notice: null });
  expect(await world.body(`POST ${path}/${id}/resume`)).toMatchObject({ state: 'active' });
  expect((await world.ask(`DELETE ${path}/${id}`)).status).toBe(200);
  expect(await world.body(`GET ${path}`)).toEqual({ webhooks: [] });
  expect(await world.ask(`DELETE ${path}/${id}`)).toMatchObject(problem(404, 'unknown_webhook'));

  const events = await readAllEvents(store.db, 0, 1000, ['webhook.changed', 'operator.acted']);
  const log = events.map(({ campaignId, data }) => [campaignId, data]);
  const changed = (change: string) => ['spring', { webhook: id, change, by: 'person:admin console' }];
  const acted = (change: string) => ['spring', { name: 'admin console', action: `webhook_${change}` }];
  const rest = ['paused', 'resumed', 'removed'].flatMap((change) => [changed(change), acted(change)]);
  expect(log).toEqual([changed('added'), acted('added'), acted('added'), ...rest]);
  expect(JSON.stringify(log)).not.toContain('planted');
});

test.for(bothDialects)('a webhook says how many events wait for it and since when, paused or not: %s', async (dialect) => {
  const { store, world } = await openWorld(dialect);
  const held: (() => void)[] = [];
  const hook = await startHookServer((response) => held.push(() => sendJson(response, {})));
  await addTestWebhook(store, hook.url);
  const choosy = '00c0ffee0002';
  await addTestWebhook(store, 'https://crm.example.com/', { webhookId: choosy, campaignId: 'spring', types: ['campaign.paused'] });
  await steerWebhook(store, 'pause', { webhookId: choosy, by: 'person', now: noon, nowReal: noon });
  const change = (from: 'running' | 'paused', to: 'running' | 'paused', at: number, campaignId = 'spring') =>
    ({ at: noon + at, campaignId, type: 'campaign.state', data: { from, to, reason: null } }) as const;
  const changes = [change('running', 'paused', 500, 'autumn'), change('paused', 'running', 1_000), change('running', 'paused', 2_000)];
  await store.transaction((tx) => appendEvents(tx, changes));
  const running = startDelivery(store);
  const read = async (id: string) => (await world.body(`GET ${path}/${id}`)).waiting;
  await until('a request waits for its answer', () => held.length === 1);
  expect(await read(webhookId)).toEqual({ events: 3, orMore: false, oldestAt: '2030-01-15T12:00:00.500Z' });
  const { webhooks } = (await world.body(`GET ${path}`)) as { webhooks: object[] };
  expect(webhooks[1]).toMatchObject({ state: 'paused', waiting: { events: 1, orMore: false, oldestAt: '2030-01-15T12:00:02.000Z' } });

  hook.answerWith((response) => sendJson(response, {}));
  held[0]?.();
  await until('nothing waits', async () => ((await read(webhookId)) as { events: number }).events === 0);
  expect(await read(webhookId)).toEqual({ events: 0, orMore: false, oldestAt: null });
  await running.stop();
  const many = Array.from({ length: 10_000 }, () => change('running', 'paused', 3_000));
  await store.transaction((tx) => appendEvents(tx, many));
  expect(await read(webhookId)).toMatchObject({ events: 10_000, orMore: false });
  expect(await read(choosy)).toEqual({ events: 10_000, orMore: true, oldestAt: '2030-01-15T12:00:02.000Z' });
});

test('an address that cannot be used is refused and not repeated; so are an unknown campaign, an unknown event, and a server without a secret', async () => {
  const { store, world } = await openWorld();
  for (const [url, says] of [
    ['http://crm.example.com/', /http only for this machine/],
    ['https://user:planted@crm.example.com/', /without user and password/],
    ['https://crm.example.com/?key=planted', /has a query, which may be a key/],
    ['https://169.254.169.254/', /private network.*CARILLON_HOOK_NETWORKS does not allow it/],
    ['https://[::ffff:10.0.0.1]/', /CARILLON_HOOK_NETWORKS does not allow it/],
    ['env://OTHER_NAME', /env:\/\/CARILLON_URL_<NAME>/],
  ] as const) {
    const refused = await world.ask(`POST ${path}`, { body: { url } });
    expect(refused).toMatchObject(problem(422, 'usage', says));
    expect(JSON.stringify(refused.body)).not.toContain('planted');
  }
  const url = 'https://crm.example.com/';
  expect((await world.body(`POST ${path}`, { body: { url, campaign: 'autumn' } })).code).toBe('unknown_campaign');
  expect((await world.ask(`POST ${path}`, { body: { url, types: ['row.dialled'] } })).status).toBe(400);
  const bare = await ApiWorld.over(store);
  expect(await bare.ask(`POST ${path}`, { body: { url } })).toMatchObject(problem(503, 'config', 'CARILLON_HOOK_SECRET is not set'));
  expect(await listWebhooks(store.db)).toEqual([]);
});

test('a ping is signed and told of, whether it is taken or not', async () => {
  const { store, world } = await openWorld();
  const hook = await startHookServer((response) => sendJson(response, {}));
  const url = hook.url.replace(/\?.*/, '');
  const { webhookId: id } = (await world.body(`POST ${path}`, { body: { url } })) as { webhookId: string };
  // The library refuses old deliveries by its own clock.
  world.at = Date.now();
  expect(await world.body(`POST ${path}/${id}/test`)).toEqual({ delivered: true, status: null, why: null });
  const [call] = hook.calls;
  const headers = call?.headers as Record<string, string>;
  expect(new StandardWebhook(secret).verify(call?.text ?? '', headers)).toMatchObject({ type: 'ping', data: { webhook: id } });
  hook.answerWith((response) => sendJson(response, {}, 500));
  expect(await world.body(`POST ${path}/${id}/test`)).toEqual({ delivered: false, status: 500, why: 'it answered with status 500' });
  expect((await listWebhooks(store.db))[0]).toMatchObject({ state: 'active', failures: 0 });
  expect((await world.body(`POST ${path}/none/test`)).code).toBe('unknown_webhook');
});
