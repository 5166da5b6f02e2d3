import { expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/ledger/console/tokens.ts';
import { readMarks } from '../../../src/ledger/events.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { ApiWorld } from './api-world.ts';

async function openWorld(dialect: 'sqlite' | 'postgres') {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', numbers(1)[0] ?? '', noon + 5_000)]);
  const world = await ApiWorld.over(store);
  world.at = noon + 2 * minuteMs;
  return { world, scenario };
}

test.for(dialects)('campaigns, rows, waiting rows, funnel and course are read: %s', async (dialect) => {
  const { world } = await openWorld(dialect);
  const list = await world.ask('GET /api/v1/campaigns', { role: 'read' });
  expect(list.status).toBe(200);
  expect(list.body.campaigns).toMatchObject([{ campaignId: 'spring', state: 'running', total: 6, done: 1, open: 5, needs: 0 }]);
  const one = await world.ask('GET /api/v1/campaigns/spring', { role: 'read' });
  expect(one.body).toMatchObject({
    campaignId: 'spring', createdAt: '2030-01-15T12:00:00.000Z', outcomes: { completed: 1 }, dispositions: { answered: 1 },
    standstill: { reason: 'collecting' }, callers: [{ phoneNumberId: 'pn_main', state: 'in', calls: 6 }], needs: [],
  }); // prettier-ignore
  expect(one.body.why).toMatch(/^this test has no Temporal, since /);
  expect(list.body.campaigns[0].why).toBe(one.body.why);
  expect((await world.ask('GET /api/v1/campaigns/spring/funnel')).body).toEqual({
    listed: 6, usable: 6, called: 6, answered: 1, completed: 1, notCalled: {},
  }); // prettier-ignore
  const course = await world.ask('GET /api/v1/campaigns/spring/course');
  expect(course.body.points[0]).toMatchObject({ at: '2030-01-15T12:00:00.000Z', starts: 6 });
  expect((await world.ask('GET /api/v1/campaigns/spring/waiting')).body).toEqual({ waiting: [] });
});

test('numbers are masked until somebody who may asks for them, and the log says who did', async () => {
  const { world } = await openWorld('sqlite');
  const masked = await world.ask('GET /api/v1/campaigns/spring/rows?limit=2', { role: 'read' });
  expect(masked.body.rows.map(({ e164 }: { e164: string }) => e164)).toEqual(['+1••••••••42', '+1••••••••42']);
  expect(masked.body.next).toBe(2);
  expect(JSON.stringify(masked.body)).not.toContain(numbers(1)[0]);
  const refused = await world.ask('GET /api/v1/campaigns/spring/rows?numbers=shown', { role: 'read' });
  expect(refused).toMatchObject({ status: 403, body: { code: 'role' } });
  const shown = await world.ask('GET /api/v1/campaigns/spring/rows?numbers=shown&outcome=completed', {
    role: 'operate',
  });
  expect(shown.body.rows).toMatchObject([{ row: 1, e164: numbers(1)[0], attempts: 1, disposition: 'answered' }]);
  const acted = (await readMarks(world.store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  expect(acted).toMatchObject([{ data: { name: 'operate console', action: 'numbers_shown' } }]);
});

test('a request without a token, or with one that does not hold, is refused before anything is read', async () => {
  const { world } = await openWorld('sqlite');
  const ask = (token: string | null) => world.ask('GET /api/v1/campaigns', { token });
  expect(await ask(null)).toMatchObject({
    status: 401,
    body: { code: 'token_missing', status: 401, type: 'about:blank' },
  });
  expect((await ask(null)).headers['content-type']).toMatch(/^application\/problem\+json/);
  expect((await ask(null)).headers['www-authenticate']).toBe('Bearer');
  expect(await ask('carillon_000000000000_wrong')).toMatchObject({ status: 401, body: { code: 'token_refused' } });
  const { text, token } = await createToken(world.store, {
    name: 'door',
    role: 'read',
    lastsMs: minuteMs,
    nowReal: world.at,
  });
  expect((await ask(text)).status).toBe(200);
  expect((await ask(`${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`)).status).toBe(401);
  world.at += minuteMs;
  expect((await ask(text)).status).toBe(401);
  world.at -= minuteMs;
  await revokeToken(world.store, token.tokenId, world.at);
  expect((await ask(text)).status).toBe(401);
  const stored = await world.store.db.selectFrom('tokens').selectAll().execute();
  expect(JSON.stringify(stored)).not.toContain(text.slice('carillon_000000000000_'.length));
});

test.each([
  ['GET /api/v1/campaigns/sprung', 404, 'unknown_campaign', /Did you mean spring/],
  ['GET /api/v1/campaign', 404, 'not_found', /openapi\.json/],
  ['GET /api/v1/campaigns/spring/rows?limit=0', 400, 'invalid', /limit/],
  ['GET /api/v1/campaigns/spring/rows?outcome=won', 400, 'invalid', /outcome/],
  ['GET /api/v1/campaigns/spring/rows?limt=5', 400, 'invalid', /no parameter "limt" here\. Did you mean "limit"\?/],
  ['GET /api/v1/campaigns?state=running', 400, 'invalid', /no parameter "state" here/],
  ['POST /api/v1/campaigns/spring/pause?why=lunch', 400, 'invalid', /no parameter "why" here/],
] as const)('%s is answered with %i and %s', async (request, status, code, says) => {
  const { world } = await openWorld('sqlite');
  const answer = await world.ask(request);
  expect(answer).toMatchObject({ status, body: { code, status, detail: expect.stringMatching(says) } });
});

test.each(['-1', '1.5', 'x', '9'.repeat(16)])('the stream refuses the Last-Event-ID %s, and says what it may be', async (id) => {
  const { world } = await openWorld('sqlite');
  const headers = { 'last-event-id': id };
  expect(await world.ask('GET /api/v1/events/stream', { role: 'read', headers })).toMatchObject({
    status: 400,
    body: {
      code: 'invalid',
      detail: expect.stringMatching(/last-event-id: this is the id of no event: send the last one/),
    },
  });
});
