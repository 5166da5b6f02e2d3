import { expect } from 'vitest';
import { plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../harness.ts';

const hour = 3_600_000;
const numbers = '/v1/convai/phone-numbers';
const secrets = { telephony_account_sid: 'AC1', telephony_auth_token: 'planted-token-5c1e' };
const whole = { label: 'L', phone_number: '+12125550188', ...secrets };
const outside = { label: 'L', phone_number: '+12125550187' };

async function addOutside(sandbox: TestSandbox, more: Json): Promise<Json> {
  const added = await sandbox.post('/_sandbox/numbers', { ...outside, ...more });
  expect(added).toMatchObject({ status: 200 });
  return added.body;
}

async function importOne(sandbox: TestSandbox, phone_number = whole.phone_number): Promise<string> {
  return (await sandbox.post(numbers, { ...whole, phone_number })).body.phone_number_id;
}

async function callIn(sandbox: TestSandbox, phone_number_id: string): Promise<Json> {
  return sandbox.post('/_sandbox/inbound', { phone_number_id, from: '+442079460123' });
}

async function resultOf(sandbox: TestSandbox, from: string): Promise<string | null | undefined> {
  const batch = await sandbox.batch(['+12125550100'], { from_phone_number_id: from });
  expect(batch.body).toMatchObject({ calls_initiated: 1 });
  sandbox.clock.advance(hour);
  await sandbox.get(numbers);
  return sandbox.calls().at(-1)?.result;
}

async function remove(sandbox: TestSandbox, id = 'pn_main'): Promise<void> {
  expect(await sandbox.delete(`${numbers}/${id}`)).toMatchObject({ status: 200, body: {} });
}

const idsOf = (list: Json[]): string[] => list.map((each) => each.phone_number_id);

test('an import that repeats a number is refused, and so is a bad number from outside', async ({ sandbox }) => {
  await importOne(sandbox);
  const before = await sandbox.read(numbers);
  for (const [field, value] of Object.entries({ type: 'rented', phone_number: '2125550187', label: '', surprise: 1 })) {
    const refused = await sandbox.post('/_sandbox/numbers', { ...outside, [field]: value });
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
  }
  const twice = await sandbox.post(numbers, { ...whole, label: 'Other' });
  expect(twice).toMatchObject({ status: 409, body: { detail: { code: 'phone_number_already_imported' } } });
  expect((await sandbox.post('/_sandbox/numbers', { ...outside, phone_number: whole.phone_number })).status).toBe(409);
  expect(await sandbox.read(numbers)).toEqual(before);
});

test('an imported number is purchased, verified and without an agent, and the provider knows where to report calls', async ({
  sandbox,
}) => {
  const { body } = await sandbox.post(numbers, whole);
  const id = body.phone_number_id;
  expect(Object.keys(body)).toEqual(['phone_number_id']);
  expect((await sandbox.read(numbers)).find((each: Json) => each.phone_number_id === id)).toEqual({
    phone_number_id: id,
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
  const told = (await sandbox.read('/_sandbox/numbers')).numbers.find((each: Json) => each.phone_number_id === id);
  expect(told).toMatchObject({ account_sid: 'AC1', type: 'purchased', supports_inbound: true });
});

test('the provider token is not kept, and nothing shows it', async ({ sandbox }) => {
  await importOne(sandbox);
  await sandbox.post(numbers, { ...whole, phone_number: '12', telephony_auth_token: 'planted-token-two' });
  for (const wrong of [{ telephony_auth_token: 12345678 }, { telephony_auth_token: 12345678, phone_number: '12' }])
    expect(JSON.stringify((await sandbox.post(numbers, { ...whole, ...wrong })).body)).not.toContain('12345678');
  for (const path of [numbers, ...['numbers', 'journal', 'info', 'export', 'conduct', 'calls'].map((name) => `/_sandbox/${name}`)]) {
    const { status, body } = await sandbox.get(path);
    expect([path, status, JSON.stringify(body).includes('planted-token')]).toEqual([path, 200, false]);
  }
});

test.for([
  ['purchased', true],
  ['verified_caller_id', false],
] as const)('a %s number is called out from, and takes calls: %s', async ([type, inbound], { sandbox }) => {
  const number = await addOutside(sandbox, { type, agent_id: 'agent_survey' });
  expect(number).toMatchObject({ type, supports_inbound: inbound, supports_outbound: true });
  const reason = inbound ? null : 'outbound_only';
  expect((await callIn(sandbox, number.phone_number_id)).body).toMatchObject({ answered: inbound, reason });
  expect(await resultOf(sandbox, number.phone_number_id)).toBe('answered');
});

test('calls from a number that is not verified fail, and go through once it is', async ({ sandbox }) => {
  const { phone_number_id: id } = await addOutside(sandbox, { verified: false });
  expect(await resultOf(sandbox, id)).toBe('failed');
  expect(await sandbox.record()).toMatchObject({
    status: 'failed',
    termination_reason: 'The caller number is not verified.',
    audio: null,
    transcript: [],
  });
  await sandbox.post(`/_sandbox/numbers/${id}/verify`);
  expect(await resultOf(sandbox, id)).toBe('answered');
  await sandbox.post(`/_sandbox/numbers/${id}/unverify`);
  expect(await resultOf(sandbox, id)).toBe('failed');
  expect(await resultOf(sandbox, 'pn_none')).toBe('failed');
});

test('another agent answers the next call at once, and the answer to an assignment is the number as it is listed', async ({ sandbox }) => {
  const id = await importOne(sandbox);
  expect((await callIn(sandbox, id)).body.answered).toBe(false);
  for (const agent_id of ['agent_survey', 'agent_reminders']) {
    const { body } = await sandbox.patch(`${numbers}/${id}`, { agent_id });
    expect(body).toMatchObject({ agent_id, assigned_agent: { agent_id } });
    expect(await sandbox.read(numbers)).toContainEqual(body);
    expect((await callIn(sandbox, id)).body).toMatchObject({ answered: true, agent_id });
  }
});

test('an import under the names of comparable services assigns the agent at once', async ({ sandbox }) => {
  const alias = { provider: 'carrier', label: 'L', phone_number: '+12125550188', sid: 'AC1', token: 'planted-token-5c1e' };
  const stranger = await sandbox.post(numbers, { ...alias, agent_id: 'agent_none' });
  expect(stranger).toMatchObject({ status: 404, body: { detail: { param: 'agent_id' } } });
  const { body } = await sandbox.post(numbers, { ...alias, agent_id: 'agent_survey' });
  const listed = await sandbox.read(numbers);
  expect(listed.at(-1)).toMatchObject({ ...body, provider: 'carrier', assigned_agent: { agent_id: 'agent_survey' } });
  expect(JSON.stringify(sandbox.journal())).not.toContain('planted-token');
  const mixed = await sandbox.post(numbers, { ...alias, ...secrets, phone_number: '+12125550186' });
  expect(mixed.body.detail.map(({ loc }: Json) => loc[1])).toEqual(Object.keys(secrets));
  const wrong = await sandbox.post(numbers, { ...alias, token: 12345678 });
  expect(wrong.body.detail[0].loc).toEqual(['body', 'token']);
  expect(JSON.stringify(wrong.body)).not.toContain('12345678');
  const spec = await startTestSandbox({ dialect: 'spec' });
  expect((await spec.post(numbers, alias)).status).toBe(422);
});

test('a reader of the paged list sees every number once while others are imported and deleted', async ({ sandbox }) => {
  for (const number of plainNumbers(3)) await importOne(sandbox, number);
  const all = idsOf(await sandbox.read(numbers));
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const body = await sandbox.read(`/v1/convai/v2/phone-numbers?page_size=2${cursor}`);
    seen.push(...idsOf(body.phone_numbers));
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
    if (seen.length === 2) await remove(sandbox, all[0]);
    if (seen.length === 4) await remove(sandbox, all[4]);
    if (seen.length === 2) all.push(await importOne(sandbox));
  }
  expect(seen).toEqual([all[0], all[1], all[2], all[3], all[5], all[6]]);
});

test('a deleted number is in no list and has no calls; whoever asks for it is told of in the conduct report', async ({ sandbox }) => {
  await remove(sandbox);
  const left = ['pn_second', 'pn_unverified'];
  expect(idsOf(await sandbox.read(numbers))).toEqual(left);
  expect(idsOf((await sandbox.read('/v1/convai/v2/phone-numbers')).phone_numbers)).toEqual(left);
  expect(idsOf((await sandbox.read('/_sandbox/numbers')).numbers)).toEqual(left);
  expect((await sandbox.read('/v1/convai/agents/agent_reminders')).phone_numbers).toEqual([]);
  expect(sandbox.violations('deleted_use')).toEqual([]);
  const path = `${numbers}/pn_main`;
  for (const answer of [await sandbox.delete(path), await sandbox.patch(path, { agent_id: 'agent_survey' })])
    expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'phone_number_not_found' } } });
  expect(sandbox.violations('deleted_use')).toMatchObject([{ what: 'a deleted phone number was asked for', id: 'pn_main' }, {}]);
  expect((await sandbox.delete(`${numbers}/pn_none`)).status).toBe(404);
  expect(await resultOf(sandbox, 'pn_main')).toBe('failed');
  expect(sandbox.violations('deleted_use')).toMatchObject([{}, {}, { id: 'pn_main' }]);
  expect((await callIn(sandbox, 'pn_main')).status).toBe(404);
  expect(await importOne(sandbox, '+12125550199')).toMatch(/^pn_(?!main)/);
});

test('of a batch from a number that is deleted, the call on the line goes on and those that wait fail', async () => {
  const sandbox = await startTestSandbox({ concurrency: 1 });
  await sandbox.batch(['+12125550109', ...plainNumbers(2)]);
  sandbox.clock.advance(15_000);
  await sandbox.get(numbers);
  await remove(sandbox);
  sandbox.clock.advance(2 * hour);
  const { conversations } = await sandbox.read('/v1/convai/conversations');
  const waiting = ['failed', 'The caller number is not imported.'];
  const reasons = conversations.map((entry: Json) => [entry.status, entry.termination_reason]);
  expect(reasons.toReversed()).toEqual([['done', 'Maximum duration reached.'], waiting, waiting]);
});

test('what was deleted stays deleted in a state that is exported and put back', async ({ sandbox }) => {
  await remove(sandbox);
  const body = await sandbox.read('/_sandbox/export');
  expect((await sandbox.post('/_sandbox/import', body)).status).toBe(200);
  expect(await sandbox.read(numbers)).toHaveLength(2);
  expect((await sandbox.delete(`${numbers}/pn_main`)).status).toBe(404);
  expect(sandbox.violations('deleted_use')).toHaveLength(1);
  const { number_order: _order, ...older } = body;
  expect((await sandbox.post('/_sandbox/import', older)).status).toBe(200);
  await remove(sandbox, 'pn_second');
});
