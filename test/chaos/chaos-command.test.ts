import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { availableParallelism } from 'node:os';
import { isFull, someOf } from '../support/depth.ts';
import { copyWithout } from '../worlds/copy-without.ts';
import { edit, type Edit } from '../worlds/guard.ts';
import { help, parseFlags } from './chaos-flags.ts';
import { scenarios } from './scenarios.ts';

const root = join(import.meta.dirname, '../..');
const wrongOutcome = edit(
  'src/rules/attempts/retry-schedule.ts',
  "return final('completed', detail ?? 'answered');",
  "return final('exhausted', 'answered');",
);

function copy(...faults: Edit[]): string {
  const folder = copyWithout(faults);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** What `npm run` runs, without npm itself. */
function run(folder: string, command: string, ...flags: string[]) {
  const [runner = '', program = ''] = scripts[command]?.split(' ') ?? [];
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', runner, program, ...flags], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { status, stdout, stderr };
}

const levels = [
  { level: 'the design', flags: ['--scenario', 'calm', '--every', '400', '--database', 'sqlite', '--processes', '1'] },
  { level: 'level activities', flags: ['--level', 'activities', '--seeds', '1'] },
] as const;

test.for(someOf(levels))('chaos tells what is broken, and ends with 1: $level', ({ flags }) => {
  const { status, stdout, stderr } = run(copy(wrongOutcome), 'chaos', ...flags);
  expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.not.stringContaining(' 0 broken') as string });
  // A story is followed by an empty line.
  const [story = ''] = stderr.split('\n\n');
  expect(story).toMatch(/wrong|outcome|reached/);
  expect(story).not.toContain('    at ');
  expect(story.split('\n').length).toBeLessThanOrEqual(20);
});

test('chaos ends with 0 when no promise is broken, and prints figures and cells', () => {
  const flags = ['--scenario', 'suppressed before it is sent', '--per-cell', '1', '--database', 'sqlite', '--processes', '1'];
  const { status, stdout } = run(root, 'chaos', ...flags);
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining(' 0 broken') as string });
  expect(Number(/^(\d+) of \d+ cells reached/m.exec(stdout)?.[1])).toBeGreaterThan(40);
  expect(stdout).toContain('- `batch held → redial`: every kind');
});

test('chaos that is broken off prints what it had', async () => {
  const flags = ['--scenario', 'calm', '--database', 'sqlite', '--processes', '1'];
  const running = spawn(process.execPath, ['--import', 'tsx', 'test/chaos/main.ts', ...flags], { cwd: root });
  const printed = text(running.stdout);
  running.stderr.once('data', () => running.kill('SIGINT'));
  const [status] = (await once(running, 'exit')) as [number | null];
  expect(await printed).toMatch(/^the design on SQLite, \d+ s in 1 processes, broken off after \d+ of \d+: \d+ campaigns .* 0 broken/);
  expect(status).toBe(0);
});

test.for([
  { command: 'chaos', flags: ['--seed', '42'], says: '--seed goes with --seeds.' },
  { command: 'chaos:guards', flags: ['--guard', 'a net'], says: 'There is no guard "a net".' },
])('$command ends with 2 on wrong usage: $flags', ({ command, flags, says }) => {
  const { status, stdout, stderr } = run(root, command, ...flags);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(`${says} See npm run ${command} -- --help.`);
});

test('a guard that a case catches is told with the case, and with 0', () => {
  const { status, stdout } = run(root, 'chaos:guards', '--guard', 'pause in the dial transaction');
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^pause in the dial transaction; calm, .*pause before it: dialled while paused; \d+ clean\n$/) as string,
  });
});

// A copy of the code, and a process that reads it all: no more of them than show each ending once.
test.runIf(isFull)('a guard that is not caught in time is told in a sentence, and with 1', () => {
  const inNoTime = edit('test/chaos/guards.ts', 'const longestMinutes = 5;', 'const longestMinutes = 0;');
  const { status, stdout, stderr } = run(copy(inNoTime), 'chaos:guards', '--guard', 'compare-and-set of batches');
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout:
      'compare-and-set of batches; not caught within 0 minutes, by the first 0 cases\n' +
      '1 of 1 guards were not caught as they are to be.\n',
  });
  expect(stderr).not.toContain('    at ');
});

test.each([
  { args: ['--level', 'planet'], says: '--level is ledger, activities or system, not "planet".' },
  { args: ['--api', 'telephone'], says: '--api is contract, batch-calling or campaigns, not "telephone".' },
  { args: ['--level', 'system', '--api', 'campaigns'], says: '--level system runs with the contract alone' },
  { args: ['--seeds', 'many'], says: '--seeds takes a whole number from 1, not "many".' },
  { args: ['--seeds', '3', '--seed', '0'], says: '--seed takes a whole number from 1, not "0".' },
  { args: ['--seed', '42'], says: '--seed goes with --seeds.' },
  {
    args: ['--level', 'activities', '--scenario', 'calm'],
    says: '--every, --per-cell and --scenario are for the design',
  },
  { args: ['--level', 'system', '--every', '5'], says: '--every, --per-cell and --scenario are for the design' },
  { args: ['--level', 'activities', '--per-cell', '1'], says: '--every, --per-cell and --scenario are for the design' },
  { args: ['--every', '5', '--per-cell', '1'], says: '--every and --per-cell both say which cases are run' },
  { args: ['--per-cell', '0'], says: '--per-cell takes a whole number from 1, not "0".' },
  { args: ['--level', 'system', '--processes', '2'], says: '--level system has processes of its own' },
  { args: ['--level', 'system', '--database', 'sqlite'], says: '--level system runs on PostgreSQL' },
  { args: ['--scenario', 'stormy'], says: 'There is no scenario "stormy".' },
  { args: ['--database', 'oracle'], says: '--database is sqlite or postgres, not "oracle".' },
  { args: ['--sedes', '3'], says: "Unknown option '--sedes'." },
])('chaos names what is wrong with $args', ({ args, says }) => {
  expect(() => parseFlags(args)).toThrow(says);
});

test('chaos runs the whole design on both databases unless it is told otherwise', () => {
  expect(parseFlags([])).toEqual({
    kind: 'ledger',
    options: {
      api: 'contract',
      databases: ['sqlite', 'postgres'],
      design: { scenarios, choice: { every: 1 } },
      seeds: null,
      processes: availableParallelism(),
    },
  });
  expect(parseFlags(['--seeds', '7', '--seed', '42', '--database', 'postgres'])).toMatchObject({
    options: { databases: ['postgres'], design: null, seeds: { from: 42, count: 7 } },
  });
  expect(parseFlags(['--api', 'campaigns', '--scenario', 'waiting, and pause'])).toMatchObject({
    options: { api: 'campaigns', design: { scenarios: [{ name: 'waiting, and pause' }] } },
  });
  expect(parseFlags(['--seeds', '7', '--every', '20'])).toMatchObject({
    options: { design: { scenarios, choice: { every: 20 } }, seeds: { from: 1, count: 7 } },
  });
  expect(parseFlags(['--per-cell', '2', '--processes', '3'])).toMatchObject({
    options: { design: { scenarios, choice: { perCell: 2 } }, seeds: null, processes: 3 },
  });
  expect(parseFlags(['--level', 'activities'])).toEqual({
    kind: 'activities',
    options: { api: 'contract', database: 'sqlite', seeds: { from: 1, count: 100 } },
  });
  expect(parseFlags(['--level', 'system', '--seed', '7'])).toEqual({
    kind: 'system',
    options: { seeds: { from: 7, count: 10 }, rows: 500 },
  });
});

test('every example in the help of chaos is one that it takes', () => {
  const examples = [...(help.split('Examples:')[1] ?? '').matchAll(/npm run chaos -- (.*?)(?: {2}|$)/gm)];
  expect(examples.length).toBeGreaterThan(3);
  for (const [, flags = ''] of examples)
    expect(parseFlags([...flags.matchAll(/"(.*?)"|\S+/g)].map(([all, quoted]) => quoted ?? all)).kind).not.toBe('help');
});
