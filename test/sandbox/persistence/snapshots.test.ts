import * as fc from 'fast-check';
import { expect } from 'vitest';
import { isFull } from '../../support/depth.ts';
import { batchOf, imported, noon, plainNumbers, startTestSandbox, testWith, type Json, type TestSandbox } from '../harness.ts';
import { campaigns, submission } from '../outbound-campaigns/caller.ts';

const onHold = { clock: 'manual', epochMs: noon } as const;
const test = testWith(onHold);

/** Ids of errors, and the machine's time. */
function normalise(body: Json): string {
  return JSON.stringify(body, (key, value) => (['request_id', 'realAcceptedAt', 'snapshot_id'].includes(key) ? 0 : value));
}

const dialled = [...['00', '01', '02', '03', '06', '08', '10'].map((end) => `+121255501${end}`), ...plainNumbers(12)];
const api = '/v1/convai';

function pickOf<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(1, list.length)];
}

/** Each does one thing, chosen by what there is at the moment. */
function actionsOf(sandbox: TestSandbox, pick: number, value: number) {
  const { get, post, patch, delete: remove } = sandbox;
  const anyOf = async (path: string, key: string, of = (body: Json): Json[] => body): Promise<string> =>
    pickOf(of(await sandbox.read(path)), pick)?.[key] ?? 'none';
  const agentId = () => anyOf(`${api}/agents?page_size=100`, 'agent_id', ({ agents }) => agents);
  const numberId = () => anyOf(`${api}/phone-numbers`, 'phone_number_id');
  const recordId = () => anyOf(`${api}/conversations?page_size=100`, 'conversation_id', ({ conversations }) => conversations);
  const batchId = () => anyOf(`${api}/batch-calling/workspace`, 'id', ({ batch_calls: batches }) => batches);
  const campaignId = () => anyOf(campaigns, 'campaign_id', (body) => body.campaigns);
  const callId = () => anyOf('/_sandbox/calls', 'callId', ({ calls }) => calls);
  const some = (most: number) => dialled.slice(value % 12, (value % 12) + 1 + (pick % most));
  const from = async () => ({ agent_id: await agentId(), agent_phone_number_id: await numberId() });
  const soon = async () => Math.floor((await sandbox.read('/_sandbox/clock')).now_ms / 1000) + (value % 40);
  const said = { conversation_config: { agent: { first_message: `Hello ${value}, {{name}}.` } } };
  const channel = async () => ({ channel: 'phone', agent_phone_number_id: await numberId() });
  const once = { target_concurrency_limit: 1, idempotency_key: `key ${pick % 3}` };
  return {
    create: () => post(`${api}/agents`, { name: `Agent ${value}`, tags: [`t${value % 3}`] }),
    patch: async () => patch(`${api}/agents/${await agentId()}`, said),
    delete: async () => remove(`${api}/agents/${await agentId()}`),
    import: () => post(`${api}/phone-numbers`, { ...imported, phone_number: `+131355501${String(value % 100).padStart(2, '0')}` }),
    assign: async () => patch(`${api}/phone-numbers/${await numberId()}`, { agent_id: await agentId() }),
    verify: async () => post(`/_sandbox/numbers/${await numberId()}/${value % 2 === 0 ? 'verify' : 'unverify'}`),
    batch: async () => sandbox.batch(some(7), { agent_id: await agentId(), from_phone_number_id: await numberId() }),
    submit: async () => post(`${api}/batch-calling/submit`, batchOf(some(4), { ...(await from()), scheduled_time_unix: await soon() })),
    cancel: async () => post(`${api}/batch-calling/${await batchId()}/cancel`),
    campaign: async () =>
      post(`${campaigns}/submit`, submission(some(4), { agent_id: await agentId(), channel_config: await channel(), ...once })),
    stop: async () => post(`${campaigns}/${await campaignId()}/${['pause', 'resume', 'stop'][value % 3]}`),
    forget: async () => remove(`${api}/conversations/${await recordId()}`),
    inbound: async () => post('/_sandbox/inbound', { phone_number_id: await numberId(), from: pickOf(dialled, value) }),
    fault: () => post('/_sandbox/faults', { operation: 14, every: 2, effect: { type: 'partial', accept: 1 } }),
    order: () => post('/_sandbox/numbers/next-course', { to: pickOf(dialled, pick), result: 'voicemail' }),
    course: async () => post(`/_sandbox/calls/${await callId()}/course`, value % 2 === 0 ? { hang_up: 'now' } : { result: 'busy' }),
    advance: () => post('/_sandbox/clock/advance', { ms: value * 60 }),
    page: () => get(`${api}/conversations?page_size=${1 + (value % 5)}`),
  };
}

type Action = keyof ReturnType<typeof actionsOf>;
type Step = { do: Action; pick: number; value: number };
// prettier-ignore
const kinds: Action[] = ['create', 'patch', 'delete', 'import', 'assign', 'verify', 'batch', 'batch', 'batch', 'forget', 'inbound', 'submit',
  'submit', 'cancel', 'campaign', 'stop', 'fault', 'order', 'course', 'advance', 'advance', 'advance', 'page'];
const steps = fc.array(fc.record({ do: fc.constantFrom(...kinds), pick: fc.nat(1_000), value: fc.nat(1_000) }), {
  minLength: 3,
  maxLength: 18,
});

/** What the action was answered. */
async function take(sandbox: TestSandbox, { do: what, pick, value }: Step): Promise<string> {
  const answer = await actionsOf(sandbox, pick, value)[what]();
  return `${what} ${answer.status} ${normalise(answer.body)}`;
}

async function readAll(sandbox: TestSandbox): Promise<string[]> {
  const read: string[] = [];
  const note = async (path: string): Promise<Json> => {
    const body = await sandbox.read(path);
    read.push(`${path} ${normalise(body)}`);
    return body;
  };
  for (const path of [
    '/v1/convai/batch-calling/workspace',
    '/v1/convai/phone-numbers',
    '/_sandbox/calls?direction=any',
    '/_sandbox/faults',
  ])
    await note(path);
  for (const { campaign_id: id } of (await note(campaigns)).campaigns)
    for (const of of ['calls', 'leads']) await note(`${campaigns}/${id}/${of}`);
  for (let cursor = ''; ;) {
    const page = await note(`/v1/convai/conversations?page_size=4${cursor}`);
    for (const { conversation_id: id } of page.conversations) await note(`/v1/convai/conversations/${id}`);
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  for (const { agent_id: id } of (await note('/v1/convai/agents?page_size=100')).agents) await note(`/v1/convai/agents/${id}`);
  return read;
}

test('what follows a restored snapshot is what followed it the first time', async () => {
  const sandbox = await startTestSandbox({ ...onHold, concurrency: 4 });
  await fc.assert(
    fc.asyncProperty(steps, steps, fc.boolean(), async (before, after, viaDocument) => {
      await sandbox.post('/_sandbox/reset');
      for (const { snapshot_id: id } of (await sandbox.read('/_sandbox/snapshots')).snapshots)
        await sandbox.delete(`/_sandbox/snapshots/${id}`);
      const follow = async (): Promise<string[]> => {
        const told: string[] = [];
        for (const step of after) told.push(await take(sandbox, step));
        await sandbox.advance(3_600_000);
        return [...told, ...(await readAll(sandbox))];
      };
      for (const step of before) await take(sandbox, step);
      const { body: snapshot } = await sandbox.post('/_sandbox/snapshots');
      const document = await sandbox.read('/_sandbox/export');
      const first = await follow();
      const restored = viaDocument
        ? await sandbox.post('/_sandbox/import', document)
        : await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
      expect(restored.status).toBe(200);
      expect(await follow()).toEqual(first);
    }),
    { seed: 11, numRuns: isFull ? 25 : 10, interruptAfterTimeLimit: 60_000 },
  );
});

test('a snapshot has a name, is listed, can be restored again and again, and outlives a reset', async ({ sandbox }) => {
  await sandbox.batch(['+12125550100', '+12125550101']);
  await sandbox.advance(2_000);
  const { body: snapshot } = await sandbox.post('/_sandbox/snapshots', { name: 'two calls' });
  expect(snapshot).toMatchObject({ name: 'two calls', calls: 2, taken_at: '2030-01-15T12:00:02.000Z' });
  const seen = sandbox.calls();
  await sandbox.advance(600_000);
  await sandbox.post('/_sandbox/reset');
  expect((await sandbox.read('/_sandbox/snapshots')).snapshots).toEqual([snapshot]);
  for (let time = 0; time < 2; time += 1) {
    const { body } = await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
    expect(body).toMatchObject({ restored: true, now: '2030-01-15T12:00:02.000Z' });
    expect(sandbox.calls()).toEqual(seen);
    await sandbox.advance(600_000);
    expect(sandbox.calls().every(({ endedAt }) => endedAt !== null)).toBe(true);
  }
  expect((await sandbox.delete(`/_sandbox/snapshots/${snapshot.snapshot_id}`)).status).toBe(200);
  expect((await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`)).status).toBe(404);
});

test('on a running clock time goes on, and what was due meanwhile happens at its own instants', async ({ sandbox }) => {
  await sandbox.batch(plainNumbers(5));
  const { body: snapshot } = await sandbox.post('/_sandbox/snapshots');
  await sandbox.advance(3_600_000);
  const endings = sandbox.calls().map(({ endedAt }) => endedAt);
  await sandbox.put('/_sandbox/clock', { mode: 'realtime' });
  const { body } = await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
  expect(Date.parse(body.now)).toBeGreaterThanOrEqual(noon + 3_600_000);
  expect(sandbox.calls().map(({ endedAt }) => endedAt)).toEqual(endings);
});

test('a signed URL that was open at the snapshot is open again after it', async ({ sandbox }) => {
  const body = await sandbox.read('/v1/convai/conversation/token?agent_id=agent_survey');
  const { body: snapshot } = await sandbox.post('/_sandbox/snapshots');
  const redeem = () => sandbox.post('/_sandbox/credentials/redeem', { credential: body.token });
  expect((await redeem()).body.accepted).toBe(true);
  expect((await redeem()).body.accepted).toBe(false);
  await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
  expect((await redeem()).body.accepted).toBe(true);
});

test('the conduct report begins anew with a restore, and still knows the calls of the restored past', async ({ sandbox }) => {
  const broken = () =>
    sandbox
      .conduct()
      .checks.flatMap(({ ok, name }) => (ok ? [] : [name]))
      .sort();
  await sandbox.batch(['+12125550102'], {}, 'request-1');
  const { body: snapshot } = await sandbox.post('/_sandbox/snapshots');
  await sandbox.batch(['+12125550102']);
  expect(broken()).toEqual(['double_dial']);
  await sandbox.post(`/_sandbox/snapshots/${snapshot.snapshot_id}/restore`);
  expect(broken()).toEqual([]);
  await sandbox.batch(['+12125550102'], {}, 'request-1');
  expect(broken()).toEqual(['double_dial', 'request_id_reuse']);
});

test('there are at most twenty snapshots', async ({ sandbox }) => {
  for (let nth = 0; nth < 20; nth += 1) await sandbox.post('/_sandbox/snapshots');
  const { status, body } = await sandbox.post('/_sandbox/snapshots');
  expect([status, body.detail.code]).toEqual([409, 'too_many_snapshots']);
});

test('an export holds no secret', async () => {
  const sandbox = await startTestSandbox({ ...onHold, apiKeys: ['key-of-a-caller'] });
  const secrets = ['provider-token-1', 'header-value-2', 'override-value-3', 'cvtkn_', 'cvsig_', 'sk_sandbox_ok', 'key-of-a-caller'];
  await sandbox.post('/v1/convai/phone-numbers', { ...imported, telephony_auth_token: secrets[0] });
  const llm = (value: string | undefined) => ({
    agent: { llm: { model_id: 'custom', custom_llm: { url: `http://127.0.0.1:9/v1?key=${value}`, extra_headers: { 'x-key': value } } } },
  });
  const { body: agent } = await sandbox.post('/v1/convai/agents', { name: 'Own model', conversation_config: llm(secrets[1]) });
  await sandbox.batch([], {
    agent_id: agent.agent_id,
    calls: [{ to_phone_number: '+12125550101', conversation_config_override: llm(secrets[2]) }],
  });
  await sandbox.post('/_sandbox/faults', { operation: '*', nth: 1, effect: { type: 'revoke_key' } });
  await sandbox.get('/v1/convai/conversation/token?agent_id=agent_survey');
  await sandbox.advance(60_000);
  const text = JSON.stringify(await sandbox.read('/_sandbox/export'));
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).toContain('Own model');
});

test.for<[string, (document: Json) => Json, number, string]>([
  ['something else', () => ({ agents: [] }), 422, 'format'],
  ['a newer version', (document) => ({ ...document, version: 2 }), 409, 'version 2'],
  ['another seed', (document) => ({ ...document, seed: 'other' }), 409, 'other_seed'],
  ['a broken call', ({ calls: [call], ...rest }) => ({ ...rest, calls: [{ ...call, to: 5 }] }), 422, 'to'],
  [
    'a broken script of an analysis',
    (document) => ({ ...document, next_courses: [['', [{ analysis: { collected: 5 } }]]] }),
    422,
    'collected',
  ],
])('%s is not imported, and changes nothing', async ([_what, change, status, why], { sandbox }) => {
  await sandbox.batch(['+12125550101']);
  const document = await sandbox.read('/_sandbox/export');
  const refused = await sandbox.post('/_sandbox/import', change(document));
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([status, expect.stringContaining(why)]);
  expect(await sandbox.read('/_sandbox/export')).toEqual(document);
});
