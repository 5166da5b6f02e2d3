import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
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
];

test.each(names)('%s explains itself with an example', async (name) => {
  const io = createTerminal();
  expect(await runCli([name, '--help'], io)).toBe(0);
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
