import { expect, test } from 'vitest';
import { createManualClock, plainNumbers } from '../../../sandbox/harness.ts';
import { createServiceWorld, runWith, type ServiceWorld } from '../service-world.ts';

const here = { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'sk_unused' };

async function worldWithCalls(count: number): Promise<ServiceWorld & { ids: string[] }> {
  const clock = createManualClock();
  const world = await createServiceWorld({ clock, concurrency: 500 });
  const to = plainNumbers(count).flatMap((number) => ['--to', number]);
  await world.run(['numbers', 'call', '--agent', 'agent_reminders', '--from', 'pn_main', ...to, '--yes']);
  clock.advance(3_600_000);
  return { ...world, ids: world.sandbox.calls().map(({ conversationId }) => conversationId ?? '') };
}

test('conversations are listed one per line, for all agents or one', async () => {
  const world = await worldWithCalls(3);
  const { code, stdout } = await world.run(['conversations', 'list']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^CONVERSATION +STARTED +SECONDS +STATUS +AGENT\n/);
  const [, ...lines] = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.replace(/ .*/, '')).sort()).toEqual([...world.ids].sort());
  expect(lines[0]).toMatch(/^conv_\w+ +2030-01-15T12:\d\d:\d\dZ +\d+ +(done|failed) +agent_reminders$/);
  const none = await world.run(['conversations', 'list', '--agent', 'agent_survey', '--json']);
  expect(JSON.parse(none.stdout)).toEqual({ conversations: [], has_more: false });
});

test('more conversations than a page are all there with --all, and none twice', async () => {
  const world = await worldWithCalls(130);
  const { stdout } = await world.run(['conversations', 'list', '--all', '--json']);
  const { conversations } = JSON.parse(stdout) as { conversations: { conversation_id: string }[] };
  expect(conversations.map(({ conversation_id: id }) => id).sort()).toEqual([...world.ids].sort());
  const usual = await world.run(['conversations', 'list']);
  expect(usual.stdout.trimEnd().split('\n')).toHaveLength(51);
  expect(usual.stderr).toMatch(/These are the first 50; there are more/);
});

test('a conversation is shown as a transcript, or whole as JSON', async () => {
  const world = await worldWithCalls(1);
  const id = world.ids[0] ?? '';
  const { code, stdout } = await world.run(['conversations', 'get', id]);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^Conversation  ${id}\nStarted `));
  const json = await world.run(['conversations', 'get', id, '--json']);
  const record = JSON.parse(json.stdout) as { transcript: { text: string }[] };
  expect(record).toMatchObject({ conversation_id: id, metadata: { agent_id: 'agent_reminders' } });
  for (const { text } of record.transcript) expect(stdout).toContain(text);
});

test('a deleted conversation is gone', async () => {
  const world = await worldWithCalls(1);
  const id = world.ids[0] ?? '';
  expect((await world.run(['conversations', 'delete', id])).code).toBe(2);
  const { questions, code } = await world.run(['conversations', 'delete', id], { says: [true] });
  expect(questions).toEqual([`Delete conversation ${id} for good, with its recording and transcript?`]);
  expect(code).toBe(0);
  const again = await world.run(['conversations', 'delete', id, '--yes']);
  expect(again.code).toBe(1);
  expect(again.stderr).toMatch(/^Could not delete conversation conv_\w+: the service refuses it \(404\)/);
});

test('a signed URL and a token are printed alone, another one each time', async () => {
  const world = await createServiceWorld();
  const first = await world.run(['conversations', 'signed-url', 'agent_reminders']);
  const second = await world.run(['conversations', 'signed-url', 'agent_reminders', '--json']);
  expect(first.stdout).toMatch(/^wss?:\/\/\S+\n$/);
  const { signed_url: url } = JSON.parse(second.stdout) as { signed_url: string };
  expect(new URL(url).searchParams.get('agent_id')).toBe('agent_reminders');
  expect(first.stdout.trim()).not.toBe(url);
  const token = await world.run(['conversations', 'token', 'agent_reminders']);
  expect(token.stdout).toMatch(/^\S+\n$/);
  const other = JSON.parse((await world.run(['conversations', 'token', 'agent_reminders', '--json'])).stdout) as object;
  expect(other).toEqual({ token: expect.any(String) });
  expect(other).not.toEqual({ token: token.stdout.trim() });
});

test('an agent that is not there opens nothing', async () => {
  const world = await createServiceWorld();
  const { code, stdout, stderr } = await world.run(['conversations', 'token', 'agent_none']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^Could not get a token for agent agent_none: the service refuses it \(404\)/);
});

test.each([
  { args: ['get'], says: /missing required argument 'conversation'/ },
  { args: ['list', '--limit', 'many'], says: /'many' is invalid/ },
  { args: ['get', '..'], says: /id in the path/ },
])('conversations $args is wrong usage', async ({ args, says }) => {
  const { code, stdout, stderr } = await runWith(['conversations', ...args], {}, here);
  expect(stderr).toMatch(says);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
