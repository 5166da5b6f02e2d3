import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../../src/sandbox/start.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { runCommand } from '../terminal.ts';

const run = (...args: string[]) => runCommand(args, { now: Date.now });

test('init writes a campaign that check finds nothing wrong with, named after its folder', async () => {
  const path = join(temporaryFolder(), 'Autumn Reminders!');
  const made = await run('init', path);
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/campaign\.yaml\n.*recipients\.csv\n.*agent\.json\n/),
  });
  expect(made.stderr).toMatch(/Campaign autumn-reminders\. .*carillon check .*campaign\.yaml\n/);
  const { code, stdout } = await run('check', join(path, 'campaign.yaml'), '--offline');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/can be called +5\n/) });
  expect(stdout).toContain('Hello Ana, this is an automated call');
});

test('init writes over nothing, and then writes nothing', async () => {
  const path = temporaryFolder();
  writeFileSync(join(path, 'recipients.csv'), 'mine');
  expect(await run('init', path)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/recipients\.csv: it is there already/),
  });
  expect(readFileSync(join(path, 'recipients.csv'), 'utf8')).toBe('mine');
  expect(() => readFileSync(join(path, 'campaign.yaml'))).toThrow(/ENOENT/);
});

test('the agent of init is one that the sandbox takes, with what it collects and is judged by', async () => {
  const sandbox = await startSandbox({});
  onTestFinished(() => sandbox.close());
  const path = temporaryFolder();
  await run('init', path);
  const env = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' };
  const { stdout } = await runCommand(['agents', 'create', '--file', join(path, 'agent.json'), '--json'], { env });
  const { agent_id: id } = JSON.parse(stdout) as { agent_id: string };
  const shown = await runCommand(['agents', 'get', id, '--json'], { env });
  expect(JSON.parse(shown.stdout)).toMatchObject({
    platform_settings: {
      data_collection: { opt_out: { type: 'boolean' } },
      evaluation: { criteria: [{ id: 'goal_reached' }] },
    },
  });
});
