import { expect, test } from 'vitest';
import { buildRules, hourMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { numberAt } from '../cli/campaign-world.ts';
import { readEvidence } from '../../../src/ledger/read/evidence.ts';
import { eventText } from '../../../src/presentation/words/history.ts';
import { ApiWorld } from './api-world.ts';

const campaignId = 'spring';
const path = `POST /campaigns/${campaignId}/rows` as const;
const requests = 150;
const perRequest = 2;

function rowsOf(request: number) {
  return Array.from({ length: perRequest }, (_, index) => {
    const at = request * perRequest + index;
    return { id: `lead-${at}`, phone: numberAt(at), name: `Guest ${at}` };
  });
}

async function openWorld(dialect: (typeof dialects)[number]) {
  const store = await openCleanStore(dialect);
  const list = { ...buildRules({}).list, columns: ['id', 'phone', 'name'], phoneColumn: 'phone', idColumn: 'id' };
  await beginCampaign(store, { campaignId, rows: [], rules: { list, staysOpen: { expiresAfterMs: hourMs, newestFirst: false } } });
  const world = await ApiWorld.over(store);
  const stored = async () => (await store.db.selectFrom('recipients').select('external_id').execute()).map((row) => row.external_id ?? '');
  return { world, stored };
}

test.for(dialects)('of more than can be written at once some are told to wait, and none is half taken: %s', async (dialect) => {
  const { world, stored } = await openWorld(dialect);
  const send = (request: number) => world.ask(path, { role: 'operate', body: { rows: rowsOf(request).map((cells) => ({ cells })) } });
  const answers = await Promise.all(Array.from({ length: requests }, (_, request) => send(request)));
  const refused = answers.flatMap((answer, request) => (answer.status === 200 ? [] : [{ request, answer }]));
  expect(refused.map(({ request }) => request)).toEqual(Array.from({ length: 50 }, (_, index) => 100 + index));
  for (const { answer } of refused)
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, body: { code: 'too_many_at_once' } });
  const taken = Array.from({ length: 100 * perRequest }, (_, at) => `lead-${at}`);
  expect((await stored()).sort()).toEqual(taken.sort()); // prettier-ignore
  // Repeated, refused ones are taken; rows taken before are known.
  for (const request of [0, ...refused.map((one) => one.request)]) expect(await send(request)).toMatchObject({ status: 200 });
  const ids = await stored();
  expect(ids).toHaveLength(requests * perRequest);
  expect(new Set(ids).size).toBe(requests * perRequest);
});

test('a request is answered row by row, and told to wait by its status', async () => {
  const { world, stored } = await openWorld('sqlite');
  const ask = (rows: object[]) => world.ask(path, { role: 'operate', body: { rows: rows.map((cells) => ({ cells })) } });
  expect(await ask(rowsOf(0))).toMatchObject({
    status: 200,
    body: { rows: [1, 2].map((row) => ({ result: 'accepted', row, state: 'waiting' })), notice: expect.stringContaining('Temporal') },
  });
  // A resent form with another number must not change who is called.
  const again = await ask([{ id: 'lead-0', phone: numberAt(330), name: 'Somebody else' }]);
  expect(again).toMatchObject({ status: 200, body: { rows: [{ result: 'known', row: 1, state: 'waiting' }] } });
  const kept = world.store.db.selectFrom('recipients').select('e164').where('external_id', '=', 'lead-0');
  expect(await kept.execute()).toEqual([{ e164: numberAt(0) }]);
  const twice = await ask([{ id: 'twice', phone: numberAt(331), Phone: numberAt(332), name: 'Twice' }]);
  expect(twice).toMatchObject({ body: { rows: [{ result: 'failed', code: 'malformed_row', column: 'phone' }] } });
  expect((await ask([])).status).toBe(400);
  expect((await ask([{ id: 'a', phone: 7 }])).status).toBe(400);
  const waiting = Array.from({ length: 100 }, (_, request) => ask(rowsOf(request)));
  const late = await ask([{ id: 'late', phone: numberAt(320), name: 'Late' }]);
  await Promise.all(waiting);
  // The request came during or after the others' write.
  expect([200, 429]).toContain(late.status);
  expect((await stored()).includes('late')).toBe(late.status === 200);
});

test('the evidence of a lead says which token added it, by its name and role and without an e-mail address', async () => {
  const { world } = await openWorld('sqlite');
  await world.store.db.updateTable('tokens').set({ name: 'web forms, ada@example.com' }).where('role', '=', 'operate').execute();
  expect(await world.ask(path, { role: 'operate', body: { rows: [{ cells: rowsOf(0)[0] }] } })).toMatchObject({ status: 200 });
  const evidence = await readEvidence(world.store, { e164: numberAt(0), since: null, now: Date.now() });
  const [added] = evidence?.events ?? [];
  expect(added).toMatchObject({ type: 'recipient.added', data: { actor: { role: 'operate', name: 'web forms, ada' } } });
  expect(added === undefined ? '' : eventText(added)).toBe('web forms, ada (role operate) added the row');
  expect(JSON.stringify(evidence)).not.toContain('example.com');
  const goal = await world.ask(`GET /campaigns/${campaignId}`, { role: 'read' });
  expect(goal).toMatchObject({ status: 200, body: { goal: null } });
});

test('what no text may hold ends its row alone, and is refused where it is no row', async () => {
  const { world, stored } = await openWorld('sqlite');
  const rows = [
    { id: 'a', phone: numberAt(1), name: 'Ann\0Lee' },
    { id: 'b', phone: numberAt(2), name: 'Bea' },
    { id: 'c\u200e', phone: numberAt(3), name: 'Cem' },
    { id: '="007"', phone: `="${numberAt(4)}"`, name: '\ud83d\ude00' },
  ];
  const added = await world.ask(path, { role: 'operate', body: { rows: rows.map((cells) => ({ cells })) } });
  expect((added.body as { rows: object[] }).rows).toMatchObject([
    { result: 'failed', code: 'malformed_row', column: 'name', hint: 'the cell holds a NUL (U+0000); remove it' },
    { result: 'accepted' },
    { result: 'failed', code: 'malformed_row', column: 'id', hint: 'the cell holds a mark that cannot be seen (U+200E); remove it' },
    { result: 'accepted' },
  ]);
  expect(await stored()).toEqual(['b', '007']);
  const say = (place: string, fault: string) => ({
    status: 400,
    body: { code: 'invalid', errors: [{ path: place, message: `holds ${fault}; remove it` }] },
  });
  const bell = 'the control character (U+0007)';
  const asked = (request: 'GET' | 'POST', url: string, body?: object) => world.ask(`${request} ${url}`, body === undefined ? {} : { body });
  expect(await asked('POST', '/api/v1/tokens', { name: 'front\u0007desk', role: 'read' })).toMatchObject(say('name', bell));
  expect(await asked('POST', '/api/v1/search', { text: 'a\0' })).toMatchObject(say('text', 'a NUL (U+0000)'));
  expect(await asked('POST', '/api/v1/suppressions', { numbers: [numberAt(1), '\ud800'] })).toMatchObject(
    say('numbers.1', 'half a character (U+D800)'),
  );
  expect(await asked('GET', `/api/v1/campaigns/${campaignId}/rows?search=%00`)).toMatchObject(say('search', 'a NUL (U+0000)'));
  expect(await asked('GET', '/api/v1/campaigns/a%07')).toMatchObject(say('campaign', bell));
  const marked = await asked('POST', '/api/v1/tokens', { name: 'front\u202edesk', role: 'read' });
  expect(marked).toMatchObject({
    status: 422,
    body: { detail: 'The name of the token holds a mark that cannot be seen (U+202E); remove it.' },
  });
});
