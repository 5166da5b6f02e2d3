import { expect, test } from 'vitest';
import { createToken, findToken, listTokens } from '../../../src/ledger/console/tokens.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { noon } from '../../ledger/scenario.ts';
import { bothDialects } from '../../ledger/test-stores.ts';
import { ConsoleWorld } from '../console/console-world.ts';
import { actsIn, ApiWorld } from './api-world.ts';
import { problem, locationOf } from '../../support/answers.ts';

const path = '/api/v1/tokens';
const hour = 3_600_000;

test.for(bothDialects)('a token is made, listed with its last use, and revoked; its text is told once: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const world = await ApiWorld.over(store);
  const body = { name: 'crm', role: 'read', expires: '90d' };
  const made = await world.ask(`POST ${path}`, { key: 'make', body });
  expect(made).toMatchObject({ status: 201, body: { name: 'crm', role: 'read', usedAt: null, revokedAt: null } });
  const { token: text, tokenId } = made.body as { token: string; tokenId: string };
  const again = await world.ask(`POST ${path}`, { key: 'make', body });
  expect(again).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' }, body: { ...made.body, token: null } });
  const secret = text.replace(/^carillon_[0-9a-f]+_/, '');
  for (const table of ['tokens', 'answers', 'events'] as const)
    expect(JSON.stringify(await store.db.selectFrom(table).selectAll().execute())).not.toContain(secret);

  world.at = noon + hour;
  expect(await world.ask('GET /campaigns', { token: text })).toMatchObject({ status: 200 });
  const own = async () => (await world.body(`GET ${path}`)).tokens.find((each: { tokenId: string }) => each.tokenId === tokenId);
  await expect
    .poll(own)
    .toMatchObject({ usedAt: new Date(noon + hour).toISOString(), expiresAt: new Date(noon + 90 * 24 * hour).toISOString() });
  expect(await world.ask(`POST ${path}`, { body: { ...body, expires: 'soon' } })).toMatchObject(problem(422, 'usage'));

  for (let times = 0; times < 2; times += 1)
    expect(await world.ask(`DELETE ${path}/${tokenId}`)).toMatchObject({
      status: 200,
      body: { revokedAt: new Date(noon + hour).toISOString() },
    });
  expect(await world.ask('GET /campaigns', { token: text })).toMatchObject({ status: 401 });
  expect(await world.ask(`DELETE ${path}/000000000000`)).toMatchObject(problem(404, 'unknown_token'));
  expect(await actsIn(store, 'account')).toEqual(['token_created', 'token_revoked', 'token_revoked']);
});

test('a request that is carried out again after its process died makes no second token', async () => {
  const store = await openCleanStore('sqlite');
  const made = { name: 'crm', role: 'read', lastsMs: null, nowReal: noon, tokenId: '0123456789ab' } as const;
  const [first, second] = [await createToken(store, made), await createToken(store, made)];
  expect(await listTokens(store)).toHaveLength(1);
  expect(await findToken(store, first.text, noon)).toBeNull();
  expect(await findToken(store, second.text, noon)).toMatchObject({ name: 'crm' });
});

test('the page makes a token, shows it once, and revokes it; whoever is no administrator sees nothing of it', async () => {
  const console = await ConsoleWorld.empty();
  const { store } = console;
  expect(await console.text('/', 'operate')).not.toContain('href="/access"');
  expect(await console.get('/access', 'operate')).toMatchObject({ status: 403 });
  const fields = { key: 'k1', name: '<b>night shift', role: 'operate', expires: '' };
  const made = await console.post('/access/create', fields, 'admin');
  const [text = ''] = /carillon_[0-9a-f]{12}_[\w-]{43}/.exec(made.text) ?? [];
  expect(await findToken(store, text, noon)).toMatchObject({ name: '<b>night shift', role: 'operate' });
  expect(made.text).not.toContain('<b>night');
  const again = await console.post('/access/create', fields, 'admin');
  expect(again.text).toContain('was shown already');
  const listed = await console.text('/access', 'admin');
  for (const shown of [made.text, listed]) expect(shown).toContain('&lt;b&gt;night shift');
  for (const hidden of [again.text, listed]) expect(hidden).not.toContain(text.slice(22));

  const [, tokenId = ''] = text.split('_');
  expect(locationOf(await console.submit(`/access/${tokenId}/revoke`, {}, 'admin'))).toBe('/access');
  expect(await findToken(store, text, noon)).toBeNull();
  expect(await console.get(`/access/${tokenId}/revoke`, 'admin')).toMatchObject({ status: 409 });
  expect(await console.get('/access/none/revoke', 'admin')).toMatchObject({ status: 404 });
});
