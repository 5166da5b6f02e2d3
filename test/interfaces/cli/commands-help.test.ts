import { expect, test, beforeAll } from 'vitest';
import { spawnSync } from 'node:child_process';
import { runCli } from '../../../src/interfaces/cli/run-cli.ts';
import { createTerminal } from './terminal.ts';

const names = [
  'sandbox',
  'demo',
  'run',
  'start',
  'status',
  'pause',
  'resume',
  'cancel',
  'resolve',
  'results',
  'worker',
  'dev',
  'check',
  'doctor',
];
const agents = ['list', 'get', 'create', 'update', 'delete'].map((name) => `agents ${name}`);
const numbers = ['list', 'import', 'assign', 'call'].map((name) => `numbers ${name}`);
const conversations = ['list', 'get', 'delete', 'signed-url', 'token'].map((name) => `conversations ${name}`);

test.each([...names, ...agents, ...numbers, ...conversations])('%s explains itself with an example', async (name) => {
  const io = createTerminal();
  expect(await runCli([...name.split(' '), '--help'], io)).toBe(0);
  expect(io.written().stdout).toMatch(new RegExp(`Usage: carillon ${name}.*\n  carillon ${name}`, 's'));
});

test.each([
  [['test-call'], '--to <number>'],
  [['retry'], '--outcome <outcomes>'],
  [['schedule', 'create'], '--timezone <zone>'],
  [['numbers', 'assign'], '--agent <id>'],
])('the help of %j marks what has to be given, and nothing else', async (command, flag) => {
  const io = createTerminal();
  expect(await runCli([...command, '--help'], io)).toBe(0);
  const { stdout } = io.written();
  const flags = [...stdout.matchAll(/^ {2}(-\S.*?) {2,}([^]*?)(?=^ {2}-|^$)/gm)];
  const marked = flags.filter(([, , text = '']) => text.replace(/\s+/g, ' ').includes('(required)'));
  expect(marked.map(([, name]) => name)).toEqual([flag]);
  expect(stdout).not.toContain('default: false');
});

test.each([
  [['start'], /missing required argument 'campaign\.yaml'/],
  [['run', 'a.yaml', 'b.yaml'], /too many arguments/],
  [['pause'], /missing required argument 'campaign'/],
  [['token', 'create', 'front\u0007desk'], /Argument 3 holds the control character \(U\+0007\); remove it/],
  [['add', 'spring', '--set', 'name=Ann\ufffd'], /Argument 4 holds U\+FFFD, which stands for letters that were lost/],
  [['resolve', 'x'], /Say which: .*--redial, --give-up, or --candidates/],
  [['dev', '--port', '70000'], /'70000' is invalid.*0 \(any free port\) to 65535/],
  [['dev', '--speed', 'fast'], /'fast' is invalid.*above 0/],
  [['dev', '--dialect', 'klingon'], /Allowed choices are spec, extended/],
  [['demo', '--speed', '0'], /'0' is invalid/],
  [['worker', '--jason'], /unknown option '--jason'.*--json/s],
  [['results', 'x', '--output'], /argument missing/],
  [['rehearse', 'x.yaml', '--pause-for', '1h'], /--pause-for .*--pause-after/],
])('%j is wrong usage', async (args, says) => {
  const io = createTerminal();
  expect(await runCli(args, io)).toBe(2);
  expect(io.written().stderr).toMatch(says);
  expect(io.written().stdout).toBe('');
});

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
