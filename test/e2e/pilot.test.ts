import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld, numberAt, proven } from '../interfaces/cli/campaign-world.ts';
import { until } from '../support/until.ts';

const rows = 40;
const people = Array.from({ length: rows }, (_, index) => numberAt(index));

interface Status {
  state: string;
  stateReason: string | null;
  pilot: { sample: number; state: string; rows: number; called: number; gates: string[] } | null;
}

test('a sample is called first, and everybody else when a person has seen it', async () => {
  const world = await createWorld({ world: { people: people.map((number) => ({ number, mood: 'friendly' as const })) } });
  await world.work();
  const { id } = world;
  const file = world.path('pilot.yaml');
  const pilot = 'pilot: { rows: 10 }\ngates: [{ measure: answered, at_least: 20%, min: 5 }]\n';
  const basis = [
    `id: ${id}`,
    'agent_id: agent_reminders',
    'from_phone_number_id: pn_main',
    'list: { file: list.csv, phone: phone }',
    'hours: any',
    'law: off',
    'breaker: off',
    'retry: { max_attempts: 1 }',
  ].join('\n');
  writeFileSync(file, `${basis}\n${pilot}`);
  writeFileSync(world.path('list.csv'), `phone,name\n${people.map((number, at) => `${number},Guest ${at}`).join('\n')}\n`);
  // A gate without a result of that name is refused, by line.
  writeFileSync(world.path('wrong.yaml'), `${basis}\n${pilot.replace('answered', 'result.nobody')}`);
  const refused = { code: 2, stderr: expect.stringMatching(/wrong\.yaml:10.*gates\[0\]\.measure.*results/s) };
  expect(await world.run('check', world.path('wrong.yaml'))).toMatchObject(refused);
  expect(await world.run('start', file)).toMatchObject({ code: 0 });

  const status = async () => JSON.parse((await world.run('status', id, '--json')).stdout) as Status;
  const called = () => new Set(world.sandbox.calls().map(({ to }) => to));
  await until('the end of the pilot', async () => (await status()).state === 'paused');
  const first = called();
  expect(first.size).toBe(10);
  expect(await status()).toMatchObject({
    stateReason: expect.stringMatching(/^The pilot is over: 10 of 10 rows were called\. answered \d+ of 10 calls/),
    pilot: { sample: 1, state: 'asked', rows: 10, called: 10 },
  });
  expect((await world.run('status', id)).stdout).toMatch(/Pilot +sample 1: 10 of 10 rows called .*waits for a decision/);

  // Another sample, then everybody.
  expect(await world.run('resume', id, '--sample')).toMatchObject({ code: 0 });
  await until('the end of the second sample', async () => {
    const { pilot: now, state } = await status();
    return now?.sample === 2 && state === 'paused';
  });
  expect(called().size).toBe(20);
  // Somebody changes the agent and has everybody called: what the pilot showed holds no more, and that is said before anybody is called.
  const changed = await fetch(`${world.sandbox.url}/v1/convai/agents/agent_reminders`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'x-api-key': world.env['SVC_API_KEY'] ?? '' },
    body: JSON.stringify({ conversation_config: { agent: { prompt: { prompt: 'You remind people, and ask nothing else.' } } } }),
  });
  expect(changed.status).toBe(200);
  await world.run('resume', id);
  await until('the pause for the agent', async () => {
    const { stateReason, state } = await status();
    return state === 'paused' && stateReason?.startsWith('The agent was changed since the pilot') === true;
  });
  expect(called().size).toBe(20);
  expect(await status()).toMatchObject({ pilot: { sample: 2, state: 'asked' } });
  expect(await world.run('resume', id)).toMatchObject({ code: 0 });
  expect((await world.run('run', file)).code).toBe(0);
  expect(called().size).toBe(rows);
  expect((await status()).pilot).toMatchObject({ sample: 2, state: 'passed' });
  expect(await world.run('verify', id)).toMatchObject(proven);
});
