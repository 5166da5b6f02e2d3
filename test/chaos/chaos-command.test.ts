import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import { copyWithout } from '../worlds/copy-without.ts';
import { edit, type Edit } from '../worlds/guard.ts';

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

function run(folder: string, command: string, ...flags: string[]) {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', command, '--', ...flags], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { status, stdout, stderr };
}

const levels = [
  { level: 'the design', flags: ['--scenario', 'calm', '--every', '400', '--database', 'sqlite'] },
  { level: 'level activities', flags: ['--level', 'activities', '--seeds', '1'] },
] as const;

test.for(someOf(levels))('chaos tells what is broken, and ends with 1: $level', { timeout: 240_000 }, ({ flags }) => {
  const { status, stdout, stderr } = run(copy(wrongOutcome), 'chaos', ...flags);
  expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.not.stringContaining(' 0 broken') as string });
  // A story is followed by an empty line.
  const [story = ''] = stderr.split('\n\n');
  expect(story).toMatch(/wrong|outcome|reached/);
  expect(story).not.toContain('    at ');
  expect(story.split('\n').filter((line) => !line.startsWith('npm ')).length).toBeLessThanOrEqual(20);
});

test(
  'chaos ends with 0 when no promise is broken, and writes what a run came to into docs/proof.md when it is asked to',
  { timeout: 240_000 },
  () => {
    const folder = copy();
    cpSync(join(root, 'docs/proof.md'), join(folder, 'docs/proof.md'));
    const flags = ['--scenario', 'suppressed before it is sent', '--per-cell', '1', '--database', 'sqlite'];
    const { status, stdout } = run(folder, 'chaos', ...flags, '--write');
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining(' 0 broken') as string });
    const proof = readFileSync(join(folder, 'docs/proof.md'), 'utf8');
    const between = (name: string): string => proof.split(`<!-- chaos: ${name} -->`)[1]?.split(`<!-- end of chaos: ${name} -->`)[0] ?? '';
    expect(between('sqlite')).toContain('`npm run chaos -- --scenario "suppressed before it is sent" --per-cell 1 --database sqlite`');
    for (const line of stdout.split('\n\n')[0]?.split('\n') ?? []) expect(between('sqlite')).toContain(`- ${line}`);
    const reached = /^(\d+) of \d+ cells reached/m;
    expect(Number(reached.exec(between('matrix on sqlite'))?.[1])).toBeGreaterThan(40);
    expect(between('matrix on sqlite')).toContain('- `batch held → redial`: every kind');
  },
);

test('chaos that is broken off prints what it had', { timeout: 240_000 }, async () => {
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
])('$command ends with 2 on wrong usage: $flags', { timeout: 120_000 }, ({ command, flags, says }) => {
  const { status, stdout, stderr } = run(root, command, ...flags);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(`${says} See npm run ${command} -- --help.`);
});

test('a guard that a case catches is told with the case, and with 0', { timeout: 240_000 }, () => {
  const { status, stdout } = run(root, 'chaos:guards', '--guard', 'pause in the dial transaction');
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^pause in the dial transaction; calm, .*pause before it: dialled while paused; \d+ clean\n$/) as string,
  });
});

test('a guard that is not caught in time is told in a sentence, and with 1', { timeout: 240_000 }, () => {
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
