import { expect, test } from 'vitest';
import { answerJson, startHttpService } from '../../../service/convai/loopback-servers.ts';
import { createServiceWorld, runWith } from '../service-world.ts';

const here = { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'sk_unused' };

test('agents are listed one per line, with heading and ids whole', async () => {
  const world = await createServiceWorld();
  const { code, stdout, stderr } = await world.run(['agents', 'list']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^AGENT +NAME +TAGS +CREATED$/);
  expect(lines).toHaveLength(4);
  expect(stdout).toMatch(/^agent_reminders +Appointment reminders +sandbox +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m);
});

test('on a narrow terminal words are cut, one line per agent, and ids stay', async () => {
  const world = await createServiceWorld();
  await world.run(['agents', 'create', '--name', `Very long ${'name '.repeat(20)}`]);
  const { stdout } = await world.run(['agents', 'list'], { columns: 60 });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(5);
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
  expect(stdout).toContain('…');
  expect(stdout).toContain('agent_reminders ');
});

test('a list says that it is cut, and --all shows the whole over several pages', async () => {
  const world = await createServiceWorld({ seedData: false });
  for (let nth = 0; nth < 3; nth += 1) await world.run(['agents', 'create', '--name', `a${nth}`]);
  const cut = await world.run(['agents', 'list', '--limit', '2']);
  expect(cut.stdout.trimEnd().split('\n')).toHaveLength(3);
  expect(cut.stderr).toBe('These are the first 2; there are more: --limit <number>, or --all.\n');
  const exact = await world.run(['agents', 'list', '--limit', '3']);
  expect(exact.stderr).toBe('');
  const cutJson = JSON.parse((await world.run(['agents', 'list', '--limit', '2', '--json'])).stdout) as {
    agents: unknown[];
  };
  expect(cutJson).toMatchObject({ has_more: true, agents: [{ name: 'a2' }, { name: 'a1' }] });
  const all = JSON.parse((await world.run(['agents', 'list', '--all', '--json'])).stdout) as { agents: unknown[] };
  expect(all).toMatchObject({ has_more: false });
  expect(all.agents).toHaveLength(3);
});

test('flags make an agent, and its id is all that is printed', async () => {
  const world = await createServiceWorld();
  const words = ['--name', 'Own', '--tag', 'a', '--tag', 'b', '--first-message', 'Hi "you"', '--prompt', 'Be kind.'];
  const made = await world.run(['agents', 'create', ...words, '--voice', 'voice_calm', '--temperature', '0.3']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const id = made.stdout.trimEnd();
  const { body } = await world.get(`/v1/convai/agents/${id}`);
  expect(body).toMatchObject({
    name: 'Own',
    tags: ['a', 'b'],
    conversation_config: {
      tts: { voice_id: 'voice_calm', model_id: 'svc_flash_v2' },
      agent: { first_message: 'Hi "you"', prompt: { prompt: 'Be kind.' }, llm: { temperature: 0.3 } },
    },
  });
  const shown = await world.run(['agents', 'get', id]);
  expect(shown.stdout).toMatch(/Name +Own\nTags +a, b\nVoice +voice_calm\n.*Temperature +0\.3\n.*\n\nBe kind\.\n$/s);
  const json = await world.run(['agents', 'get', id, '--json']);
  expect(JSON.parse(json.stdout)).toEqual(body);
});

test.each([
  ['agent.yaml', 'name: From file\nconversation_config:\n  agent: { first_message: Hello, language: en }\n'],
  ['agent.json', '{"name":"From file","conversation_config":{"agent":{"first_message":"Hello","language":"en"}}}'],
  ['-', 'name: From file\nconversation_config: { agent: { first_message: Hello, language: en } }'],
])('a body from %s is sent, and flags change single fields of it', async (name, text) => {
  const world = await createServiceWorld();
  const file = name === '-' ? '-' : world.write(name, text);
  const args = ['agents', 'create', '--file', file, '--first-message', 'Good morning', '--json'];
  const { code, stdout, stderr } = await world.run(args, { stdin: text });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { agent_id: id } = JSON.parse(stdout) as { agent_id: string };
  expect((await world.get(`/v1/convai/agents/${id}`)).body).toMatchObject({
    name: 'From file',
    conversation_config: { agent: { first_message: 'Good morning', language: 'en' } },
  });
});

test('an update changes what is given and nothing else', async () => {
  const world = await createServiceWorld();
  const args = ['agents', 'update', 'agent_reminders', '--temperature', '0.9', '--name', 'Renamed'];
  expect(await world.run(args)).toMatchObject({ code: 0, stdout: 'Agent agent_reminders was changed.\n' });
  const { body } = await world.get('/v1/convai/agents/agent_reminders');
  expect(body).toMatchObject({
    name: 'Renamed',
    tags: ['sandbox'],
    conversation_config: {
      tts: { voice_id: 'voice_calm' },
      agent: { first_message: 'Hello, I am calling about your appointment.', llm: { temperature: 0.9 } },
    },
  });
});

test('--clear sends null for a field, beside what else changes', async () => {
  const service = await startHttpService((response) => answerJson(response, 200, { agent_id: 'agent_1' }));
  const args = ['agents', 'update', 'agent_1', '--clear', 'agent.first_message', '--clear', 'tts.model_id'];
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'sk_unused' };
  const { code, stdout } = await runWith([...args, '--prompt', 'Be kind.', '--json'], {}, env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ agent_id: 'agent_1' });
  expect(JSON.parse(service.seen[0]?.body ?? '')).toEqual({
    conversation_config: { agent: { first_message: null, prompt: { prompt: 'Be kind.' } }, tts: { model_id: null } },
  });
});

test.each([
  [200, '', '{"agent_id":"agent_1"}'],
  [204, '', '{"agent_id":"agent_1"}'],
  [200, '{"agent_id":"agent_1","name":"x"}', '{"agent_id":"agent_1","name":"x"}'],
])('an update confirmed with %i and %j is shown as %s', async (status, body, shown) => {
  const service = await startHttpService((response) => response.writeHead(status).end(body));
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'sk_unused' };
  const { code, stdout } = await runWith(['agents', 'update', 'agent_1', '--name', 'x', '--json'], {}, env);
  expect({ code, shown: JSON.parse(stdout) as unknown }).toEqual({ code: 0, shown: JSON.parse(shown) });
});

test('a deletion is asked for by name, a no changes nothing, and where nobody can be asked it needs --yes', async () => {
  const world = await createServiceWorld();
  const no = await world.run(['agents', 'delete', 'agent_survey'], { says: [false] });
  expect(no).toMatchObject({ code: 1, stdout: '', stderr: 'Nothing was changed.\n' });
  expect(no.questions).toEqual(['Delete agent agent_survey for good? Numbers assigned to it will no longer be answered.']);
  expect((await world.get('/v1/convai/agents/agent_survey')).status).toBe(200);
  const refused = await world.run(['agents', 'delete', 'agent_survey']);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/Nothing was changed; run again with --yes\.\n$/) });
  expect((await world.get('/v1/convai/agents/agent_survey')).status).toBe(200);
  const yes = await world.run(['agents', 'delete', 'agent_survey'], { says: [true] });
  expect(yes).toMatchObject({ code: 0, stdout: 'Agent agent_survey was deleted.\n' });
  expect((await world.get('/v1/convai/agents/agent_survey')).status).toBe(404);
  const done = await world.run(['agents', 'delete', 'agent_reminders', '--yes', '--json']);
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toEqual({ agent_id: 'agent_reminders', deleted: true });
});

test('an unknown agent is told in the words of the service, with code 1', async () => {
  const world = await createServiceWorld();
  const { code, stdout, stderr } = await world.run(['agents', 'get', 'agent_none']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^Could not read agent agent_none: the service refuses it \(404\)\. .*agent_none.*\n$/);
});

test('what the service refuses is named field by field', async () => {
  const world = await createServiceWorld();
  const file = world.write('agent.yaml', 'name: a\nconversation_config: { agent: { nonsense: 1 } }\n');
  const { code, stderr } = await world.run(['agents', 'create', '--file', file]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/refuses it \(422\)\. body\.conversation_config\.agent\.nonsense: /);
});

test('a write whose answer is lost says that its effect is not known, and where to look', async () => {
  const world = await createServiceWorld({ faults: [{ operation: 1, effect: { type: 'reset', when: 'after' } }] });
  const { code, stdout, stderr } = await world.run(['agents', 'create', '--name', 'Lost']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^It is not known whether this was done: create the agent\..*Look with: carillon agents list\n$/);
  expect((await world.run(['agents', 'list'])).stdout).toContain('Lost');
});

test('a service that is down, a wrong key and a missing one are told apart', async () => {
  const down = await runWith(['agents', 'list'], {}, here);
  expect(down.code).toBe(1);
  expect(down.stderr).toMatch(/^Could not list the agents: the service at http:\/\/127\.0\.0\.1:1 cannot be reached\./);
  const world = await createServiceWorld();
  const wrong = await world.run(['agents', 'list'], { env: { SVC_API_KEY: 'sk_wrong' } });
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toMatch(/refuses the API key \(401\): set SVC_API_KEY/);
  expect(wrong.stderr).not.toContain('sk_wrong');
  const none = await world.run(['agents', 'list'], { env: { SVC_API_KEY: '' } });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/^SVC_API_KEY is not set/) });
});

test('a rate limit says when to try again', async () => {
  const world = await createServiceWorld();
  const { code, stderr } = await world.run(['agents', 'list'], { env: { SVC_API_KEY: 'sk_sandbox_ratelimited' } });
  expect(code).toBe(1);
  expect(stderr).toBe('Could not list the agents: the service limits the rate (429) and did nothing. Try again in 2 s.\n');
});

test('the value of a header for an own model comes from a prompt that shows nothing, or from a file', async () => {
  const world = await createServiceWorld();
  const file = world.write('key.txt', 'Bearer from-file-1f\n');
  const own = ['agents', 'create', '--name', 'Own', '--llm-url', 'http://127.0.0.1:9/v1'];
  const headers = ['--llm-header', 'x-team', '--llm-header-file', `authorization=${file}`];
  const { code, stderr, stdout } = await world.run([...own, ...headers], { types: 'typed-9a\n' });
  expect(code).toBe(0);
  expect(stderr).toBe('The value of header x-team (not shown): \n');
  const id = stdout.trimEnd();
  const shown = await world.run(['agents', 'get', id]);
  expect(shown.stdout).toMatch(/Model +custom\n/);
  expect(shown.stdout).toMatch(/Own model at +http:\/\/127\.0\.0\.1:9\/v1\n/);
  expect(shown.stdout).toMatch(/With headers +.*x-team/);
  expect(shown.stdout + stderr).not.toMatch(/typed-9a|from-file-1f/);
});

test.each([
  { args: ['create', '--name', 'a', '--llm-header', 'authorization: tok_9c2'], says: /Give the header's name alone/ },
  { args: ['create', '--name', 'a', '--llm-header', 'authorization=tok_9c2'], says: /Give the header's name alone/ },
  {
    args: ['create', '--name', 'a', '--llm-header', 'x-team'],
    says: /nobody here to ask.*--llm-header-file x-team=FILE/,
  },
  { args: ['create'], says: /An agent needs a name: give --name/ },
  { args: ['create', '--name', ''], says: /nothing was sent\. Correct name: / },
  { args: ['create', '--name', 'a', '--temperature', '1.5'], says: /'1\.5' is invalid.*from 0\.0 to 1\.0/ },
  {
    args: ['create', '--name', 'a', '--model', 'custom'],
    says: /llm\.custom_llm: is required when model_id is "custom"/,
  },
  { args: ['create', '--name', 'a', '--voice-model', 'm'], says: /tts\.voice_id/ },
  { args: ['create', '--file', '/nowhere/agent.yaml'], says: /^\/nowhere\/agent\.yaml: the file cannot be read/ },
  { args: ['update', 'agent_1'], says: /Nothing to change/ },
  { args: ['update', 'agent_1', '--clear', 'agent..x'], says: /--clear agent\.\.x: name a field/ },
  { args: ['update'], says: /missing required argument 'agent'/ },
  { args: ['list', '--limit', '0'], says: /'0' is invalid.*at least 1/ },
  { args: ['list', '--limit', '3', '--all'], says: /'--all'.* cannot be used with .*'--limit/ },
  { args: ['explode'], says: /unknown command 'explode'/ },
])('agents $args is wrong usage, and nothing is sent', async ({ args, says }) => {
  const { code, stdout, stderr } = await runWith(['agents', ...args], {}, here);
  expect(stderr).toMatch(says);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).not.toContain('tok_9c2');
});

test.each([
  ['name: [unclosed', /agent\.yaml:\d+: this is neither JSON nor YAML/],
  ['- a\n- b', /agent\.yaml: this is not an object/],
  ['name: a\nconversation_config: tok_77', /--first-message sets a field of "conversation_config"/],
  ['name: a\nname: tok_77', /agent\.yaml:2: .*\(duplicate key\)/],
])('a file that holds %j is refused with its place, and never quoted', async (text, says) => {
  const world = await createServiceWorld();
  const file = world.write('agent.yaml', text);
  const { code, stderr } = await world.run(['agents', 'create', '--file', file, '--first-message', 'x']);
  expect(code).toBe(2);
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('tok_77');
});

test('standard input gives one thing only', async () => {
  const world = await createServiceWorld();
  const args = ['agents', 'create', '--file', '-', '--llm-url', 'http://127.0.0.1:9', '--llm-header-file', 'a=-'];
  const { code, stderr } = await world.run(args, { stdin: 'name: a' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Standard input \(-\) can be read for one thing only/);
});
