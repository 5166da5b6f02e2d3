import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { appendEvents, readAllEvents } from '../../../src/ledger/events.ts';
import { changeCampaignState, endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { claimDeliveries, noteDelivered } from '../../../src/ledger/webhooks/deliveries.ts';
import { findEndOfLog } from '../../../src/ledger/webhooks/log-end.ts';
import { deleteWebhook, steerWebhook } from '../../../src/ledger/webhooks/registry.ts';
import { readToldRow } from '../../../src/ledger/webhooks/message.ts';
import { failingAfterMs, pauseAfterFailuresMs } from '../../../src/rules/webhooks/pace.ts';
import { readNetworks } from '../../../src/shared/hooks/networks.ts';
import { askPreDial, type PreDialQuestion, readAnswer } from '../../../src/shared/hooks/pre-dial.ts';
import { readSigningKeys, signedHeaders } from '../../../src/shared/hooks/signature.ts';
import { verifyLog } from '../../../src/verify/log.ts';
import { answered, beginProven, noon } from '../../ledger/scenario.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { bothDialects, dialects, emptyDatabase, openAt, type TestDialect } from '../../ledger/test-stores.ts';
import { until } from '../../support/until.ts';
import { type HookAnswer, sendJson, startHookServer } from './hook-server.ts';
import { addTestWebhook, readMessages, startDelivery, webhookId, webhookOf } from './webhook-world.ts';
import type { Store } from '../../../src/ledger/tx.ts';

const taken: HookAnswer = (response) => sendJson(response, {});

/** As the ledger writes it when a campaign changes its state. */
async function changeStates(store: Store, campaignId: string, changes: readonly [string, string][]): Promise<void> {
  await store.transaction((tx) =>
    appendEvents(
      tx,
      changes.map(([from, to]) => ({
        at: noon,
        campaignId,
        type: 'campaign.state',
        data: { from, to, reason: null } as never,
      })),
    ),
  );
}

/** A receiver that answers so, and a webhook to it; `changes`: the changes of the campaign spring since. */
async function begin(dialect: TestDialect, answer: HookAnswer = taken, ...changes: [string, string][]) {
  const hook = await startHookServer(answer);
  const store = await openCleanStore(dialect);
  await addTestWebhook(store, hook.url);
  if (changes.length > 0) await changeStates(store, 'spring', changes);
  return { hook, store };
}

const started: [string, string] = ['draft', 'running'];
const byHand = { webhookId, by: 'person', now: noon, nowReal: noon };

test.for(dialects)('a webhook is told of rows and campaigns in the order of the log: %s', async (dialect) => {
  const hook = await startHookServer(taken);
  const store = await openCleanStore(dialect);
  const results = [{ result: 'reached', value: null, talkUnderMs: 3_600_000, goal: false }];
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 }, results } });
  const { url } = await addTestWebhook(store, hook.url);
  expect(url).toBe(hook.url);
  const running = startDelivery(store);
  const [first = ''] = await scenario.dial(1);
  const [attempt] = (await scenario.attempts()).filter(({ attempt_id: id }) => id === first);
  await scenario.sweep(noon + 60_000, [{ ...answered('conv_1', attempt?.e164 ?? '', noon + 10_000), durationMs: 20_000 }]);
  await store.transaction((tx) =>
    changeCampaignState(tx, { campaignId: 'spring', now: noon + 61_000 }, { to: 'paused', reason: 'the key is refused' }),
  );
  await endCampaign(store, { campaignId: 'spring', now: noon + 62_000 }, { why: 'cancelled' });
  await scenario.plan(2);
  await until('five rows have ended', () => hook.calls.length >= 7);
  await running.stop();
  const messages = readMessages(hook.calls);
  expect(messages.slice(0, 3)).toMatchObject([
    {
      type: 'row.ended',
      timestamp: '2030-01-15T12:01:00.000Z',
      data: { campaign: 'spring', row: 1, id: null, outcome: 'completed', reason: 'answered', attempts: 1 },
    },
    {
      type: 'row.result',
      timestamp: '2030-01-15T12:01:00.000Z',
      data: { campaign: 'spring', row: 1, id: null, result: 'reached', attempts: 1 },
    },
    {
      type: 'campaign.paused',
      data: { campaign: 'spring', reason: 'the key is refused', resumes_at: null },
    },
  ]);
  expect(messages.slice(3).map(({ type, data }) => [type, data['outcome'], data['attempts']])).toEqual(
    Array.from({ length: 4 }, () => ['row.ended', 'cancelled', 0]),
  );
  const page = await readFile(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
  for (const [index, name] of [
    [0, 'row.ended'],
    [2, 'campaign.paused'],
  ] as const) {
    const documented = JSON.parse(page.split(`\`\`\`json ${name}\n`)[1]?.split('```')[0] ?? '{}') as object;
    const { id: _id, ...body } = messages[index] ?? { id: '' };
    expect(Object.keys(documented)).toEqual(Object.keys(body));
    expect(Object.keys((documented as typeof body & { data: object }).data)).toEqual(
      Object.keys((body as unknown as { data: object }).data),
    );
  }
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  expect(hook.calls.map(({ text }) => text).join(' ')).not.toMatch(/Guest|\d555\d{4}|conv_1/);
  expect(await webhookOf(store)).toMatchObject({ failures: 0, succeededReal: expect.any(Number), state: 'active' });

  // Another delivery goes on behind what was confirmed.
  const again = startDelivery(store);
  await changeStates(store, 'spring', [['draining', 'cancelled']]);
  await until('one more has come', () => hook.calls.length > messages.length);
  await again.stop();
  expect(
    readMessages(hook.calls)
      .slice(messages.length)
      .map(({ type }) => type),
  ).toEqual(['campaign.cancelled']);
});

test.for(dialects)('what is not confirmed is sent again, with the same id and the same words: %s', async (dialect) => {
  const { hook, store } = await begin(dialect, (response) => response.socket?.destroy(), started, ['running', 'paused']);
  const log: string[] = [];
  const logger = pino({ base: null }, { write: (line) => void log.push(line) });
  for (const tries of [1, 2, 3])
    expect(await startDelivery(store, { logger }).ended).toMatchObject({
      type: 'Hook',
      message: 'The webhook did not take an event (no_connection)',
      nextRetryDelay: pauseAfterFailuresMs(tries),
      nonRetryable: false,
    });
  expect(await webhookOf(store)).toMatchObject({
    failures: 3,
    failingSinceReal: expect.any(Number),
    fault: 'no_connection',
    status: null,
  });
  expect(log.join(' ')).toContain('127.0.0.1');
  expect(log.join(' ')).not.toContain('planted');
  hook.answerWith(taken);
  const running = startDelivery(store);
  await until('both have come', () => hook.calls.length === 5);
  await running.stop();
  const messages = readMessages(hook.calls);
  expect(messages.map(({ type }) => type)).toEqual([...Array.from({ length: 4 }, () => 'campaign.started'), 'campaign.paused']);
  expect(new Set(messages.slice(0, 4).map(({ id }) => id)).size).toBe(1);
  expect(new Set(hook.calls.slice(0, 4).map(({ text }) => text)).size).toBe(1);
  expect(await webhookOf(store)).toMatchObject({ failures: 0, failingSinceReal: null });
});

test('pauses between tries grow up to an hour', () => {
  expect([1, 2, 3, 10, 11, 500].map((failures) => pauseAfterFailuresMs(failures) / 1000)).toEqual([5, 10, 20, 2560, 3600, 3600]);
});

test.for(dialects)('failures of days mark a webhook as failing, once, and it goes on being tried: %s', async (dialect) => {
  const { hook, store } = await begin(dialect, (response) => sendJson(response, {}, 500), started);
  const seen: string[] = [];
  for (const afterMs of [0, failingAfterMs - 1, failingAfterMs, failingAfterMs + 1]) {
    await startDelivery(store, { nowReal: () => noon + afterMs }).ended;
    seen.push((await webhookOf(store)).state);
  }
  expect(seen).toEqual(['active', 'active', 'failing', 'failing']);
  hook.answerWith(taken);
  const running = startDelivery(store);
  await until('it has recovered', async () => (await webhookOf(store)).state === 'active');
  await running.stop();
  const changes = (await readAllEvents(store.db, 0, 100, ['webhook.changed'])).map(({ campaignId, data }) => [campaignId, data]);
  expect(changes).toEqual([
    ['account', { webhook: webhookId, change: 'added', by: 'person' }],
    ['account', { webhook: webhookId, change: 'failing', by: 'carillon' }],
    ['account', { webhook: webhookId, change: 'recovered', by: 'carillon' }],
  ]);
});

test.for(dialects)('a receiver that answers 410 is told nothing more, until somebody resumes it: %s', async (dialect) => {
  const hook = await startHookServer((response) => sendJson(response, {}, 410));
  const store = await openCleanStore(dialect);
  const { campaignId } = await beginProven(store);
  await addTestWebhook(store, hook.url);
  for (const to of ['paused', 'running'] as const)
    await store.transaction((tx) => changeCampaignState(tx, { campaignId, now: noon }, { to }));
  expect(await startDelivery(store).ended).toEqual({ isOver: true });
  expect(await webhookOf(store)).toMatchObject({
    state: 'disabled',
    status: 410,
    reason: expect.stringContaining('410'),
  });
  expect(await startDelivery(store).ended).toEqual({ isOver: true });
  expect(hook.calls).toHaveLength(1);
  hook.answerWith(taken);
  await steerWebhook(store, 'resume', byHand);
  const running = startDelivery(store);
  await until('both have come', () => hook.calls.length === 3);
  await running.stop();
  expect(readMessages(hook.calls).map(({ type }) => type)).toEqual(['campaign.paused', 'campaign.paused', 'campaign.resumed']);
  const data = { name: 'front desk', action: 'webhook_resumed' };
  await store.transaction((tx) => appendEvents(tx, [{ at: noon, campaignId: 'account', type: 'operator.acted', data }]));
  expect((await verifyLog(store.db, null)).rules.flatMap(({ violations }) => violations)).toEqual([]);
});

test.each([302, 400, 401, 404, 408, 422, 429, 500, 503])('a receiver that answers %i is asked again', async (status) => {
  const { hook, store } = await begin('sqlite', (response) => response.writeHead(status, { location: '/elsewhere' }).end(), started);
  expect(await startDelivery(store).ended).toMatchObject({ type: 'Hook', nonRetryable: false });
  expect(await webhookOf(store)).toMatchObject({ state: 'active', failures: 1, status });
  expect(hook.calls).toHaveLength(1);
});

test('one without a secret, and one whose address is not set, is not sent to and says so', async () => {
  const { hook, store } = await begin('sqlite');
  await addTestWebhook(store, 'env://CARILLON_URL_CRM', { webhookId: 'other' });
  await changeStates(store, 'spring', [started]);
  expect(await startDelivery(store, { hookSecret: undefined }).ended).toMatchObject({ message: /no_secret/ });
  await store.db.updateTable('webhooks').set({ url: 'env://CARILLON_URL_CRM' }).where('webhook_id', '=', webhookId).execute();
  expect(await startDelivery(store).ended).toMatchObject({ message: /no_address/ });
  expect(hook.calls).toEqual([]);
  const running = startDelivery(store, {
    readVariable: (name) => (name === 'CARILLON_URL_CRM' ? hook.url : undefined),
  });
  await until('it has come', () => hook.calls.length === 1);
  await running.stop();
});

test.for(dialects)('a webhook of one campaign, and of some types, is told of those alone: %s', async (dialect) => {
  const hook = await startHookServer(taken);
  const store = await openCleanStore(dialect);
  await addTestWebhook(store, hook.url, { campaignId: 'spring', types: ['campaign.started', 'campaign.completed'] });
  const life = [
    ['draft', 'running'],
    ['running', 'paused'],
    ['paused', 'running'],
    ['running', 'completed'],
  ] as const;
  for (const campaignId of ['spring', 'summer'])
    await changeStates(
      store,
      campaignId,
      life.map(([from, to]) => [from, to]),
    );
  await changeStates(store, 'spring', [['completed', 'running']]);
  const running = startDelivery(store);
  await until('three have come', () => hook.calls.length === 3);
  await running.stop();
  expect(readMessages(hook.calls).map(({ type, data }) => [type, data['campaign']])).toEqual([
    ['campaign.started', 'spring'],
    ['campaign.completed', 'spring'],
    ['campaign.started', 'spring'],
  ]);
  const last = (await readAllEvents(store.db, 0, 100)).at(-1);
  expect((await webhookOf(store)).cursor).toBe(last?.seq);
});

test.skipIf(!bothDialects.includes('postgres'))('an event that is committed late is not missed', async () => {
  const location = await emptyDatabase('postgres');
  const store = await openAt(location);
  const other = await openAt(location);
  const hook = await startHookServer(taken);
  await addTestWebhook(store, hook.url, { types: ['campaign.completed'] });
  let commit = (): void => {};
  const held = new Promise<void>((resolve) => (commit = resolve));
  let isWritten = false;
  const late = other.transaction(async (tx) => {
    const data = { from: 'running', to: 'completed', reason: null } as const;
    await appendEvents(tx, [{ at: noon, campaignId: 'late', type: 'campaign.state', data }]);
    isWritten = true;
    await held;
  });
  await until('the first event has its number', () => isWritten);
  await changeStates(store, 'early', [['draft', 'running']]);
  const added = await addTestWebhook(store, hook.url, { webhookId: 'later' });
  // It looks at the log once, and keeps how far it has got.
  await startDelivery(store).stop();
  commit();
  await late;
  const running = startDelivery(store);
  await until('the late event has come', () => hook.calls.length === 1);
  await running.stop();
  const [event] = await readAllEvents(store.db, 0, 100, ['campaign.state']);
  expect(readMessages(hook.calls).map(({ data }) => data['campaign'])).toEqual(['late']);
  // One that was added before the commit is told of it, too.
  expect(added.cursor).toBeLessThan(event?.seq ?? 0);
});

test.for(dialects)('a call that was given back is no attempt, and one after an event is none of it: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 1 } } });
  const before = await findEndOfLog(store);
  await scenario.dial(1);
  const [recipientId = ''] = (await scenario.attempts()).map((attempt) => attempt.recipient_id);
  const after = await findEndOfLog(store);
  expect(await readToldRow(store.db, recipientId, before)).toEqual({ row: 1, id: null, attempts: 0 });
  expect(await readToldRow(store.db, recipientId, after)).toEqual({ row: 1, id: null, attempts: 1 });
  await store.db.updateTable('attempts').set({ state: 'released' }).execute();
  expect(await readToldRow(store.db, recipientId, after)).toEqual({ row: 1, id: null, attempts: 0 });
});

test.for(dialects)('of two deliveries the one that came later goes on, and the other sends nothing more: %s', async (dialect) => {
  const hook = await startHookServer();
  const held: (() => void)[] = [];
  hook.answerWith((response) => held.push(() => sendJson(response, {})));
  const store = await openCleanStore(dialect);
  await addTestWebhook(store, hook.url);
  await changeStates(store, 'spring', [
    ['draft', 'running'],
    ['running', 'paused'],
    ['paused', 'running'],
  ]);
  const first = startDelivery(store);
  await until('the first delivery waits for its answer', () => held.length === 1);
  // The ledger takes what others write meanwhile.
  await changeStates(store, 'spring', [['running', 'completed']]);
  const second = startDelivery(store);
  await until('the second delivery sends the same again', () => held.length === 2);
  held[0]?.();
  expect(await first.ended).toEqual({ isOver: false });
  hook.answerWith(taken);
  held[1]?.();
  await until('all have come', () => hook.calls.length === 5);
  await second.stop();
  const messages = readMessages(hook.calls);
  expect(messages.map(({ type }) => type.replace('campaign.', ''))).toEqual(['started', 'started', 'paused', 'resumed', 'completed']);
  expect(messages[0]?.id).toBe(messages[1]?.id);
});

test.for(dialects)('a webhook that is paused or removed is sent nothing more: %s', async (dialect) => {
  const { hook, store } = await begin(dialect);
  const first = startDelivery(store);
  await steerWebhook(store, 'pause', byHand);
  expect(await first.ended).toEqual({ isOver: true });
  await changeStates(store, 'spring', [started]);
  expect(await startDelivery(store).ended).toEqual({ isOver: true });
  expect(hook.calls).toEqual([]);
  await steerWebhook(store, 'resume', byHand);
  const second = startDelivery(store);
  await until('what came meanwhile is sent', () => hook.calls.length === 1);
  expect(await deleteWebhook(store, byHand)).toBe(true);
  expect(await second.ended).toEqual({ isOver: true });
  expect(await deleteWebhook(store, byHand)).toBe(false);
});

test('an answer that arrives after another delivery has taken over moves no cursor', async () => {
  const store = await openCleanStore('sqlite');
  await addTestWebhook(store, 'http://127.0.0.1:9/');
  const first = await claimDeliveries(store, webhookId);
  await claimDeliveries(store, webhookId);
  if (first === null) throw new Error('there was nothing to deliver to');
  expect(await noteDelivered(store, first.claim, { cursor: 99, now: noon, nowReal: noon })).toBe(false);
  expect((await webhookOf(store)).cursor).toBeLessThan(99);
});

const page = await readFile(new URL('../../../docs/hooks.md', import.meta.url), 'utf8');
const at = Date.UTC(2030, 0, 15, 12);

/** The block of the page behind these words. */
function block(info: string): string {
  const [, text] = new RegExp(`^\`\`\`${info}\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/hooks.md has no block ${info}`);
  return text;
}

type Headers = Record<string, string | undefined>;
interface Documented {
  isFromCarillon: (headers: Headers, body: string, secret: string, nowSeconds?: number) => boolean;
  readHook: (headers: Headers, body: string, secret: string) => unknown;
}

/** A block of code of the page, as a module of this project. */
async function load(info: string): Promise<Documented> {
  const folder = await mkdtemp(fileURLToPath(new URL('.documented-', import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'documented.mjs'), block(info));
  return (await import(pathToFileURL(join(folder, 'documented.mjs')).href)) as Documented;
}

const body = '{"event":"campaign.ended","note":"Schön"}';
const secrets = { plain: 'a-secret-for-tests-only', encoded: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };

function sign(written: string, atMs: number): Record<string, string> {
  return signedHeaders(readSigningKeys(written) ?? [], { id: 'spring/1', body, atMs });
}

test.each(Object.values(secrets))('the documented check takes what Carillon signs, and nothing else: %s', async (own) => {
  const { isFromCarillon } = await load('js verify');
  const headers = sign(own, at);
  const now = at / 1000;
  expect(isFromCarillon(headers, body, own, now + 299)).toBe(true);
  expect(isFromCarillon(headers, body, own, now + 301)).toBe(false);
  expect(isFromCarillon(headers, body, own, now - 301)).toBe(false);
  expect(isFromCarillon(headers, `${body} `, own, now)).toBe(false);
  expect(isFromCarillon(headers, body, 'another-secret-for-tests', now)).toBe(false);
  for (const [name, value] of [
    ['webhook-timestamp', String(now + 1)],
    ['webhook-timestamp', undefined],
    ['webhook-id', 'spring/2'],
    ['webhook-signature', undefined],
    ['webhook-signature', 'v1,AAAA'],
  ] as const)
    expect(isFromCarillon({ ...headers, [name]: value }, body, own, now), `${name} ${value}`).toBe(false);
});

test('what Carillon signs is taken by the package of Standard Webhooks', async () => {
  const { readHook } = await load('js library');
  const headers = sign(secrets.encoded, Date.now());
  expect(readHook(headers, body, secrets.encoded)).toEqual(JSON.parse(body));
  expect(() => readHook(headers, `${body} `, secrets.encoded)).toThrow('No matching signature found');
  expect(() => readHook({ ...headers, 'webhook-id': 'other' }, body, secrets.encoded)).toThrow('No matching signature');
  expect(() => readHook(sign(secrets.encoded, 0), body, secrets.encoded)).toThrow('too old');
  const raw = new Webhook(secrets.plain, { format: 'raw' });
  expect(raw.verify(body, sign(secrets.plain, Date.now()))).toEqual(JSON.parse(body));
});

test('while the secret changes, the receiver may have the new one or the old one', async () => {
  const { readHook } = await load('js library');
  const next = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
  const headers = sign(`${next} ${secrets.encoded}`, Date.now());
  for (const known of [next, secrets.encoded]) expect(readHook(headers, body, known)).toEqual(JSON.parse(body));
});

test.each(['short-one', 'whsec_', 'whsec_YWJj', `whsec_${'A'.repeat(40)}!`, `whsec_${Buffer.alloc(65).toString('base64')}`])(
  'a secret that no receiver could use is refused: %s',
  (written) => expect(readSigningKeys(written)).toBeNull(),
);

test('the documented question is the one that is asked, and the documented answer one that is understood', async () => {
  const { event, ...question } = JSON.parse(block('json pre_dial')) as PreDialQuestion & { event: string };
  const answer = block('json pre_dial answer');
  const hook = await startHookServer((response) => sendJson(response, JSON.parse(answer)));
  const verdicts = await askPreDial(question, {
    url: hook.url,
    secret: secrets.plain,
    networks: readNetworks('127.0.0.1') ?? undefined,
    eventId: 'one',
    timeoutMs: 20_000,
    nowReal: () => at,
    readVariable: () => undefined,
    stopping: new AbortController().signal,
  });
  expect(hook.calls[0]?.body).toEqual({ event, ...question });
  expect(event).toBe('pre_dial');
  const refs = question.recipients.map(({ ref }) => ref);
  expect(verdicts).toEqual(readAnswer(answer, refs));
  expect([...verdicts.values()]).toEqual([
    { kind: 'eligible' },
    { kind: 'refused', code: 'no_consent' },
    { kind: 'later', afterMs: 7_200_000 },
  ]);
});
