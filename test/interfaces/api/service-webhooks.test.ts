import { expect, test } from 'vitest';
import { storeListed } from '../../../src/ledger/collect/listed-records.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { agentId, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { dialects, type TestDialect } from '../../ledger/test-stores.ts';
import { conversationRecord } from '../../rules/conversation-record.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { ApiWorld } from './api-world.ts';
import { path, post, secrets, sign, type Sent } from './sent-requests.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { problem } from '../../support/answers.ts';

const { stringify } = JSON;

/** One call was placed at noon; compares all records and attempts in the database. */
async function oneCall(dialect: TestDialect = 'sqlite') {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store);
  await scenario.dial(1);
  const api = await ApiWorld.over(store, { settings: { SVC_BASE_URL: 'http://service', SVC_WEBHOOK_SECRET: secrets } });
  return { store, scenario, api, to: numbers(1)[0] ?? '' };
}

async function tables({ db }: Store) {
  const [conversations, attempts, batches] = [
    await db.selectFrom('conversations').selectAll().execute(),
    await db.selectFrom('attempts').selectAll().orderBy('attempt_id').execute(),
    await db.selectFrom('batches').selectAll().execute(),
  ];
  return { conversations, attempts, batches, events: await db.selectFrom('events').selectAll().orderBy('seq').execute() };
}

/** An answered call that began five seconds after noon and lasted half a minute. */
function recordOf(to: string, more: Record<string, unknown> = {}) {
  const phoneCall = { direction: 'outbound', external_number: to, call_result: 'answered' };
  const metadata = { start_time: (noon + 5_000) / 1000, call_duration_secs: 30, phone_call: phoneCall };
  const transcript = [
    { role: 'agent', message: 'Hello Guest 0' },
    { role: 'user', message: 'Yes.' },
  ];
  return { agent_id: agentId, conversation_id: 'conv_1', status: 'done', metadata, transcript, ...more };
}

const analysis = { data_collection_results: { appointment: { value: 'confirmed' } } };

function eventOf(data: object, at: number, type = 'post_call_transcription'): string {
  return stringify({ type, event_timestamp: Math.floor(at / 1000), data });
}

test.for(dialects)('a record of which no list has told is stored and read, and the next sweep finds whose it is: %s', async (dialect) => {
  const { store, scenario, api, to } = await oneCall(dialect);
  const newest = () => store.db.selectFrom('agents').select('newest_start').executeTakeFirst();
  await scenario.sweep(noon + minuteMs / 2);
  const before = await newest();
  api.at = noon + minuteMs;
  const sent = sign(eventOf(recordOf(to, { analysis }), api.at), { at: api.at });
  expect(await post(api, sent, 'elevenlabs-signature')).toEqual({ status: 200, body: { taken: 'stored' } });
  expect((await tables(store)).conversations).toMatchObject([{ conversation_id: 'conv_1', reads: 1, final: 1, attempt_id: null }]);
  // Only a list shows the progress of lists.
  expect(await newest()).toEqual(before);
  await scenario.sweep(api.at);
  const after = await tables(store);
  expect(after.attempts[0]).toMatchObject({ conversation_id: 'conv_1', disposition: 'answered', evidence: 'number' });
  expect(await post(api, sent)).toEqual({ status: 200, body: { taken: 'nothing_new' } });
  expect(await tables(store)).toEqual(after);
});

test.for(dialects)('a record whose results are to come waits for them, however late or often it was sent: %s', async (dialect) => {
  const { store, api, to } = await oneCall(dialect);
  const endedAt = noon + minuteMs;
  const early = eventOf(recordOf(to, { status: 'processing' }), endedAt);
  // Slower than results are waited for.
  api.at = endedAt + 20 * minuteMs;
  expect((await post(api, sign(early, { at: endedAt }))).body).toEqual({ taken: 'stored' });
  const stored = await tables(store);
  expect(stored.conversations).toMatchObject([{ reads: 1, final: 0, unchanged_since: endedAt, next_read_at: endedAt + minuteMs }]);
  for (const at of [endedAt, api.at]) {
    expect((await post(api, sign(early, { at }))).body).toEqual({ taken: 'nothing_new' });
    expect(await tables(store)).toEqual(stored);
  }
  // A later repeat is no second reading that makes it steady.
  expect((await post(api, sign(eventOf(recordOf(to, { status: 'processing' }), api.at), { at: api.at }))).body).toEqual({
    taken: 'nothing_new',
  });
  const late = eventOf(recordOf(to, { analysis }), endedAt + minuteMs);
  expect((await post(api, sign(late, { at: api.at }))).body).toEqual({ taken: 'stored' });
  const done = await tables(store);
  expect(done.conversations).toMatchObject([{ reads: 2, final: 1 }]);
  // A late earlier event takes nothing back.
  expect((await post(api, sign(early, { at: api.at }))).body).toEqual({ taken: 'nothing_new' });
  expect(await tables(store)).toEqual(done);
});

test('what was read since is newer than what was sent before', async () => {
  const { store, scenario, api, to } = await oneCall();
  const record = {
    conversationId: 'conv_1',
    calleeNumber: to,
    startedAt: noon + 5_000,
    status: 'processing' as const,
    hasTranscript: true,
  };
  await scenario.sweep(noon + 2 * minuteMs, [record]);
  const read = await tables(store);
  api.at = noon + 3 * minuteMs;
  const older = eventOf(recordOf(to, { status: 'in-progress', transcript: [] }), noon + minuteMs);
  expect((await post(api, sign(older, { at: api.at }))).body).toEqual({ taken: 'nothing_new' });
  expect(await tables(store)).toEqual(read);
});

test('that nobody was reached has a record that was never read be read at once, and settles nothing', async () => {
  const { store, scenario, api, to } = await oneCall();
  api.at = noon + minuteMs;
  const failure = sign(
    eventOf({ agent_id: agentId, conversation_id: 'conv_1', failure_reason: 'busy', metadata: {} }, api.at, 'call_initiation_failure'),
    { at: api.at },
  );
  expect((await post(api, failure)).body).toEqual({ taken: 'nothing_new' });
  const ringing = conversationRecord({ agentId, conversationId: 'conv_1', calleeNumber: to, startedAt: noon + 5_000, status: 'initiated' });
  await store.transaction((tx) => storeListed(tx, [ringing], { agentId, oursSince: 0, listens: false, offsetMs: 0, now: noon + 6_000 }));
  const before = await tables(store);
  expect((await post(api, failure)).body).toEqual({ taken: 'stored' });
  const after = await tables(store);
  expect(after.conversations).toEqual(before.conversations.map((row) => ({ ...row, next_read_at: api.at })));
  expect({ ...after, conversations: [] }).toEqual({ ...before, conversations: [] });
  expect((await post(api, failure)).body).toEqual({ taken: 'nothing_new' });
  expect(await scenario.attempts()).toMatchObject([{ state: 'open' }, {}, {}, {}, {}, {}]);
});

test('an event of another agent or service, of a call long before the campaign, or that tells nothing here, is answered and not stored', async () => {
  const { store, api, to } = await oneCall();
  const elsewhere = await ApiWorld.over(store, { settings: { SVC_BASE_URL: 'http://elsewhere', SVC_WEBHOOK_SECRET: secrets } });
  const before = await tables(store);
  const long = { metadata: { start_time: noon / 1000 - 86_400, phone_call: { external_number: to } } };
  const audio = { agent_id: agentId, conversation_id: 'conv_1', full_audio: 'UklGRg==' };
  const ignored = { status: 200, body: { taken: 'not_asked_for' } };
  for (const data of [recordOf(to, { agent_id: 'agent_of_another_team' }), recordOf(to, long)])
    expect(await post(api, sign(eventOf(data, noon)))).toEqual(ignored);
  expect(await post(elsewhere, sign(eventOf(recordOf(to), noon)))).toEqual(ignored);
  expect(await post(api, sign(eventOf(audio, noon, 'post_call_audio')))).toEqual(ignored);
  expect(await tables(store)).toEqual(before);
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  expect(await post(api, sign(eventOf(recordOf(to, { analysis }), noon)))).toEqual(ignored);
  expect((await tables(store)).conversations).toEqual([]);
});

test('what the service did not sign, or long ago, is refused in the same words, and what it signed must be an event', async () => {
  const { store, api, to } = await oneCall();
  const body = eventOf(recordOf(to, { analysis }), noon);
  const good = sign(body);
  const hex = good.signature.slice(-64);
  const seconds = noon / 1000;
  const forged = ['', 'v0=x', `t=${seconds}`, `v0=${hex}`, `t=${seconds + 1},v0=${hex}`, `t=${seconds},t=${seconds},v0=${hex}`];
  const refused: Sent[] = [
    ...[...forged, `t=${seconds},v0=${hex.slice(2)}`, `t=${seconds},v1=${hex}`].map((signature) => ({ body, signature })),
    { body: `${body} `, signature: good.signature },
    ...['another_secret_altogether', ''].map((by) => sign(body, { by })),
    ...[-31, 31].map((minutes) => sign(body, { at: noon + minutes * minuteMs })),
  ];
  const why = { type: 'about:blank', title: 'No valid signature', status: 401, detail: 'The signature does not hold.', code: 'signature' };
  for (const sent of refused) expect([sent, await post(api, sent)]).toEqual([sent, { status: 401, body: why }]);
  const bad = [
    eventOf({ agent_id: 7 }, noon),
    eventOf(recordOf(to, { agent_id: 'a\0b' }), noon),
    body.replace(/"event_timestamp":\d+/, '"event_timestamp":-1'),
  ];
  const noEvents = ['', 'null', '{', '[]', '{"type":"post_call_transcription"}', ...bad];
  for (const each of noEvents) expect([each, await post(api, sign(each))]).toMatchObject([each, { status: 400 }]);
  expect(await post(api, sign(' '.repeat(4_000_001)))).toMatchObject({ status: 413 });
  const headers = { 'content-type': 'text/plain', 'svc-signature': good.signature };
  expect((await api.app.inject({ method: 'POST', url: path, headers, payload: body })).statusCode).toBe(415);
  expect((await tables(store)).conversations).toEqual([]);
  const older = sign(body, { by: 'an_older_secret_of_the_service' });
  expect((await post(api, older)).body).toEqual({ taken: 'stored' });
});

test('without a secret there is no such route, and the description of the API names it in no case', async () => {
  const { api, store } = await oneCall();
  const bare = await ApiWorld.over(store);
  expect(await post(bare, sign(eventOf({}, noon)))).toMatchObject(problem(404, 'not_found'));
  const described = async (world: ApiWorld) => (await world.body('GET /openapi.json')) as object;
  expect(await described(api)).toEqual(await described(bare));
  expect(stringify(await described(api))).not.toContain(path);
});
