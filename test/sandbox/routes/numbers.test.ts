import { expect, test } from 'vitest';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const numbers = '/v1/convai/phone-numbers';
const secrets = { telephony_account_sid: 'AC1', telephony_auth_token: 'planted-token-5c1e' };

async function importNumber(sandbox: TestSandbox, body: Json = {}): Promise<{ status: number; body: Json }> {
  return sandbox.request('POST', numbers, { label: 'L', phone_number: '+12125550188', ...secrets, ...body });
}

async function addOutside(sandbox: TestSandbox, body: Json): Promise<Json> {
  const added = await sandbox.request('POST', '/_sandbox/numbers', { label: 'L', phone_number: '+12125550187', ...body });
  expect(added).toMatchObject({ status: 200 });
  return added.body;
}

async function callIn(sandbox: TestSandbox, id: string): Promise<boolean> {
  const call = await sandbox.request('POST', '/_sandbox/inbound', { phone_number_id: id, from: '+442079460123' });
  return call.body.answered;
}

async function resultOf(sandbox: TestSandbox, from: string): Promise<string | null | undefined> {
  const batch = await sandbox.batch(['+12125550100'], { from_phone_number_id: from });
  expect(batch.body).toMatchObject({ calls_initiated: 1 });
  sandbox.clock.advance(3_600_000);
  await sandbox.get(numbers);
  return sandbox.calls().at(-1)?.result;
}

test.each(['label', 'phone_number', 'telephony_account_sid', 'telephony_auth_token'])('an import without %s is refused', async (field) => {
  const sandbox = await startTestSandbox();
  const refused = await importNumber(sandbox, { [field]: undefined });
  expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field], type: 'missing' }] } });
  const empty = await importNumber(sandbox, { [field]: '' });
  expect(empty).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
});

test('an imported number is purchased, verified and without an agent', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await importNumber(sandbox);
  expect(Object.keys(body)).toEqual(['phone_number_id']);
  const listed = await sandbox.get(numbers);
  expect(listed.body.find((each: Json) => each.phone_number_id === body.phone_number_id)).toEqual({
    phone_number_id: body.phone_number_id,
    phone_number: '+12125550188',
    label: 'L',
    agent_id: null,
    assigned_agent: null,
    provider: 'telephony',
    number_type: 'purchased',
    supports_inbound: true,
    supports_outbound: true,
    verified: true,
    verification_status: 'verified',
  });
});

test('in the spec dialect a number has the four fields of the contract', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  await importNumber(sandbox);
  for (const number of (await sandbox.get(numbers)).body)
    expect(Object.keys(number)).toEqual(['phone_number_id', 'phone_number', 'label', 'agent_id']);
});

test('the provider has the address where calls to an imported number are reported', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await importNumber(sandbox);
  const id = body.phone_number_id;
  const { body: outside } = await sandbox.get('/_sandbox/numbers');
  expect(outside.numbers.find((each: Json) => each.phone_number_id === id)).toMatchObject({
    account_sid: 'AC1',
    type: 'purchased',
    webhook_url: `${sandbox.url}/_sandbox/telephony/${id}/voice`,
  });
  const posted = await sandbox.request('POST', `/_sandbox/telephony/${id}/voice`, 'a=b', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  // There is such a route, and it wants proof that the provider calls.
  expect(posted.status).toBe(403);
});

test('a number can be imported once', async () => {
  const sandbox = await startTestSandbox();
  await importNumber(sandbox);
  const before = (await sandbox.get(numbers)).body;
  const twice = await importNumber(sandbox, { label: 'Other' });
  expect(twice).toMatchObject({ status: 409, body: { detail: { code: 'phone_number_already_imported' } } });
  const outside = await sandbox.request('POST', '/_sandbox/numbers', { label: 'L', phone_number: '+12125550188' });
  expect(outside.status).toBe(409);
  expect((await sandbox.get(numbers)).body).toEqual(before);
});

test('the provider token is not kept, and nothing shows it', async () => {
  const sandbox = await startTestSandbox();
  await importNumber(sandbox);
  await importNumber(sandbox, { phone_number: '12', telephony_auth_token: 'planted-token-two' });
  const paths = [numbers, '/_sandbox/numbers', '/_sandbox/journal', '/_sandbox/info', '/_sandbox/export', '/_sandbox/conduct'];
  for (const path of paths) {
    const answer = await sandbox.get(path);
    expect({ path, status: answer.status }).toEqual({ path, status: 200 });
    expect(JSON.stringify(answer.body)).not.toContain('planted-token');
  }
});

test.each([
  ['purchased', true],
  ['verified_caller_id', false],
] as const)('a %s number is called out from, and takes calls: %s', async (type, inbound) => {
  const sandbox = await startTestSandbox();
  const number = await addOutside(sandbox, { type, agent_id: 'agent_survey' });
  expect(number).toMatchObject({ type, supports_inbound: inbound, supports_outbound: true });
  expect(number.webhook_url === null).toBe(!inbound);
  expect(await callIn(sandbox, number.phone_number_id)).toBe(inbound);
  expect(await resultOf(sandbox, number.phone_number_id)).toBe('answered');
});

test('calls from a number that is not verified fail, and go through once it is', async () => {
  const sandbox = await startTestSandbox();
  const number = await addOutside(sandbox, { verified: false });
  const id = number.phone_number_id;
  expect(await resultOf(sandbox, id)).toBe('failed');
  await sandbox.request('POST', `/_sandbox/numbers/${id}/verify`);
  expect(await resultOf(sandbox, id)).toBe('answered');
  await sandbox.request('POST', `/_sandbox/numbers/${id}/unverify`);
  expect(await resultOf(sandbox, id)).toBe('failed');
  expect(await resultOf(sandbox, 'pn_none')).toBe('failed');
});

test('another agent answers the next call at once', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await importNumber(sandbox);
  const path = `${numbers}/${body.phone_number_id}`;
  expect(await callIn(sandbox, body.phone_number_id)).toBe(false);
  for (const agent of ['agent_survey', 'agent_reminders']) {
    const assigned = await sandbox.request('PATCH', path, { agent_id: agent });
    expect(assigned.body).toMatchObject({ agent_id: agent, assigned_agent: { agent_id: agent } });
    const call = await sandbox.request('POST', '/_sandbox/inbound', { phone_number_id: body.phone_number_id, from: '+442079460123' });
    expect(call.body).toMatchObject({ answered: true, agent_id: agent });
  }
});

test.each<[string, Json, number]>([
  ['no agent', {}, 422],
  ['null', { agent_id: null }, 422],
  ['an unknown agent', { agent_id: 'agent_none' }, 404],
])('an assignment to %s is refused and changes nothing', async (_what, body, status) => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.request('PATCH', `${numbers}/pn_main`, body)).status).toBe(status);
  const listed = await sandbox.get(numbers);
  expect(listed.body[0]).toMatchObject({ phone_number_id: 'pn_main', agent_id: 'agent_reminders' });
  expect((await sandbox.request('PATCH', `${numbers}/pn_none`, { agent_id: 'agent_survey' })).status).toBe(404);
});

test('an import under the names of comparable services assigns the agent at once', async () => {
  const sandbox = await startTestSandbox();
  const alias = { provider: 'carrier', label: 'L', phone_number: '+12125550188', sid: 'AC1', token: 'planted-token-5c1e' };
  const stranger = await sandbox.request('POST', numbers, { ...alias, agent_id: 'agent_none' });
  expect(stranger).toMatchObject({ status: 404, body: { detail: { param: 'agent_id' } } });
  const { body } = await sandbox.request('POST', numbers, { ...alias, agent_id: 'agent_survey' });
  const listed = await sandbox.get(numbers);
  expect(listed.body.at(-1)).toMatchObject({ ...body, provider: 'carrier', assigned_agent: { agent_id: 'agent_survey' } });
  expect(JSON.stringify(sandbox.journal())).not.toContain('planted-token');
  const mixed = await sandbox.request('POST', numbers, { ...alias, ...secrets, phone_number: '+12125550186' });
  expect(mixed.body.detail.map(({ loc }: Json) => loc[1])).toEqual(Object.keys(secrets));
  const wrong = await sandbox.request('POST', numbers, { ...alias, token: 12345678 });
  expect(wrong.body.detail[0].loc).toEqual(['body', 'token']);
  expect(JSON.stringify(wrong.body)).not.toContain('12345678');
  const spec = await startTestSandbox({ dialect: 'spec' });
  expect((await spec.request('POST', numbers, alias)).status).toBe(422);
});

test('the paged list has every number once while others are imported', async () => {
  const sandbox = await startTestSandbox();
  const seen: string[] = [];
  let query = 'page_size=2';
  for (const phone_number of plainNumbers(4)) {
    const { status, body } = await sandbox.get(`/v1/convai/v2/phone-numbers?${query}`);
    expect(status).toBe(200);
    seen.push(...body.phone_numbers.map((each: Json) => each.phone_number));
    if (!body.has_more) break;
    query = `page_size=2&cursor=${body.next_cursor}`;
    await importNumber(sandbox, { phone_number });
  }
  const all = (await sandbox.get(numbers)).body.map((each: Json) => each.phone_number);
  expect(seen.slice(0, 3)).toEqual(all.slice(0, 3));
  expect(new Set(seen).size).toBe(seen.length);
});

test.each<[string, Json]>([
  ['type', { type: 'rented' }],
  ['phone_number', { phone_number: '2125550187' }],
  ['label', { label: '' }],
  ['surprise', { surprise: 1 }],
])('a number from outside with a bad %s is refused', async (field, body) => {
  const sandbox = await startTestSandbox();
  const all = { label: 'L', phone_number: '+12125550187', ...body };
  const refused = await sandbox.request('POST', '/_sandbox/numbers', all);
  expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
});

const hour = 3_600_000;

async function remove(sandbox: TestSandbox, id = 'pn_main'): Promise<void> {
  expect(await sandbox.request('DELETE', `${numbers}/${id}`)).toMatchObject({ status: 200, body: {} });
}

async function importAgain(sandbox: TestSandbox, phoneNumber: string): Promise<string> {
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
  const first = await importAgain(sandbox, '+12125550188');
  await remove(sandbox, first);
  const call = { phone_number_id: first, from: '+442079460123' };
  expect((await sandbox.request('POST', '/_sandbox/inbound', call)).status).toBe(404);
  const second = await importAgain(sandbox, '+12125550188');
  expect(second).toMatch(/^pn_/);
  expect(second).not.toBe(first);
});

test('a reader of the paged list misses no number when others are deleted meanwhile', async () => {
  const sandbox = await startTestSandbox();
  for (const phoneNumber of plainNumbers(3)) await importAgain(sandbox, phoneNumber);
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
  ['extended', 'PATCH, DELETE, GET'],
  ['spec', 'PATCH'],
] as const)('a method that a number does not have is told those it has in the %s dialect', async (dialect, allow) => {
  const sandbox = await startTestSandbox({ dialect });
  const { status, headers } = await sandbox.request('PUT', `${numbers}/pn_main`);
  expect([status, headers.get('allow')]).toEqual([405, allow]);
});
