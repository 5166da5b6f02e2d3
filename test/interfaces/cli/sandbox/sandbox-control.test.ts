import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SandboxOptions } from '../../../../src/sandbox/core/settings/settings.ts';
import { startSandbox } from '../../../../src/sandbox/start.ts';
import { runCommand } from '../terminal.ts';

const begin = Date.parse('2030-01-15T12:00:00Z');

async function createRunning(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ clock: 'manual', ...options });
  const folder = mkdtempSync(join(tmpdir(), 'carillon-control-'));
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });
  return {
    sandbox,
    write: (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    run: (...args: string[]) => runCommand(['sandbox', ...args], { env: { SVC_BASE_URL: sandbox.url } }),
  };
}

test('the time, the faults and the state of a sandbox that runs are moved by commands', async () => {
  const { sandbox, run, write } = await createRunning();
  const from = sandbox.clock.now();
  expect(await run('advance', '2h')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^2 h 0 min|^120 min|^2 h/),
  });
  expect(sandbox.clock.now() - from).toBe(2 * 3_600_000);
  const until = new Date(Math.max(begin, sandbox.clock.now() + 60_000)).toISOString();
  expect(await run('advance', until, '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"advanced_ms"'),
  });
  expect(sandbox.clock.now()).toBe(Date.parse(until));

  const rules = write('faults.json', '[{"operation":14,"nth":2,"effect":{"type":"reset","when":"after"}}]');
  expect(await run('faults', rules)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^1 fault rules\n {2}\{.*"operation":"batch_calls"/),
  });
  const kept = await run('snapshot', 'before', '--json');
  const { snapshot_id: id } = JSON.parse(kept.stdout) as { snapshot_id: string };
  expect(await run('faults', '--clear')).toMatchObject({ code: 0, stdout: '0 fault rules\n' });
  expect(await run('snapshot', '--restore', id)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Back at ${id}`),
  });
  expect((await run('faults')).stdout).toMatch(/^1 fault rules/);
  expect(await run('reset')).toEqual({ code: 0, stdout: 'It is as at its start.\n', stderr: '' });
});

test('a fixture is loaded into a sandbox that runs, by a command', async () => {
  const { run, write } = await createRunning();
  const file = write('fixture.yaml', 'agents: [{agent_id: agent_desk, name: Console}]\n');
  expect(await run('fixture', file)).toMatchObject({ code: 0, stdout: `Loaded ${file}.\n` });
  expect(await run('fixture', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('agent_desk is there already'),
  });
  const broken = write('broken.yaml', 'agents: [');
  expect(await run('fixture', broken)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${broken}: the fixture`),
  });
});

test('a sandbox with a control token asks the commands for it, too', async () => {
  const { run, write } = await createRunning({ controlToken: 'a-token-of-this-test' });
  expect(await run('reset')).toMatchObject({ code: 1, stderr: expect.stringMatching(/refuses it \(401\)/) });
  expect(await run('reset', '--control-token-file', write('token', 'a-token-of-this-test\n'))).toMatchObject({
    code: 0,
  });
});

test('advance --until idle ends with 0 when everything is over, and with 1 when something is not', async () => {
  const { sandbox, run } = await createRunning();
  const headers = { 'x-api-key': 'sk_sandbox_ok', 'content-type': 'application/json' };
  const submit = async (more: Record<string, unknown>): Promise<void> => {
    const body = JSON.stringify({
      call_name: 'a batch',
      agent_id: 'agent_reminders',
      agent_phone_number_id: 'pn_main',
      recipients: [{ phone_number: '+12125550150' }],
      ...more,
    });
    const answer = await fetch(`${sandbox.url}/v1/convai/batch-calling/submit`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
  };
  await submit({});
  expect(await run('advance', '--until', 'idle')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(' on: it is '),
  });
  expect(sandbox.calls().map(({ state }) => state)).not.toContain('dialing');
  await submit({ scheduled_time_unix: Math.floor(sandbox.clock.now() / 1000) + 40 * 86_400 });
  expect(await run('advance', '--until', 'idle')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^It is .* there, and not idle \(calls queued: 1\): the next thing is due .*, after /),
  });
  const told = await run('advance', '--until', 'idle', '--json');
  expect([told.code, JSON.parse(told.stdout)]).toMatchObject([1, { idle: false, bound_reached: true }]);
});

test.each([
  [['advance'], 2, /Say how far: a span such as 2h, or --until idle/],
  [['advance', '2h', '--until', 'idle'], 2, /one of the two/],
  [['advance', 'soon'], 1, /refuses it \(422\)/],
  [['faults', 'nowhere.json'], 2, /nowhere\.json: the file cannot be read: there is no such file/],
  [['reset', '--url', 'http://127.0.0.1:1'], 1, /No sandbox answers at http:\/\/127\.0\.0\.1:1\. Start one with carillon sandbox/],
])('%j says what is wrong', async (args, code, says) => {
  const { run } = await createRunning();
  expect(await run(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(says) });
});
