import { expect, test } from 'vitest';
import { sealToken } from '../../../src/sandbox/convai/routes/phone-numbers.ts';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const numbers = '/v1/convai/phone-numbers';
const secrets = { telephony_account_sid: 'AC1', telephony_auth_token: 'planted-token-5c1e' };

async function importNumber(sandbox: TestSandbox, body: Json = {}): Promise<{ status: number; body: Json }> {
  return sandbox.request('POST', numbers, { label: 'L', phone_number: '+12125550188', ...secrets, ...body });
}

async function addOutside(sandbox: TestSandbox, body: Json): Promise<Json> {
  const added = await sandbox.request('POST', '/_sandbox/numbers', {
    label: 'L',
    phone_number: '+12125550187',
    ...body,
  });
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

test('a sealed provider token says nothing of what is in it, not even that it is the same', () => {
  const [one, two] = [sealToken('planted-token'), sealToken('planted-token')];
  expect(one.includes('planted')).toBe(false);
  expect(one.equals(two)).toBe(false);
});

test('the provider token is encrypted, and nothing shows it', async () => {
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
    const call = await sandbox.request('POST', '/_sandbox/inbound', {
      phone_number_id: body.phone_number_id,
      from: '+442079460123',
    });
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
  const alias = {
    provider: 'carrier',
    label: 'L',
    phone_number: '+12125550188',
    sid: 'AC1',
    token: 'planted-token-5c1e',
  };
  const stranger = await sandbox.request('POST', numbers, { ...alias, agent_id: 'agent_none' });
  expect(stranger).toMatchObject({ status: 404, body: { detail: { param: 'agent_id' } } });
  const { body } = await sandbox.request('POST', numbers, { ...alias, agent_id: 'agent_survey' });
  const listed = await sandbox.get(numbers);
  expect(listed.body.at(-1)).toMatchObject({
    ...body,
    provider: 'carrier',
    assigned_agent: { agent_id: 'agent_survey' },
  });
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
