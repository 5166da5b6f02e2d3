import { expect, test } from 'vitest';
import { answerJson, startHttpService } from '../../../service/convai/loopback-servers.ts';
import { createServiceWorld, runWith, type ServiceWorld } from '../service-world.ts';

const here = { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'sk_unused' };
const token = 'tok_5e1c0a77';
const number = ['--phone-number', '+12125550123', '--label', 'Front desk', '--account-sid', 'sid_1'];

async function numbersOf(world: ServiceWorld): Promise<Record<string, unknown>[]> {
  return (await world.get('/v1/convai/phone-numbers')).body;
}

test('numbers are listed with their agents, all of them or those of one agent', async () => {
  const world = await createServiceWorld();
  const { code, stdout } = await world.run(['numbers', 'list']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^NUMBER ID +NUMBER +LABEL +AGENT\n/);
  expect(stdout).toMatch(/^pn_main +\+12125550199 +Main line +agent_reminders$/m);
  expect(stdout).toMatch(/^pn_unverified .* -$/m);
  const own = await world.run(['numbers', 'list', '--agent', 'agent_survey', '--json']);
  const { phone_numbers: numbers } = JSON.parse(own.stdout) as { phone_numbers: unknown[] };
  expect(numbers).toEqual((await numbersOf(world)).filter((each) => each['agent_id'] === 'agent_survey'));
  expect(numbers).toHaveLength(1);
});

test('a number is imported with a token typed at a prompt that shows nothing', async () => {
  const world = await createServiceWorld();
  const { code, stdout, stderr } = await world.run(['numbers', 'import', ...number], { types: `${token}\n` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'The auth token (not shown): \n' });
  expect(await numbersOf(world)).toContainEqual(
    expect.objectContaining({ phone_number_id: stdout.trimEnd(), phone_number: '+12125550123', label: 'Front desk' }),
  );
});

test.each(['file', 'standard input', 'body'])('the token may come from a %s', async (where) => {
  const world = await createServiceWorld();
  const file = world.write('token.txt', `${token}\n`);
  const body = world.write('number.json', JSON.stringify({ telephony_auth_token: token }));
  const flags = {
    file: ['--auth-token-file', file],
    'standard input': ['--auth-token-file', '-'],
    body: ['--file', body],
  }[where];
  const args = ['numbers', 'import', ...number, ...(flags ?? []), '--json'];
  const { code, stdout, stderr } = await world.run(args, { stdin: `${token}\n` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({ phone_number_id: expect.stringMatching(/^pn_/) });
});

test.each([['--auth-token', token], [`--auth-token=${token}`], ['--auth-token']])(
  'a token on the command line is refused, never repeated, and nothing is sent: %s',
  async (...args) => {
    const { code, stdout, stderr } = await runWith(['numbers', 'import', ...number, ...args], {}, here);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/not taken from the command line.*--auth-token-file <file>/);
    expect(stderr).not.toContain(token);
  },
);

test('no help mentions a flag that takes a token', async () => {
  const { stdout } = await runWith(['numbers', 'import', '--help'], {}, here);
  expect(stdout).toContain('--auth-token-file');
  expect(stdout).not.toMatch(/--auth-token(?!-file)/);
});

test('a prompt that ends without an answer sends nothing', async () => {
  const world = await createServiceWorld();
  const before = await numbersOf(world);
  const { code, stderr } = await world.run(['numbers', 'import', ...number], { types: '' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/No answer was given, so nothing was sent\.\n$/);
  expect(await numbersOf(world)).toEqual(before);
});

test('a token that the service echoes is not shown', async () => {
  const service = await startHttpService((response) => answerJson(response, 400, { detail: `bad token ${token}` }));
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'sk_unused' };
  const args = ['numbers', 'import', ...number, '--auth-token-file', '-'];
  const { code, stderr } = await runWith(args, { stdin: token }, env);
  expect(code).toBe(1);
  expect(stderr).toBe('Could not import the number: the service refuses it (400). bad token [redacted]\n');
});

test('assigning takes effect and says so', async () => {
  const world = await createServiceWorld();
  const { code, stdout } = await world.run(['numbers', 'assign', 'pn_main', '--agent', 'agent_survey']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'Agent agent_survey answers the calls to number pn_main from now on.\n',
  });
  expect(await numbersOf(world)).toContainEqual(expect.objectContaining({ phone_number_id: 'pn_main', agent_id: 'agent_survey' }));
  const json = await world.run(['numbers', 'assign', 'pn_main', '--agent', 'agent_reminders', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ phone_number_id: 'pn_main', agent_id: 'agent_reminders' });
});

const call = ['numbers', 'call', '--agent', 'agent_reminders', '--from', 'pn_main'];

test('calls are placed after a yes, with the warning that nothing protects them', async () => {
  const world = await createServiceWorld();
  const args = [...call, '--to', '+12125550130', '--to', '+12125550131', '--first-message', 'Hello there'];
  const { code, stdout, stderr, questions } = await world.run(args, { says: [true] });
  expect(questions).toEqual(['Place 2 calls now?']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Batch batch_\w+: 2 calls queued\.\n$/);
  expect(stderr).toMatch(/These calls are not checked against earlier calls/);
  expect(world.sandbox.calls().map(({ to, requestId }) => [to, requestId?.slice(0, 4)])).toEqual([
    ['+12125550130', 'cli-'],
    ['+12125550131', 'cli-'],
  ]);
});

test('a no places no call, and where nobody can be asked --yes is needed', async () => {
  const world = await createServiceWorld();
  expect((await world.run([...call, '--to', '+12125550130'], { says: [false] })).code).toBe(1);
  const unasked = await world.run([...call, '--to', '+12125550130']);
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toMatch(
    /Place 1 call now\? Not a terminal, cannot ask for confirmation\. Nothing was changed; run again with --yes\.\n$/,
  );
  expect(world.sandbox.calls()).toEqual([]);
});

test('a whole request comes from a file', async () => {
  const world = await createServiceWorld();
  const file = world.write(
    'batch.yaml',
    'agent_id: agent_reminders\nfrom_phone_number_id: pn_main\ncalls:\n  - to_phone_number: "+12125550132"\n    variables: { day: Monday }\n',
  );
  const { code, stdout } = await world.run(['numbers', 'call', '--file', file, '--yes', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ batch_id: expect.stringMatching(/^batch_/), calls_initiated: 1 });
});

test('calls whose answer is lost may have been placed: the command says so and ends with 1', async () => {
  const world = await createServiceWorld({ faults: [{ operation: 14, effect: { type: 'reset', when: 'after' } }] });
  const { code, stdout, stderr } = await world.run([...call, '--to', '+12125550130', '--yes']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /It is not known whether this was done: place 1 call\..*The calls may have been placed: do not repeat.*carillon conversations list --agent agent_reminders\n$/,
  );
  expect(world.sandbox.calls()).toHaveLength(1);
});

test('calls that were refused are not said to have been placed', async () => {
  const world = await createServiceWorld();
  const { code, stderr } = await world.run([...call, '--to', '+12125550120', '--yes']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/Could not place 1 call: the service refuses it \(422\)/);
  expect(stderr).not.toContain('may have been placed');
  expect(world.sandbox.calls()).toEqual([]);
});

test('a batch that was taken in part ends with 1', async () => {
  const world = await createServiceWorld({ faults: [{ operation: 14, effect: { type: 'partial', accept: 1 } }] });
  const { code, stdout, stderr } = await world.run([...call, '--to', '+12125550130', '--to', '+12125550131', '--yes']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/1 call queued/);
  expect(stderr).toMatch(/queued 1 of 2 and does not say which/);
});

test.each([
  { args: ['call', '--to', '+12125550130'], says: /^Give --agent and --from, or the fields in --file\.\n$/ },
  {
    args: [...call.slice(1), '--to', '2125550130', '--yes'],
    says: /nothing was sent\. Correct calls\[0\]\.to_phone_number/,
  },
  { args: ['call', '--file', 'x', '--first-message', 'y'], says: /--first-message is for calls given by --to/ },
  { args: ['import', '--label', 'x'], says: /^Give --phone-number and --account-sid, or the fields in --file\.\n$/ },
  { args: ['import', ...number], says: /nobody here to ask for the auth token.*--auth-token-file FILE/ },
  {
    args: ['import', ...number, '--auth-token-file', '/nowhere/t'],
    says: /^\/nowhere\/t: the auth token cannot be read/,
  },
  { args: ['assign', 'pn_main'], says: /required option '--agent <id>' not specified/ },
  { args: ['assign', '', '--agent', 'a'], says: /id in the path, which is empty/ },
])('numbers $args is wrong usage, and nothing is sent', async ({ args, says }) => {
  const { code, stdout, stderr } = await runWith(['numbers', ...args], {}, here);
  expect(stderr.replace(/^These calls are not checked.*\n/, '')).toMatch(says);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test.each([
  ['', /is empty/],
  ['planted_1f\nplanted_2f\n', /has more than one line/],
])('a token file that holds %j is refused without being quoted', async (text, says) => {
  const world = await createServiceWorld();
  const file = world.write('token.txt', text);
  const { code, stderr } = await world.run(['numbers', 'import', ...number, '--auth-token-file', file]);
  expect(code).toBe(2);
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('planted');
});

test.each([
  ['numbers', [{ phone_number_id: 'pn_good' }, { label: 'no id' }], 'pn_good'],
  ['agents', [{ agent_id: 'agent_good' }, { agent_id: 7 }], 'agent_good'],
  ['conversations', { conversations: [{ conversation_id: 'conv_good' }, {}] }, 'conv_good'],
])('a bad entry of the list of %s is told and left out', async (what, body, good) => {
  const service = await startHttpService((response) => answerJson(response, 200, body));
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'sk_any' };
  const { code, stdout, stderr } = await runWith([what, 'list'], {}, env);
  expect(code).toBe(0);
  expect(stdout).toContain(good);
  expect(stderr).toBe('1 entry of the list cannot be used (no id, say) and was left out.\n');
});
