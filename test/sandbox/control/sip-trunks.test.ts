import { expect, test } from 'vitest';
import { noon, startTestSandbox } from '../harness.ts';

const trunk = { label: 'Head office', address: 'pbx.example.test:5060', transport: 'tls', agent_id: 'agent_survey' };

test('a SIP trunk is made, read, changed and deleted, and gets its endpoint from the sandbox', async () => {
  const sandbox = await startTestSandbox({ clock: 'manual', epochMs: noon });
  const { body: made } = await sandbox.request('POST', '/_sandbox/sip-trunks', trunk);
  expect(made).toEqual({
    trunk_id: expect.stringMatching(/^sip_/),
    ...trunk,
    sip_endpoint: `sip:${made.trunk_id}@sip.invalid;transport=tls`,
    simulated: true,
    created_at: '2030-01-15T12:00:00.000Z',
  });
  const path = `/_sandbox/sip-trunks/${made.trunk_id}`;
  expect((await sandbox.get(path)).body).toEqual(made);
  const { body: changed } = await sandbox.request('PATCH', path, { label: 'Branch', agent_id: null });
  expect(changed).toEqual({ ...made, label: 'Branch', agent_id: null });
  expect((await sandbox.get('/_sandbox/sip-trunks')).body).toEqual({ sip_trunks: [changed], limit: 10 });
  expect((await sandbox.request('DELETE', path)).status).toBe(200);
  for (const method of ['GET', 'DELETE']) expect((await sandbox.request(method, path)).status).toBe(404);
});

test('a deleted agent leaves its trunks without one', async () => {
  const sandbox = await startTestSandbox();
  const { body } = await sandbox.request('POST', '/_sandbox/sip-trunks', trunk);
  await sandbox.request('DELETE', '/v1/convai/agents/agent_survey');
  expect((await sandbox.get(`/_sandbox/sip-trunks/${body.trunk_id}`)).body.agent_id).toBeNull();
});

test.each([
  ['free', 0],
  ['creator', 1],
  ['pro', 3],
] as const)('the plan %s has room for %i trunks', async (plan, limit) => {
  const sandbox = await startTestSandbox({ plan });
  for (let nth = 0; nth < limit; nth += 1) expect((await sandbox.request('POST', '/_sandbox/sip-trunks', trunk)).status).toBe(200);
  const { status, body } = await sandbox.request('POST', '/_sandbox/sip-trunks', trunk);
  expect([status, body.detail.code]).toEqual([409, 'sip_trunk_limit_reached']);
  expect((await sandbox.get('/_sandbox/sip-trunks')).body).toMatchObject({ limit, sip_trunks: { length: limit } });
});

test.each([
  [{ ...trunk, address: 'not an address' }, 'address'],
  [{ ...trunk, address: 'sip:pbx.example.test' }, 'address'],
  [{ ...trunk, transport: 'sctp' }, 'transport'],
  [{ ...trunk, label: '' }, 'label'],
  [{ ...trunk, password: 'x' }, 'password'],
])('the trunk %j is refused', async (body, field) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', '/_sandbox/sip-trunks', body);
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', field]]);
});

test('a trunk for an agent that does not exist is refused', async () => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.request('POST', '/_sandbox/sip-trunks', { ...trunk, agent_id: 'none' })).status).toBe(404);
});
