import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { createTerminal } from './terminal.ts';

const names = ['demo', 'run', 'start', 'status', 'pause', 'resume', 'cancel', 'resolve', 'results', 'worker', 'dev'];

test.each(names)('%s explains itself with an example', async (name) => {
  const io = createTerminal();
  expect(await runCli([name, '--help'], io)).toBe(0);
  expect(io.written().stdout).toMatch(new RegExp(`Usage: carillon ${name}.*\n  carillon ${name}`, 's'));
});

test.each([
  [['start'], /missing required argument 'campaign\.yaml'/],
  [['run', 'a.yaml', 'b.yaml'], /too many arguments/],
  [['pause'], /missing required argument 'campaign'/],
  [['resolve', 'x'], /Say which: .*--redial, or --give-up/],
  [['dev', '--port', '70000'], /'70000' is invalid.*0 \(any free port\) to 65535/],
  [['dev', '--speed', 'fast'], /'fast' is invalid.*above 0/],
  [['dev', '--dialect', 'klingon'], /Allowed choices are spec, extended/],
  [['demo', '--speed', '0'], /'0' is invalid/],
  [['worker', '--jason'], /unknown option '--jason'.*--json/s],
  [['results', 'x', '--output'], /argument missing/],
])('%j is wrong usage', async (args, says) => {
  const io = createTerminal();
  expect(await runCli(args, io)).toBe(2);
  expect(io.written().stderr).toMatch(says);
  expect(io.written().stdout).toBe('');
});
