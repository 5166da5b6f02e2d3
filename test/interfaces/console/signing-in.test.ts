import { Kysely, Migrator } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { hashOf, revokeToken, type TokenRole } from '../../../src/ledger/console/tokens.ts';
import { createMigrations } from '../../../src/ledger/migrations.ts';
import { createPostgresDialect } from '../../../src/ledger/postgres-dialect.ts';
import type { Database } from '../../../src/ledger/schema.ts';
import { createSqliteDialect } from '../../../src/ledger/sqlite-dialect.ts';
import { startApi } from '../../../src/interfaces/api/server.ts';
import { ApiWorld } from '../api/api-world.ts';
import { bothDialects, emptyDatabase, openAt } from '../../ledger/test-stores.ts';

const hourMs = 3_600_000;

const ofForm = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };

async function signIn(world: ApiWorld, token: string, remoteAddress = '192.0.2.1') {
  const payload = new URLSearchParams({ token, to: '/' }).toString();
  const answer = await world.app.inject({ method: 'POST', url: '/sign-in', remoteAddress, headers: ofForm, payload });
  const [cookie = ''] = String(answer.headers['set-cookie'] ?? '').split(';');
  return { status: answer.statusCode, cookie, retryAfter: Number(answer.headers['retry-after']), text: answer.body };
}

async function isIn({ app }: ApiWorld, cookie: string): Promise<boolean> {
  const answer = await app.inject({ url: '/', headers: { cookie } });
  expect([200, 303]).toContain(answer.statusCode);
  return answer.statusCode === 200;
}

async function signOut({ app }: ApiWorld, cookie: string): Promise<void> {
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const answer = await app.inject({ method: 'POST', url: '/sign-out', headers });
  expect(answer.headers['location']).toBe('/sign-in');
}

const wrong = `carillon_0123456789ab_${'x'.repeat(43)}`;

test.for(bothDialects)('a session is no token, is known to every process, and ends where it was ended: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const store = await openAt(location);
  const [world, other] = [await ApiWorld.over(store), await ApiWorld.over(await openAt(location))];
  const token = world.tokenText('operate');
  // It may contain a _ itself.
  const secret = token.slice(-43);
  const { cookie } = await signIn(world, token);
  const session = cookie.replace(/^carillon_session=/, '');
  expect(cookie).not.toContain(secret);
  expect(await isIn(other, cookie)).toBe(true);
  expect(await isIn(world, `carillon_session=${token}`)).toBe(false);
  for (const authorization of [`Bearer ${session}`, `Ticket ${session}`])
    expect((await world.app.inject({ url: '/api/v1/campaigns', headers: { authorization } })).statusCode).toBe(401);
  const kept = JSON.stringify(await store.db.selectFrom('sessions').selectAll().execute());
  expect(kept).not.toContain(session);
  expect(kept).not.toContain(secret);

  const second = await signIn(world, token);
  await signOut(other, cookie);
  expect(await isIn(world, cookie)).toBe(false);
  expect(await isIn(other, cookie)).toBe(false);
  expect(await isIn(world, second.cookie)).toBe(true);
  const third = await signIn(world, world.tokenText('read'));
  await revokeToken(store, token.split('_')[1] ?? '', world.at);
  expect(await isIn(world, second.cookie)).toBe(false);
  expect(await isIn(world, third.cookie)).toBe(true);
  world.at += 12 * hourMs;
  expect(await isIn(world, third.cookie)).toBe(false);
  await signIn(world, world.tokenText('read'));
  expect(await store.db.selectFrom('sessions').selectAll().execute()).toHaveLength(1);
});

test.for(bothDialects)('a database from before there were sessions goes on, and people sign in: %s', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const { databaseUrl, sqlitePath } = location;
  const db = new Kysely<Database>({
    dialect: databaseUrl === undefined ? createSqliteDialect(sqlitePath) : await createPostgresDialect(databaseUrl),
  });
  const migrations = Object.entries(await createMigrations(dialect).getMigrations()).slice(0, 4);
  const provider = { getMigrations: async () => Object.fromEntries(migrations) };
  expect((await new Migrator({ db, provider }).migrateToLatest()).error).toBeUndefined();
  const token = { token_id: '0123456789ab', name: 'console', role: 'read' as const, hash: hashOf('x'.repeat(43)) };
  await db
    .insertInto('tokens')
    .values({ ...token, created_real: 0, expires_real: null, revoked_real: null })
    .execute();
  await db.destroy();
  const world = await ApiWorld.over(await openAt(location));
  expect(await isIn(world, (await signIn(world, wrong)).cookie)).toBe(true);
});

test('what the page asks of the API for somebody is asked in the name of their token, and by nobody else', async () => {
  const world = await ApiWorld.empty();
  const { app } = world;
  const post = async (role: TokenRole) => {
    const { cookie } = await signIn(world, world.tokenText(role));
    const form = { headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' } };
    const payload = new URLSearchParams({ key: `key-${role}`, numbers: '+12125550131', step: 'change' }).toString();
    return app.inject({ method: 'POST', url: '/do-not-call/add', ...form, payload });
  }; // prettier-ignore
  expect((await post('operate')).statusCode).toBe(303);
  expect((await post('read')).statusCode).toBe(403);
  expect(JSON.stringify(await world.body('GET /events'))).toContain('operate console');
});

test('every address under a foreign name is refused as the API refuses it, and is no defect', async () => {
  const logged: unknown[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const world = await ApiWorld.empty({ isOwn: true, logger });
  const { cookie } = await signIn(world, world.tokenText('admin'));
  for (const url of ['/', '/campaigns/spring', '/new', '/changes', '/sign-in', '/assets/page.js', '/campaigns/spring/results.csv'])
    for (const headers of [{}, { cookie }]) {
      const answer = await world.app.inject({ url, headers: { host: 'attacker.example', ...headers } });
      expect([url, answer.statusCode, answer.json()]).toMatchObject([url, 421, { code: 'foreign_host', title: 'Misdirected request' }]);
    }
  expect(logged).toEqual([]);
});

test('who tries tokens is slowed down, alone and together with others, and is told until when', async () => {
  const world = await ApiWorld.empty();
  const good = world.tokenText('read');
  for (let tries = 0; tries < 10; tries += 1) expect((await signIn(world, wrong)).status).toBe(401);
  const refused = await signIn(world, good);
  expect(refused).toMatchObject({ status: 429, retryAfter: 30, cookie: '' });
  expect(refused.text).toContain('Try again in 30 seconds.');
  expect((await signIn(world, good, '192.0.2.2')).status).toBe(303);
  world.at += 29_999;
  expect(await signIn(world, good)).toMatchObject({ status: 429, retryAfter: 1 });
  world.at += 1;
  // Successful sign-ins use up no tries.
  for (let tries = 0; tries < 20; tries += 1) expect((await signIn(world, good)).status).toBe(303);
  expect((await signIn(world, wrong)).status).toBe(401);
  expect((await signIn(world, good)).status).toBe(429);
  world.at -= hourMs;
  expect(await signIn(world, good)).toMatchObject({ status: 429, retryAfter: 30 });
});

test('many addresses together are slowed down as well, and so are the addresses of one network', async () => {
  const world = await ApiWorld.empty();
  const statuses = async (count: number, address: (at: number) => string) => {
    const answers = await Promise.all(Array.from({ length: count }, (_, at) => signIn(world, wrong, address(at))));
    return answers.filter(({ status }) => status === 401).length;
  };
  expect(await statuses(30, (at) => `2001:db8:1:2::${at.toString(16)}`)).toBe(10);
  expect(await statuses(200, (at) => `198.51.100.${at}`)).toBe(90);
  const { status, retryAfter } = await signIn(world, world.tokenText('read'), '192.0.2.9');
  expect({ status, retryAfter }).toEqual({ status: 429, retryAfter: 1 });
  world.at += 1_000;
  expect((await signIn(world, world.tokenText('read'), '192.0.2.9')).status).toBe(303);
});

test.each([
  [true, 303],
  [false, 429],
])('behind a proxy (%s) the address counts that the proxy has seen, and not one that was written', async (behindProxy, last) => {
  const world = await ApiWorld.empty();
  const api = await startApi(world.context, { host: '127.0.0.1', port: 0, tls: null, behindProxy });
  const signInFrom = async (token: string, seen: string, written: string) => {
    const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `${written}, ${seen}` };
    const body = new URLSearchParams({ token, to: '/' });
    return (await fetch(`${api.url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' })).status;
  };
  const tried = [];
  for (let tries = 0; tries < 11; tries += 1) tried.push(await signInFrom(wrong, '198.51.100.1', `192.0.2.${tries}`));
  expect(tried.at(-1)).toBe(429);
  expect(await signInFrom(world.tokenText('read'), '198.51.100.2', '192.0.2.1')).toBe(last);
  await api.close();
}); // prettier-ignore
