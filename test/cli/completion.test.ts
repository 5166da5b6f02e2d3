import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { createTerminal } from './terminal.ts';

const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const io = createTerminal();
    expect(await runCli(['completion', shell], io)).toBe(0);
    scripts.set(shell, io.written().stdout);
  }
});

/** What bash offers for the last of the words, by the script itself. */
function complete(...words: string[]): string[] {
  const quoted = ['./carillon', ...words].map((word) => `'${word}'`).join(' ');
  const line = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _carillon; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `${scripts.get('bash')}\n${line}`], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim().split('\n');
}

test.each([
  [['stat'], ['status']],
  [['re'], ['rehearse', 'resume', 'recover', 'resolve', 'results', 'report', 'retry']],
  [['status', '--j'], ['--json']],
  [
    ['status', 'reminders', '--'],
    ['--json', '--help'],
  ],
  [['schedule', 'pau'], ['pause']],
  [['schedule', 'create', 'x.yaml', '--cr'], ['--cron']],
  [['check', 'campaign'], ['']],
])('bash completes %j', (words, offers) => {
  expect(complete(...words)).toEqual(offers);
});

test.each(['zsh', 'fish'])('%s can read its script, where it is here', (shell) => {
  const script = scripts.get(shell) ?? '';
  expect(script).toContain('withdraw');
  const { error, status, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
  if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('another shell is wrong usage, and says which there are', async () => {
  const io = createTerminal();
  expect(await runCli(['completion', 'tcsh'], io)).toBe(2);
  expect(io.written().stderr).toMatch(/Allowed choices are bash, zsh, fish/);
});
