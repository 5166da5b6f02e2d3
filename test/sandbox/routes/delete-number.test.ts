import { expect, test } from 'vitest';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const numbers = '/v1/convai/phone-numbers';
const hour = 3_600_000;

async function remove(sandbox: TestSandbox, id = 'pn_main'): Promise<void> {
  expect(await sandbox.request('DELETE', `${numbers}/${id}`)).toMatchObject({ status: 200, body: {} });
}

async function importNumber(sandbox: TestSandbox, phoneNumber: string): Promise<string> {
  const body = { label: 'L', phone_number: phoneNumber, telephony_account_sid: 'AC1', telephony_auth_token: 'token' };
  return (await sandbox.request('POST', numbers, body)).body.phone_number_id;
}

function deletedUse(sandbox: TestSandbox): Json[] {
  return sandbox.conduct().checks.find(({ name }) => name === 'deleted_use')?.violations ?? [];
}

test('a deleted number is in no list, and its agent has it no more', async () => {
  const sandbox = await startTestSandbox();
  await remove(sandbox);
  const ids = (list: Json[]): string[] => list.map((each) => each.phone_number_id);
  expect(ids((await sandbox.get(numbers)).body)).toEqual(['pn_second', 'pn_unverified']);
  const paged = await sandbox.get('/v1/convai/v2/phone-numbers');
  expect(ids(paged.body.phone_numbers)).toEqual(['pn_second', 'pn_unverified']);
  expect(ids((await sandbox.get('/_sandbox/numbers')).body.numbers)).toEqual(['pn_second', 'pn_unverified']);
  expect((await sandbox.get('/v1/convai/agents/agent_reminders')).body.phone_numbers).toEqual([]);
  expect(deletedUse(sandbox)).toEqual([]);
});

test('a number that was deleted is 404 afterwards, and whoever asks for it is told of in the conduct report', async () => {
  const sandbox = await startTestSandbox();
  await remove(sandbox);
  const answers = [
    await sandbox.request('DELETE', `${numbers}/pn_main`),
    await sandbox.request('PATCH', `${numbers}/pn_main`, { agent_id: 'agent_survey' }),
  ];
  for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'phone_number_not_found' } } });
  expect(deletedUse(sandbox)).toMatchObject([{ what: 'a deleted phone number was asked for', id: 'pn_main' }, {}]);
  expect((await sandbox.request('DELETE', `${numbers}/pn_none`)).status).toBe(404);
  expect(deletedUse(sandbox)).toHaveLength(2);
});

test('of a batch from a number that is deleted, the call on the line goes on and those that wait fail', async () => {
  const sandbox = await startTestSandbox({ concurrency: 1 });
  await sandbox.batch(['+12125550109', ...plainNumbers(2)]);
  sandbox.clock.advance(15_000);
  await sandbox.get(numbers);
  await remove(sandbox);
  sandbox.clock.advance(2 * hour);
  const { body } = await sandbox.get('/v1/convai/conversations');
  const reasons = body.conversations.map((entry: Json) => [entry.status, entry.termination_reason]);
  expect(reasons.toReversed()).toEqual([
    ['done', 'Maximum duration reached.'],
    ['failed', 'The caller number is not imported.'],
    ['failed', 'The caller number is not imported.'],
  ]);
});

test('a batch from a deleted number has failing calls, as from one that was never imported', async () => {
  const sandbox = await startTestSandbox();
  await remove(sandbox);
  expect(await sandbox.batch(plainNumbers(2))).toMatchObject({ status: 200, body: { calls_initiated: 2 } });
  sandbox.clock.advance(hour);
  const { body } = await sandbox.get('/v1/convai/conversations');
  expect(body.conversations).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  expect(deletedUse(sandbox)).toMatchObject([{ id: 'pn_main' }]);
});

test('nobody reaches a deleted number, and imported again it has another id', async () => {
  const sandbox = await startTestSandbox();
  const first = await importNumber(sandbox, '+12125550188');
  await remove(sandbox, first);
  const call = { phone_number_id: first, from: '+442079460123' };
  expect((await sandbox.request('POST', '/_sandbox/inbound', call)).status).toBe(404);
  const second = await importNumber(sandbox, '+12125550188');
  expect(second).toMatch(/^pn_/);
  expect(second).not.toBe(first);
});

test('a reader of the paged list misses no number when others are deleted meanwhile', async () => {
  const sandbox = await startTestSandbox();
  for (const phoneNumber of plainNumbers(3)) await importNumber(sandbox, phoneNumber);
  const all = (await sandbox.get(numbers)).body.map((each: Json) => each.phone_number_id);
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await sandbox.get(`/v1/convai/v2/phone-numbers?page_size=2${cursor}`);
    seen.push(...body.phone_numbers.map((each: Json) => each.phone_number_id));
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
    if (seen.length === 2) await remove(sandbox, all[0]);
    if (seen.length === 4) await remove(sandbox, all[4]);
  }
  expect(seen).toEqual([all[0], all[1], all[2], all[3], all[5]]);
});

test('what was deleted stays deleted in a state that is exported and put back', async () => {
  const sandbox = await startTestSandbox();
  await remove(sandbox);
  const { body } = await sandbox.get('/_sandbox/export');
  expect((await sandbox.request('POST', '/_sandbox/import', body)).status).toBe(200);
  expect((await sandbox.get(numbers)).body).toHaveLength(2);
  expect((await sandbox.request('DELETE', `${numbers}/pn_main`)).status).toBe(404);
  expect(deletedUse(sandbox)).toHaveLength(1);
  const { number_order: _order, ...older } = body;
  expect((await sandbox.request('POST', '/_sandbox/import', older)).status).toBe(200);
  await remove(sandbox, 'pn_second');
});

test.each([
  ['extended', 'PATCH, DELETE'],
  ['spec', 'PATCH'],
] as const)('a method that a number does not have is told those it has in the %s dialect', async (dialect, allow) => {
  const sandbox = await startTestSandbox({ dialect });
  const { status, headers } = await sandbox.request('PUT', `${numbers}/pn_main`);
  expect([status, headers.get('allow')]).toEqual([405, allow]);
});
