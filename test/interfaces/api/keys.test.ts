import { expect, test } from 'vitest';
import { claimKey, freeKey, keepAnswer } from '../../../src/ledger/console/idempotency-keys.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { bothDialects } from '../../ledger/test-stores.ts';
import { ApiWorld } from './api-world.ts';

const add = 'POST /api/v1/suppressions';
const number = '+12125550100';
const tenMinutesMs = 10 * 60_000;

test.for(bothDialects)('a key whose first request died is taken over after ten minutes: %s', async (dialect) => {
  let nowReal = noon;
  const store = { ...(await openCleanStore(dialect)), now: async () => nowReal };
  const world = await ApiWorld.over(store);
  const ask = () => world.ask(add, { key: 'k1', body: { numbers: [number] } });
  expect(await ask()).toMatchObject({ body: { added: 1 } });
  // As a process leaves it that is killed after the work and before the answer.
  await store.db.updateTable('answers').set({ status: null, body: null }).where('key', '=', 'k1').execute();
  nowReal += tenMinutesMs - 1;
  const early = await ask();
  expect(early).toMatchObject({ status: 409, body: { code: 'under_way' }, headers: { 'retry-after': '2' } });
  nowReal += 1;
  const taken = await ask();
  expect(taken).toMatchObject({ status: 200, body: { added: 0, known: 1 } });
  expect(taken.headers['idempotent-replayed']).toBeUndefined();
  expect((await ask()).headers['idempotent-replayed']).toBe('true');
});

test.for(bothDialects)('of many who take over a dead key one does, and the dead one changes nothing: %s', async (dialect) => {
  let nowReal = noon;
  const store = { ...(await openCleanStore(dialect)), now: async () => nowReal };
  const request = { tokenId: 'console', key: `takeover-${dialect}`, parts: { method: 'hash' } };
  const dead = await claimKey(store, request);
  nowReal += tenMinutesMs;
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimKey(store, request)));
  expect(claims.map(({ kind }) => kind).toSorted()).toEqual(['new', ...Array<string>(7).fill('under_way')]);
  const entryOf = (claim: Awaited<ReturnType<typeof claimKey>> | undefined) => (claim?.kind === 'new' ? claim.entry : 'none');
  // It was slow, not dead: neither its answer nor its refusal counts.
  await store.transaction((tx) => keepAnswer(tx, entryOf(dead), { status: 200, body: '"late"' }));
  await store.transaction((tx) => freeKey(tx, entryOf(dead)));
  expect(await claimKey(store, request)).toEqual({ kind: 'under_way' });
  const heir = entryOf(claims.find(({ kind }) => kind === 'new'));
  await store.transaction((tx) => keepAnswer(tx, heir, { status: 200, body: '"mine"' }));
  expect(await claimKey(store, request)).toEqual({ kind: 'done', answer: { status: 200, body: '"mine"' } });
});

test('a key that comes with another request is refused with what differs, and no value of either', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store);
  const world = await ApiWorld.over(store);
  const body = { numbers: [number], campaign: 'spring', reason: 'asked by letter' };
  await world.ask(add, { key: 'k1', body });
  const differs = async (request: Parameters<ApiWorld['ask']>[0], sent?: object) => {
    const answer = await world.ask(request, { key: 'k1', ...(sent === undefined ? {} : { body: sent }) });
    expect(answer).toMatchObject({ status: 409, body: { code: 'key_reused' } });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.stringify(answer.body)).not.toMatch(/5550|letter|spring/);
    return answer.body.differs as string[];
  };
  expect(await differs(add, { ...body, numbers: ['+12125550101'] })).toEqual(['body.numbers']);
  expect(await differs(add, { numbers: [number], campaign: 'spring' })).toEqual(['body.reason']);
  expect(await differs('POST /api/v1/suppressions/remove', { numbers: [number], campaign: 'spring' })).toEqual(['path', 'body.reason']);
  expect(await differs('DELETE /api/v1/webhooks/0123456789ab')).toEqual(['method', 'path', 'body.numbers', 'body.campaign', 'body.reason']);
  // The refusal has cost the key nothing.
  expect((await world.ask(add, { key: 'k1', body })).headers['idempotent-replayed']).toBe('true');
});

test('a key that comes with another file or other options is refused with their names', async () => {
  const world = await ApiWorld.over(await openCleanStore('sqlite'));
  const send = (text: string, query = '') =>
    world.app.inject({
      method: 'POST',
      url: `/api/v1/suppressions/import${query}`,
      headers: {
        authorization: `Bearer ${world.tokenText('operate')}`,
        'idempotency-key': 'k1',
        'content-type': 'multipart/form-data; boundary=b',
      },
      payload: `--b\r\nContent-Disposition: form-data; name="numbers"; filename="n.csv"\r\n\r\n${text}\r\n--b--\r\n`,
    });
  expect((await send(`phone\n${number}\n`)).statusCode).toBe(200);
  const other = await send('phone\n+12125550101\n', '?region=GB');
  expect(other.json()).toMatchObject({ status: 409, code: 'key_reused', differs: ['files.numbers', 'query.region'] });
});
