import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { commands } from '../../../../src/interfaces/cli/commands.ts';
import { describeFailure } from '../../../../src/interfaces/cli/terminal/failure.ts';
import { createInterrupts } from '../../../../src/interfaces/cli/terminal/interrupt.ts';
import { runCli } from '../../../../src/interfaces/cli/run-cli.ts';
import { readVersion } from '../../../../src/interfaces/cli/terminal/own-command.ts';
import { ConfigError } from '../../../../src/shared/config.ts';
import { createTerminal } from '../terminal.ts';
import type { CommandEntry } from '../../../../src/interfaces/cli/terminal/io.ts';
import { program } from '../../../support/worker-process.ts';

class ForeseenError extends Error {
  readonly exitCode = 2;
}

/** A command that does `act`, beside one that must not be loaded. */
function entriesDoing(act: (word: string) => void | Promise<void>): CommandEntry[] {
  return [
    {
      name: 'act',
      summary: 'does it',
      load: async () => () => new Command('act').argument('<word>').option('--loud').action(act),
    },
    { name: 'other', summary: 'is not wanted', load: () => Promise.reject(new Error('loaded for nothing')) },
  ];
}

async function runProgram(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number, stdout, stderr })) };
}

test('help lists every command with what it does, and examples, without loading any', async () => {
  const io = createTerminal();
  const unloadable = commands.map((entry) => ({ ...entry, load: () => Promise.reject(new Error('loaded for help')) }));
  expect(await runCli(['--help'], io, unloadable)).toBe(0);
  const { stdout } = io.written();
  for (const { name, summary } of commands) {
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${name} ${summary}`);
  }
  expect(stdout).toContain('carillon check campaign.yaml');
});

test('help has its commands in groups', async () => {
  const io = createTerminal();
  expect(await runCli(['--help'], io)).toBe(0);
  const { stdout } = io.written();
  const places = [
    'Prepare and rehearse:',
    'demo ',
    'Run a campaign:',
    'pause ',
    'Rows and results:',
    'update ',
    'The service:',
    'sandbox ',
    'worker ',
  ];
  const found = places.map((text) => stdout.search(new RegExp(`^ *${text}`, 'm')));
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found).not.toContain(-1);
});

test('help for a command is the same as its --help', async () => {
  const [asked, flagged] = [createTerminal(), createTerminal()];
  expect(await runCli(['help', 'doctor'], asked)).toBe(0);
  await runCli(['doctor', '--help'], flagged);
  expect(asked.written()).toEqual(flagged.written());
});

test('the version is that of package.json', async () => {
  const io = createTerminal();
  expect(await runCli(['--version'], io)).toBe(0);
  expect(io.written().stdout).toBe(`${readVersion()}\n`);
  expect(readVersion()).toMatch(/^\d+\.\d+\.\d+/);
});

test('a command gets its arguments, and only that command is loaded', async () => {
  const words: string[] = [];
  const entries = entriesDoing((word) => void words.push(word));
  expect(await runCli(['act', 'hello'], createTerminal(), entries)).toBe(0);
  expect(words).toEqual(['hello']);
});

test.each([
  { args: ['atc'], says: /unknown command 'atc'.*Did you mean act\?/s },
  { args: ['act'], says: /missing required argument 'word'/ },
  { args: ['act', 'x', '--lout'], says: /unknown option '--lout'.*Did you mean --loud\?/s },
  { args: ['act', 'x', 'y'], says: /too many arguments/ },
  { args: ['--wrong'], says: /unknown option '--wrong'/ },
  { args: [], says: /Usage: carillon/ },
])('wrong usage $args ends with code 2, a reason on stderr and nothing on stdout', async ({ args, says }) => {
  const io = createTerminal();
  const entries = entriesDoing(() => expect.fail('the command ran'));
  expect(await runCli(args, io, entries)).toBe(2);
  expect(io.written().stderr).toMatch(says);
  expect(io.written().stdout).toBe('');
});

test('a foreseen error prints its message alone and ends with its own code', async () => {
  const io = createTerminal();
  const entries = entriesDoing(() => Promise.reject(new ForeseenError('The list has no rows. Add some.')));
  expect(await runCli(['act', 'x'], io, entries)).toBe(2);
  expect(io.written()).toEqual({ stdout: '', stderr: 'The list has no rows. Add some.\n' });
});

test('an unforeseen error ends with code 1, one sentence and no stack', async () => {
  const io = createTerminal();
  const entries = entriesDoing(() => {
    throw new TypeError('x is not a function');
  });
  expect(await runCli(['act', 'x'], io, entries)).toBe(1);
  expect(io.written().stderr).toBe(
    'Carillon stopped on an error it did not expect: x is not a function. CARILLON_LOG_LEVEL=debug shows where.\n',
  );
});

test('at log level debug the stack is shown, with its causes', async () => {
  const io = createTerminal({ env: { CARILLON_LOG_LEVEL: 'debug' } });
  const entries = entriesDoing(() => {
    throw new Error('outer', { cause: new RangeError('inner') });
  });
  expect(await runCli(['act', 'x'], io, entries)).toBe(1);
  expect(io.written().stderr).toMatch(/outer.*main\.test\.ts.*caused by RangeError: inner/s);
});

test('a command that has said what failed sets the exit code', async () => {
  const io = createTerminal();
  const entries = entriesDoing(() => {
    io.exitCode = 1;
  });
  expect(await runCli(['act', 'x'], io, entries)).toBe(1);
  expect(io.written().stderr).toBe('');
});

test('a wrong setting is bad input', () => {
  expect(describeFailure(new ConfigError('SVC_BASE_URL is wrong'), false)).toEqual({
    exitCode: 2,
    code: 'config',
    message: 'SVC_BASE_URL is wrong',
  });
});

function createSignals() {
  const source = new EventEmitter();
  const exits: number[] = [];
  return { source, exits, interrupts: createInterrupts(source, (code) => void exits.push(code)) };
}

test('the first signal asks the handlers, the last one to register first; the second ends the process', () => {
  const { source, exits, interrupts } = createSignals();
  const asked: string[] = [];
  interrupts.onInterrupt(() => void asked.push('outer'));
  interrupts.onInterrupt(() => void asked.push('inner'));
  source.emit('SIGINT');
  expect(asked).toEqual(['inner', 'outer']);
  expect(exits).toEqual([]);
  source.emit('SIGTERM');
  expect(exits).toEqual([143]);
});

test('signals keep their own effect while no command wants to hear of them', () => {
  const { source, interrupts } = createSignals();
  expect(source.listenerCount('SIGINT')).toBe(0);
  const takeBack = interrupts.onInterrupt(() => {});
  expect(source.listenerCount('SIGINT')).toBe(1);
  takeBack();
  expect(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM')).toBe(0);
});

test('a reader that goes away ends what streams, once and also if it went before, and nothing else', () => {
  const { exits, interrupts } = createSignals();
  const ended: string[] = [];
  interrupts.onInterrupt(() => void ended.push('worker'));
  interrupts.closed();
  expect(interrupts.endedByReader()).toBe(false);
  const takeBack = interrupts.onInterrupt(() => void ended.push('first'), { streams: true });
  takeBack();
  interrupts.closed();
  expect([ended, exits, interrupts.endedByReader()]).toEqual([['first'], [], true]);

  const open = createSignals();
  open.interrupts.onInterrupt(() => void ended.push('second'), { streams: true });
  open.interrupts.closed();
  open.interrupts.closed();
  expect([ended, open.exits, open.interrupts.endedByReader()]).toEqual([['first', 'second'], [], true]);
});

test('the process itself exits with the code, and says nothing when its reader has gone', async () => {
  const wrong = await runProgram(['nonsense']);
  expect(await wrong.ended).toMatchObject({ code: 2, stdout: '' });

  const piped = await runProgram(['--help']);
  piped.child.stdout.destroy();
  expect(await piped.ended).toMatchObject({ code: 0, stderr: '' });
});

test('the process prints a wrong setting as a sentence', async () => {
  const { ended } = await runProgram(['doctor'], { SVC_BASE_URL: 'nonsense' });
  const { code, stderr } = await ended;
  expect(code).toBe(2);
  expect(stderr).toMatch(/SVC_BASE_URL/);
  expect(stderr).not.toMatch(/\n\s+at .*\.ts/);
});
