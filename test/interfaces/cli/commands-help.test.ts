import { expect, test, beforeAll } from 'vitest';
import { spawnSync } from 'node:child_process';
import { commands } from '../../../src/interfaces/cli/commands.ts';
import { createTerminal, runCommand } from './terminal.ts';

const written = commands.filter(({ name }) => !['schema', 'completion'].includes(name));

const names = await Promise.all(
  written.map(async ({ name, load }) => {
    const { commands: below } = (await load())(createTerminal());
    return [name, ...below.map((command) => `${name} ${command.name()}`)];
  }),
).then((found) => found.flat());

test('the commands that were there at first are among those that explain themselves', () => {
  const plain = 'sandbox demo run start status pause resume cancel resolve results worker dev check doctor'.split(' ');
  const agents = ['list', 'get', 'create', 'update', 'delete'].map((name) => `agents ${name}`);
  const numbers = ['list', 'import', 'assign', 'call'].map((name) => `numbers ${name}`);
  const conversations = ['list', 'get', 'delete', 'signed-url', 'token'].map((name) => `conversations ${name}`);
  expect(names).toEqual(expect.arrayContaining([...plain, ...agents, ...numbers, ...conversations]));
});

test.each(names)('%s explains itself with an example of its own', async (name) => {
  const { code, stdout } = await runCommand([...name.split(' '), '--help']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`Usage: carillon ${name}`) });
  expect(stdout).toMatch(new RegExp(`^  (?:[A-Z_]+=\\S+ )*carillon ${name}\\b`, 'm'));
});

test.each([
  [['test-call'], '--to <number>'],
  [['retry'], '--outcome <outcomes>'],
  [['schedule', 'create'], '--timezone <zone>'],
  [['numbers', 'assign'], '--agent <id>'],
])('the help of %j marks what has to be given, and nothing else', async (command, flag) => {
  const { code, stdout } = await runCommand([...command, '--help']);
  expect(code).toBe(0);
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
  expect(await runCommand(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
});

const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runCommand(['completion', shell]);
    expect(code).toBe(0);
    scripts.set(shell, stdout);
  }
});

/** What bash offers for the last word, by the script itself. */
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
  const { code, stderr } = await runCommand(['completion', 'tcsh']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/Allowed choices are bash, zsh, fish/) });
});
