import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { runSandbox, type SandboxFlags } from '../../src/cli/sandbox/sandbox.ts';
import { readSandboxFlags } from '../../src/cli/sandbox/flags.ts';
import { checkFixture, FixtureError, readFixture } from '../../src/sandbox/fixture/check-fixture.ts';
import type { FixtureInput } from '../../src/sandbox/fixture/fixture.ts';
import type { Dialect } from '../../src/sandbox/schemas/building-blocks.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { noon, startTestSandbox } from './harness.ts';

const example = new URL('../../examples/fixture/clinic.yaml', import.meta.url).pathname;
const outbound = { hosts: [], ownPort: 4010 };

async function exampleFixture(): Promise<FixtureInput> {
  return parse(await readFile(example, 'utf8')) as FixtureInput;
}

async function say(flags: SandboxFlags): Promise<{ code: number; said: string }> {
  let said = '';
  const stream = { write: (text: string) => (said += text) };
  const io = { stdout: stream, stderr: stream, stop: AbortSignal.abort() };
  return { code: await runSandbox({ port: '0', ...flags }, io), said };
}

function problemsOf(text: string, dialect: Dialect = 'extended'): readonly string[] {
  try {
    checkFixture(readFixture(text, 'a.yaml'), 'a.yaml', { dialect, loose: false, outbound });
  } catch (error) {
    if (error instanceof FixtureError) return error.problems;
    throw error;
  }
  return [];
}

test('the example has agents, numbers, webhooks, people and faults, and all of them are there', async () => {
  const { fixture } = await readSandboxFlags({ fixture: example });
  const sandbox = await startTestSandbox({ clock: 'manual', epochMs: noon, speech: false, fixture: fixture! });
  const { agents } = (await sandbox.get('/v1/convai/agents')).body;
  expect(agents.map(({ agent_id: id }: { agent_id: string }) => id)).toEqual(['agent_clinic']);
  expect((await sandbox.get('/_sandbox/numbers')).body.numbers).toMatchObject([
    { phone_number_id: 'pn_clinic', agent_id: 'agent_clinic', verified: true, supports_inbound: true },
    { phone_number_id: 'pn_doctor', agent_id: null, verified: false, supports_inbound: false },
  ]);
  expect((await sandbox.get('/_sandbox/webhooks')).body.webhooks).toMatchObject([
    { url: 'http://127.0.0.1:8080/calls', retries: true },
  ]);
  expect((await sandbox.get('/_sandbox/world')).body.people).toMatchObject([{ name: 'Ada Example' }, {}]);
  expect((await sandbox.get('/_sandbox/faults')).body.faults).toMatchObject([{ id: 'second-batch-lost', nth: 2 }]);

  const batch = { agent_id: 'agent_clinic', from_phone_number_id: 'pn_clinic' };
  await sandbox.batch(['+12125550142'], batch);
  await sandbox.request('POST', '/_sandbox/clock/advance', { seconds: 600 });
  const { conversations } = (await sandbox.get('/v1/convai/conversations')).body;
  const record = (await sandbox.get(`/v1/convai/conversations/${conversations[0].conversation_id}`)).body;
  expect(record.analysis.data_collection_results.appointment).toMatchObject({ value: 'confirmed' });
});

test('a reset goes back to the fixture', async () => {
  const sandbox = await startTestSandbox({ fixture: await exampleFixture() });
  await sandbox.request('DELETE', '/v1/convai/agents/agent_clinic');
  await sandbox.request('DELETE', '/_sandbox/faults');
  await sandbox.request('POST', '/_sandbox/reset');
  expect((await sandbox.get('/v1/convai/agents/agent_clinic')).body.name).toBe('Clinic reminders');
  expect((await sandbox.get('/_sandbox/numbers')).body.numbers[0]).toMatchObject({ agent_id: 'agent_clinic' });
  expect((await sandbox.get('/_sandbox/faults')).body.faults).toHaveLength(1);
});

test('without agents and numbers of its own a fixture leaves the usual ones', async () => {
  const sandbox = await startTestSandbox({ fixture: { people: [{ number: '+12125550142', name: 'Ada Example' }] } });
  expect((await sandbox.get('/v1/convai/agents/agent_reminders')).status).toBe(200);
  expect((await sandbox.get('/_sandbox/world')).body.people).toHaveLength(1);
});

const agent = '{agent_id: a, name: A}';

test.each([
  ['agents: [{name: A}]', /^agents\[0\]\.agent_id is missing\. /],
  [
    'agents: [{agent_id: a, name: A, colour: red}]',
    /^agents\[0\]\.colour: this field is not known here; leave it out\.$/,
  ],
  [`agents: [${agent}, ${agent}]`, /^agents\[1\]\.agent_id is "a", which agents\[0\] has too; choose another\.$/],
  [
    'agents: [{agent_id: a, name: A, conversation_config: {tts: {speed: 1}}}]',
    /^agents\[0\]\.conversation_config\.tts\.voice_id: Required when tts is given\.$/,
  ],
  [
    'numbers: [{phone_number_id: p, phone_number: "+12125550190", label: L, agent_id: nobody}]',
    /^numbers\[0\]\.agent_id is "nobody", which no agent of this fixture has; add that agent, or leave it out\.$/,
  ],
  [
    'numbers: [{phone_number_id: p, phone_number: "555-0190", label: L}]',
    /^numbers\[0\]\.phone_number is "555-0190"\. .*E\.164/,
  ],
  [
    'numbers: [{phone_number_id: p, phone_number: "+12125550190", label: L, type: own}]',
    /^numbers\[0\]\.type is "own"; .*purchased, verified_caller_id/,
  ],
  [
    'numbers: [{phone_number_id: p, phone_number: "+12125550190", label: L}, {phone_number_id: q, phone_number: "+12125550190", label: L}]',
    /^numbers\[1\]\.phone_number is "\+12125550190", which numbers\[0\] has too/,
  ],
  ['webhooks: [{url: "http://site.example/", secret: a-secret-of-the-test}]', /^webhooks\[0\]\.url is .*allow/],
  ['people: [{number: "+12125550142"}, {number: "+12125550142"}]', /^people\[1\] has the number .*people\[0\] has too/],
  [
    'faults: [{operation: 15, effect: {type: reset, when: after}}]',
    /^faults\[0\]\.operation is 15\. Must be an operation's number/,
  ],
  [
    'faults: [{id: x, operation: 1, effect: {type: reset, when: after}}, {id: x, operation: 1, effect: {type: reset, when: after}}]',
    /^faults\[1\]\.id is "x"/,
  ],
  ['calls: []', /^calls: this field is not known here; leave it out\.$/],
  ['agents: [', /^not YAML: .* at line 1/],
  ['- 1', /^the file is \[1\]/],
])('%s is refused with path, value and what to do', (text, message) => {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(message);
});

test('no secret of a fixture is repeated when it is refused', () => {
  const secret = 'hush';
  for (const text of [
    `webhooks: [{url: "http://127.0.0.1:1/", secret: ${secret}}]`,
    `webhooks: [{url: "http://user:${secret}@127.0.0.1:1/", secret: long-enough-for-a-secret}]`,
    `- {secret: ${secret}}`,
    `webhooks: [{secret: ${secret}`,
    `agents: [{agent_id: a, name: A, conversation_config: {agent: {llm: {custom_llm: {extra_headers: {key: [${secret}]}}}}}}]`,
  ]) {
    const problems = problemsOf(text);
    expect([text, problems.length > 0, problems.join('\n').includes(secret)]).toEqual([text, true, false]);
  }
});

test('the contract has no webhooks, so a fixture for the spec dialect has none', () => {
  const text = 'webhooks: [{url: "http://127.0.0.1:1/", secret: a-secret-of-the-test}]';
  expect(problemsOf(text, 'spec')).toEqual([
    'webhooks: the contract has none; leave them out, or start the sandbox in the extended dialect.',
  ]);
});

test('a fixture with one mistake loads nothing: code 2, and file, path, value and what to do are named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-fixture-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'broken.json');
  const data = join(folder, 'state.db');
  await writeFile(file, JSON.stringify({ ...(await exampleFixture()), people: [{ number: '12' }] }));
  const { code, said } = await say({ fixture: file, data });
  expect(code).toBe(2);
  expect(said).toMatch(
    /^error: .*broken\.json: the fixture cannot be used\.\n {2}people\[0\]\.number is "12"\. Must be a number/,
  );
  await expect(readFile(data)).rejects.toThrow('ENOENT');
  const missing = await say({ fixture: '/nowhere/fixture.yaml' });
  expect([missing.code, missing.said]).toEqual([
    2,
    expect.stringContaining('--fixture /nowhere/fixture.yaml: the file cannot be read (ENOENT)'),
  ]);
  await expect(startSandbox({ fixture: { numbers: [{}] } as never })).rejects.toThrow(
    'the setting fixture: the fixture cannot be used.',
  );
});

test('the banner names the agents and numbers of the fixture', async () => {
  const { code, said } = await say({ fixture: example, json: true });
  expect(code).toBe(0);
  expect(said).toContain('agents         agent_clinic (Clinic reminders)\n');
  expect(said).toContain('pn_clinic +12125550190, pn_doctor +12125550191 (not verified)');
  expect(said).toContain('"phoneNumbers":["pn_clinic","pn_doctor"]');
});

test('a sandbox that runs takes a fixture whole, and once', async () => {
  const sandbox = await startTestSandbox();
  const fixture = await exampleFixture();
  const load = (body: unknown) => sandbox.request('POST', '/_sandbox/fixture', body);
  expect(await load(fixture)).toMatchObject({
    status: 200,
    body: {
      agents: ['agent_clinic'],
      numbers: ['pn_clinic', 'pn_doctor'],
      webhooks: 1,
      faults: 1,
      people_replaced: true,
    },
  });
  expect((await sandbox.get('/v1/convai/agents/agent_clinic')).status).toBe(200);
  expect((await sandbox.get('/_sandbox/world')).body.people).toHaveLength(2);
  expect(await load(fixture)).toMatchObject({
    status: 409,
    body: {
      detail: {
        code: 'already_there',
        message: expect.stringContaining(
          'agent_clinic, pn_clinic, pn_doctor, +12125550190, +12125550191, second-batch-lost are there already',
        ),
      },
    },
  });
  await sandbox.request('POST', '/_sandbox/reset');
  expect((await sandbox.get('/v1/convai/agents/agent_clinic')).status).toBe(404);
});

test.each([
  [
    'a rule that is there already',
    { faults: [{ id: 'there', operation: 1, effect: { type: 'reset', when: 'after' } }] },
    409,
  ],
  ['a number that cannot be', { numbers: [{ phone_number_id: 'p', phone_number: '12', label: 'L' }] }, 422],
])('a fixture with %s leaves a running sandbox as it is', async (_what, broken, status) => {
  const rule = { id: 'there', operation: 2, effect: { type: 'reset', when: 'after' } } as const;
  const sandbox = await startTestSandbox({ faults: [rule] });
  const whole = await exampleFixture();
  const answer = await sandbox.request('POST', '/_sandbox/fixture', { ...whole, ...broken });
  expect(answer.status).toBe(status);
  expect((await sandbox.get('/v1/convai/agents/agent_clinic')).status).toBe(404);
  expect((await sandbox.get('/_sandbox/webhooks')).body.webhooks).toEqual([]);
  expect((await sandbox.get('/_sandbox/world')).body.people).toEqual([]);
  expect((await sandbox.get('/_sandbox/faults')).body.faults).toMatchObject([{ id: 'there' }]);
});

test('people come from the fixture or from a world, not from both', async () => {
  const world = new URL('../../examples/worlds/small-town.yaml', import.meta.url).pathname;
  const { code, said } = await say({ fixture: example, world });
  expect([code, said]).toEqual([
    2,
    expect.stringContaining('both say who is behind the numbers; leave one of them out.'),
  ]);
});

test('a data file that has a state already keeps it; the fixture is for a new one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-fixture-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const start = { data: join(folder, 'state.db'), fixture: await exampleFixture(), seed: 'test' };
  const first = await startSandbox(start);
  const headers = { 'x-api-key': 'sk_sandbox_ok' };
  expect(first.agents).toMatchObject([{ agentId: 'agent_clinic' }]);
  expect((await fetch(`${first.url}/v1/convai/agents/agent_clinic`, { method: 'DELETE', headers })).status).toBe(200);
  await first.close();
  const second = await startSandbox(start);
  onTestFinished(() => second.close());
  expect([second.agents, second.phoneNumbers.length]).toEqual([[], 2]);
});

test('a rule whose made-up id is taken stops a fixture before anything of it is loaded', async () => {
  const rule = { operation: 2, effect: { type: 'reset', when: 'after' } } as const;
  const sandbox = await startTestSandbox({ faults: [{ ...rule, id: 'fault_1' }] });
  const fixture = { agents: [{ agent_id: 'agent_desk', name: 'Desk' }], faults: [rule] };
  expect((await sandbox.request('POST', '/_sandbox/fixture', fixture)).status).toBe(422);
  expect((await sandbox.get('/v1/convai/agents/agent_desk')).status).toBe(404);
});
