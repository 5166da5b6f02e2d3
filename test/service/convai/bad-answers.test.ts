import { expect, test } from 'vitest';
import { checkNumbers } from '../../../src/campaign/preflight/caller-check.ts';
import { BadResponseError, RefusedError } from '../../../src/service/port/errors.ts';
import { contractService } from '../../../src/service/convai/contract-service.ts';
import { parseRefusalDetail } from '../../../src/service/http/refusal-detail.ts';
import { answerJson, clientOf, rejectionOf, startHttpService } from './loopback-servers.ts';

const levels = 200_000;
const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('a record that is nested 200,000 deep can be written down', async () => {
  const service = await startHttpService((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"conversation_id":"c","collected_data":{"day":"Monday","deep":${deep}}}`);
  });
  const record = await clientOf(service.baseUrl).getConversation('c');
  expect(record.collected_data).toMatchObject({ day: 'Monday' });
  expect(JSON.stringify(record).length).toBeLessThan(1_000);
});

test('one bad entry of a list leaves the others readable, and is counted', async () => {
  const entries = [{ conversation_id: 'a' }, { conversation_id: 7 }, null, { conversation_id: 'b' }];
  const service = await startHttpService((response) => answerJson(response, 200, { conversations: entries }));
  const client = clientOf(service.baseUrl);
  const page = await client.listConversationsPage();
  expect(page.conversations).toEqual([{ conversation_id: 'a' }, { conversation_id: 'b' }]);
  expect(page.unusable).toEqual([{ conversation_id: 7 }, null]);
  const counted: number[] = [];
  const listed: string[] = [];
  for await (const { conversation_id: id } of client.listConversations({ onUnusable: (n) => counted.push(n) })) listed.push(id);
  expect({ listed, counted }).toEqual({ listed: ['a', 'b'], counted: [2] });
});

test('one bad entry of the agents or the numbers leaves the others readable, and is counted', async () => {
  const service = await startHttpService((response, { url }) => {
    if (url.startsWith('/v1/convai/agents')) answerJson(response, 200, { agents: [{ agent_id: 'a' }, { name: 'no id' }, null] });
    else answerJson(response, 200, [{ phone_number_id: 'p', label: 7 }, { phone_number_id: 'q' }]);
  });
  const client = clientOf(service.baseUrl);
  const counted: number[] = [];
  const onUnusable = (entries: number) => counted.push(entries);
  const agents: string[] = [];
  for await (const { agent_id: id } of client.listAgents({ onUnusable })) agents.push(id);
  expect(agents).toEqual(['a']);
  expect(await client.listPhoneNumbers({ onUnusable })).toEqual([{ phone_number_id: 'q' }]);
  expect(counted).toEqual([2, 1]);
});

test('a caller number that may be the bad entry is not called unknown', async () => {
  const service = await startHttpService((response) =>
    answerJson(response, 200, [{ phone_number_id: 'q' }, { phone_number_id: 'p', label: 7 }]),
  );
  const callers = contractService(clientOf(service.baseUrl));
  expect(await checkNumbers(callers, ['q'])).toMatchObject({ ok: true });
  const error = await rejectionOf(checkNumbers(callers, ['q', 'p']), BadResponseError);
  expect(error.problems).toEqual(['1 of its entries cannot be used, and p is not among the others']);
});

test('of a list of 60,000 entries at once the first are read, and it is known that there are more', async () => {
  const conversations = Array.from({ length: 60_000 }, (_, n) => ({ conversation_id: `c${n}` }));
  const service = await startHttpService((response) => answerJson(response, 200, { conversations, has_more: false }));
  const page = await clientOf(service.baseUrl).listConversationsPage();
  expect(page.conversations).toHaveLength(20_000);
  expect(page).toMatchObject({ hasMore: true, nextCursor: null });
});

test('a cursor of a megabyte is not followed', async () => {
  const body = { conversations: [], has_more: true, next_cursor: 'x'.repeat(1_000_000) };
  const service = await startHttpService((response) => answerJson(response, 200, body));
  expect(await clientOf(service.baseUrl).listConversationsPage()).toMatchObject({ hasMore: true, nextCursor: null });
});

test('an answer of 63 MB is given up before it is read', async () => {
  let written = 0;
  const service = await startHttpService((response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    response.writeHead(200, { 'content-type': 'application/json' });
    const write = (): void => {
      while (written < 63 && !response.destroyed) {
        written += 1;
        if (!response.write(chunk)) return void response.once('drain', write);
      }
      response.end('{}');
    };
    write();
  });
  const error = await rejectionOf(clientOf(service.baseUrl).getConversation('c'), BadResponseError);
  expect(error.problems).toEqual(['the body is too large']);
  expect(written).toBeLessThan(40);
});

test.each([
  ['empty objects', (size: number) => `{"transcript":[${'{},'.repeat(size / 3)}{}]}`],
  ['empty lists', (size: number) => `{"collected_data":{"a":[${'[],'.repeat(size / 3)}[]]}}`],
  ['numbers', (size: number) => `{"collected_data":{"a":[${'1,'.repeat(size / 2)}1]}}`],
])('an answer of 15 MB of %s is refused by its bytes, before anything is made of them', async (_name, body) => {
  const text = body(15_000_000);
  const service = await startHttpService((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(text);
  });
  const error = await rejectionOf(clientOf(service.baseUrl).getConversation('c'), BadResponseError);
  expect(error.problems).toEqual(['the body has more than 300000 values']);
});

test('a long talk with commas and brackets in its words is no answer of too many values', async () => {
  const text = ',[{\\"'.repeat(400_000);
  const service = await startHttpService((response) => answerJson(response, 200, { transcript: [{ text }] }));
  expect(await clientOf(service.baseUrl).getConversation('c')).toMatchObject({ transcript: [{ text }] });
});

test.each([
  ['nothing but <', '<'.repeat(20_000)],
  ['scripts that never end', '<script '.repeat(2_500)],
  ['tags that never end', '<a '.repeat(6_000)],
])('the words of a refusal page of %s are found by reading it once', (_name, page) => {
  // Each `<` used to be tried against the whole rest: a second for one page, and one thousand of them would never end.
  for (let n = 0; n < 1_000; n += 1) parseRefusalDetail(page, (text) => text);
});

test('a refusal with 300,000 complaints is still a refusal, with the first of them', async () => {
  const detail = Array.from({ length: 300_000 }, (_, n) => ({ loc: ['body', n], msg: 'no' }));
  const service = await startHttpService((response) => answerJson(response, 422, { detail }));
  const error = await rejectionOf(clientOf(service.baseUrl).createAgent({ name: 'a' }), RefusedError);
  expect(error.detail.fields).toHaveLength(100);
});

test('words of a refusal hold nothing that controls a terminal', () => {
  const body = JSON.stringify({ detail: { code: 'a\u001b[2Jb', message: 'first\nsecond\u0000\u009b31m' } });
  expect(parseRefusalDetail(body, (text) => text)).toMatchObject({ code: 'a [2Jb', message: 'first second 31m' });
});
