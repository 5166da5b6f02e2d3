import { expect, onTestFinished, test, vi } from 'vitest';
import nodeCrypto from 'node:crypto';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { claimKey, freeKey, holdKey, keepAnswer } from '../../../src/ledger/console/idempotency-keys.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { bothDialects } from '../../ledger/test-stores.ts';
import { until } from '../../support/until.ts';
import { ApiWorld } from './api-world.ts';
import { createToken, findToken, tokenRoles, type TokenRole } from '../../../src/ledger/console/tokens.ts';
import { problem } from '../../support/answers.ts';

const add = 'POST /suppressions';
const number = '+12125550100';
/** A request being carried out reports it in shorter intervals. */
const silentMs = 20_000;

test.for(bothDialects)('a key whose first request died is taken over after it has said nothing for a while: %s', async (dialect) => {
  let nowReal = noon;
  const store = { ...(await openCleanStore(dialect)), now: async () => nowReal };
  const world = await ApiWorld.over(store);
  const ask = () => world.ask(add, { key: 'k1', body: { numbers: [number] } });
  expect(await ask()).toMatchObject({ body: { added: 1 } });
  // As left by a process killed between work and answer.
  await store.db.updateTable('answers').set({ status: null, body: null }).where('key', '=', 'k1').execute();
  nowReal += silentMs - 1;
  const early = await ask();
  expect(early).toMatchObject({ status: 409, body: { code: 'under_way' }, headers: { 'retry-after': '2' } });
  nowReal += 1;
  const taken = await ask();
  expect(taken).toMatchObject({ status: 200, body: { added: 0, known: 1 } });
  expect(taken.headers['idempotent-replayed']).toBeUndefined();
  expect((await ask()).headers['idempotent-replayed']).toBe('true');
});

test('a request that lasts long keeps its key as long as it lasts', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let nowReal = noon;
  const store = { ...(await openCleanStore('sqlite')), now: async () => nowReal };
  const request = { tokenId: 'console', key: 'long', parts: { method: 'hash' } };
  const claim = await claimKey(store, request);
  const entry = claim.kind === 'new' ? claim.entry : '';
  const letGo = holdKey(store, entry);
  const signedAt = async () => (await store.db.selectFrom('answers').select('begun_real').executeTakeFirst())?.begun_real;
  for (let sign = 1; sign <= 3; sign += 1) {
    nowReal += silentMs - 1;
    vi.advanceTimersByTime(silentMs / 4);
    await until('it has signed', async () => (await signedAt()) === nowReal);
  }
  expect(await claimKey(store, request)).toEqual({ kind: 'under_way' });
  letGo();
  nowReal += silentMs;
  vi.advanceTimersByTime(silentMs);
  expect(await claimKey(store, request)).toMatchObject({ kind: 'new' });
});

test.for(bothDialects)('of many who take over a dead key one does, and the dead one changes nothing: %s', async (dialect) => {
  let nowReal = noon;
  const store = { ...(await openCleanStore(dialect)), now: async () => nowReal };
  const request = { tokenId: 'console', key: `takeover-${dialect}`, parts: { method: 'hash' } };
  const dead = await claimKey(store, request);
  nowReal += silentMs;
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
    expect(answer).toMatchObject(problem(409, 'key_reused'));
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.stringify(answer.body)).not.toMatch(/5550|letter|spring/);
    return answer.body.differs as string[];
  };
  expect(await differs(add, { ...body, numbers: ['+12125550101'] })).toEqual(['body.numbers']);
  expect(await differs(add, { numbers: [number], campaign: 'spring' })).toEqual(['body.reason']);
  expect(await differs('POST /suppressions/remove', { numbers: [number], campaign: 'spring' })).toEqual(['path', 'body.reason']);
  expect(await differs('DELETE /webhooks/0123456789ab')).toEqual(['method', 'path', 'body.numbers', 'body.campaign', 'body.reason']);
  // The refusal has not used up the key.
  expect((await world.ask(add, { key: 'k1', body })).headers['idempotent-replayed']).toBe('true');
});

test('a key that comes with another file or other options is refused with their names', async () => {
  const world = await ApiWorld.empty();
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

const operationsOf: Readonly<Record<TokenRole, string>> = {
  read:
    'checkCampaign checkSuppressions downloadReport followEvents listCampaigns listEvents listRows listSchedules listWebhooks ' +
    'readSchedule readWebhook searchPeople showAccountLimits showCampaign showCourse showFunnel showHouseRules showReport showStory showWaiting',
  operate:
    'addRows addSuppressions adjustCampaign cancelCallback cancelCampaign continueSchedule createCampaign deleteSchedule downloadEvidence downloadRecording downloadResults drainCampaign ' +
    'fixRows importSuppressions listCallbacks listDoubtful listResults listSuppressions pauseCampaign pauseSchedule readCampaignFile recoverCampaign resolveAll resolveRow ' +
    'resumeCampaign resumeSchedule retryRows setCallback showTranscript startExample triggerSchedule updateList withdrawRows',
  admin:
    'addWebhook adjustAccountLimits createSchedule createToken editSchedule listTokens pauseWebhook previewSchedule removeSuppressions removeWebhook resumeWebhook ' +
    'revokeToken setHouseRules testWebhook',
};
const roleOf = new Map(tokenRoles.flatMap((role) => operationsOf[role].split(' ').map((id) => [id, role] as const)));

interface Described {
  paths: Record<string, Record<string, { operationId: string; description?: string }>>;
}

/** Without the body: some never end. */
async function statusOf(url: string, method: string, token: string | null): Promise<number> {
  const headers = { 'idempotency-key': crypto.randomUUID(), ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
  const request = httpRequest(url, { method, headers, agent: false });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.destroy();
  return response.statusCode ?? 0;
}

test('each route lets through exactly the roles that may use it', async () => {
  const store = await openCleanStore('sqlite');
  await beginProven(store);
  const world = await ApiWorld.over(store);
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { paths } = (await world.body('GET /openapi.json', { token: null })) as Described;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, description }]) => ({ path, method, operationId, description })),
  );
  expect(routes.map(({ operationId }) => operationId).toSorted()).toEqual([...roleOf.keys()].toSorted());
  const names: Record<string, string> = { campaign: 'spring', row: '1', call: '1', format: 'csv', webhook: 'none' };
  for (const { path, method, operationId, description } of routes) {
    const wanted = roleOf.get(operationId) ?? 'admin';
    expect(description).toContain(`Takes the role ${wanted}.`);
    const url = `${address}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? 'none')}`;
    const ask = (token: string | null) => statusOf(url, method.toUpperCase(), token);
    expect(await ask(null), operationId).toBe(401);
    expect(await ask(`carillon_000000000000_${'x'.repeat(43)}`), operationId).toBe(401);
    for (const role of tokenRoles) {
      const status = await ask(world.tokenText(role));
      const may = tokenRoles.indexOf(role) >= tokenRoles.indexOf(wanted);
      if (may) expect([401, 403], `${role}: ${operationId}`).not.toContain(status);
      else expect(status, `${role}: ${operationId}`).toBe(403);
    }
  }
});

test('a token that nobody has takes the same steps as one with a wrong secret', async () => {
  const compared = vi.spyOn(nodeCrypto, 'timingSafeEqual');
  // Also for modules that imported it by name.
  syncBuiltinESMExports();
  onTestFinished(() => {
    compared.mockRestore();
    syncBuiltinESMExports();
  });
  const store = await openCleanStore('sqlite');
  const { text } = await createToken(store, { name: 'console', role: 'read', lastsMs: null, nowReal: noon });
  for (const id of [text.split('_')[1], '000000000000']) {
    compared.mockClear();
    expect(await findToken(store, `carillon_${id}_${'x'.repeat(43)}`, noon)).toBeNull();
    expect(compared, id).toHaveBeenCalledOnce();
    const [stored, sent] = compared.mock.calls[0] ?? [];
    expect(stored?.byteLength).toBe(sent?.byteLength);
  }
});

test('the description of the API is OpenAPI 3.1 without a fault, and complete', async () => {
  const world = await ApiWorld.empty();
  const { status, body } = await world.ask('GET /openapi.json', { token: null });
  expect(status).toBe(200);
  expect(body.openapi).toBe('3.1.0');
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: { 'no-empty-servers': 'off', 'no-server-example.com': 'off' },
  });
  const problems = await lintFromString({ source: JSON.stringify(body), config });
  expect(problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`)).toEqual([]);
  const routes = world.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .filter((line) => line.includes('('));
  expect(routes.length).toBeGreaterThan(Object.keys(body.paths).length);
  const paths = Object.values<Record<string, { responses: Record<string, { content: object }> }>>(body.paths);
  const responses = paths.flatMap((path) => Object.values(path)).flatMap((operation) => Object.entries(operation.responses));
  for (const [status, { content }] of responses)
    if (Number(status) >= 400) expect(Object.keys(content)).toEqual(['application/problem+json']);
});
