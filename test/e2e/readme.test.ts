import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';

/*
 * The README is run as it is read: in the folder of a clone, line by line, each in a shell of its own, with the settings that `dev`
 * prints; what plays in a world of its own goes on beside the lines after it. The slowest machine counts, so nothing here has a limit in
 * seconds but that of the whole.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const limitMs = 15 * 60_000;

function linesBelow(heading: string): string[] {
  const section = new RegExp(`^## ${heading}\\n(.*?)(?=^## )`, 'ms').exec(readme)?.[1] ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) => block.trim().split('\n'));
}

let clone: string;

/** What `npm ci` leaves in a clone, as far as the program needs it. */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'carillon-clone-'));
  for (const name of ['carillon', 'dist', 'examples', 'rules', 'package.json'])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

interface Shell {
  said: { stdout: string; stderr: string };
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  interrupt(): void;
}

/** A shell with only the settings printed before. */
function type(line: string, settings: readonly string[] = []): Shell {
  const kept = ['PATH', 'HOME', 'XDG_CACHE_HOME', 'CARILLON_TEMPORAL_BIN'];
  const env = Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const child = spawn('bash', ['-c', [...settings, `exec ${line}`].join('\n')], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { said, ended, interrupt: () => void child.kill('SIGINT') };
}

/** Waits for this output on either stream; fails with all output when the command ends before. */
async function heard(shell: Shell, what: RegExp): Promise<void> {
  let ended = false;
  void shell.ended.then(() => (ended = true));
  await until(
    `${String(what)} was said`,
    () => {
      const said = shell.said.stdout + shell.said.stderr;
      if (ended && !what.test(said)) throw new Error(`it ended without ${String(what)}: ${said}`);
      return what.test(said);
    },
    { limitMs },
  );
}

/** Expected output of each line of the tour; `leave`: it runs until Ctrl-C; `aside`: in a world of its own. */
const promised: readonly { line: string; says: RegExp; leave?: RegExp; code?: number; aside?: true }[] = [
  { line: './carillon check', says: /300/ },
  { line: './carillon rehearse', says: /completed/, aside: true },
  { line: './carillon test-call', says: /answered|completed/ },
  { line: './carillon start', says: /Watch it: \.\/carillon run examples/ },
  { line: './carillon status', says: /Rows +300:/ },
  { line: './carillon pause', says: /is paused\. Resume it: \.\/carillon resume reminders/ },
  { line: './carillon update', says: /accepted +2\b.*corrected +4\b/s },
  { line: './carillon adjust', says: /Changed: .*40/ },
  { line: './carillon resume', says: /is running again\. Show its progress: \.\/carillon status reminders/ },
  { line: './carillon run', says: /Watch it again: \.\/carillon run/, leave: / of 302/, code: 1 },
  { line: './carillon drain', says: /draining/ },
  { line: './carillon results', says: /302 rows written to reminders-results\.csv/ },
  { line: './carillon report', says: /cancelled|completed/ },
  { line: './carillon report', says: /report\.html/ },
  { line: './carillon verify', says: /every promise was kept/ },
  { line: './carillon schedule', says: /There is no schedule yet: \.\/carillon schedule create/ },
];

test.concurrent(
  'every line of the tour works as it stands in the README',
  async () => {
    const [first = '', ...lines] = linesBelow('A ten-minute tour');
    expect(first).toBe('./carillon dev --speed 30');
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(promised.map(({ line }) => line));
    const dev = type(first);
    try {
      await heard(dev, /Ctrl-C stops all of it/);
      const settings = [...dev.said.stderr.matchAll(/^ {2}(export .*)$/gm)].map(([, setting = '']) => setting);
      expect(settings.length).toBeGreaterThan(2);
      expect(dev.said.stderr).toContain('  ./carillon run examples/reminders/campaign.yaml');
      const asides: Promise<unknown>[] = [];
      for (const [index, line] of lines.entries()) {
        const { says, leave, code = 0, aside } = promised[index] ?? { says: /never/ };
        const shell = type(line, settings);
        if (leave !== undefined) {
          await heard(shell, leave);
          shell.interrupt();
        }
        const checked = shell.ended.then(({ code: ended, stdout, stderr }) =>
          expect({ line, code: ended, says: stdout + stderr }).toEqual({ line, code, says: expect.stringMatching(says) }),
        );
        if (aside !== true) await checked;
        asides.push(checked);
      }
      await Promise.all(asides);
    } finally {
      dev.interrupt();
    }
    expect(await dev.ended).toMatchObject({ code: 0 });
  },
  limitMs,
);

test.concurrent(
  'every line on the sandbox works as it stands in the README',
  async () => {
    const [alone = '', judged = '', ...others] = linesBelow('The sandbox by itself');
    expect(others).toEqual([]);
    const sandbox = type(alone);
    await heard(sandbox, /http:\/\/127\.0\.0\.1:\d+/);
    sandbox.interrupt();
    expect(await sandbox.ended).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await type(judged).ended;
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: expect.stringContaining('agent_reminders') });
  },
  limitMs,
);

test.concurrent(
  'the story is played to its end: two samples, a changed agent, leads, a worker that is gone, the goal, and evidence',
  async () => {
    const shell = type('./carillon demo --story --no-open --speed 900');
    const { code, stdout, stderr } = await shell.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const told = [
      /opted_out \d+ of \d+ talks .* does not hold/,
      /Another sample first/,
      /does not hold[^]*holds\. Look at it/,
      /People who ask for an appointment/,
      /the worker stops for 40 minutes/,
      /The worker is back/,
      /the goal is reached \(120 talks\)/,
      /node check\.mjs evidence\.zip {3}Whole/,
      /\(Recall for a check-up\): completed/,
      /conduct: ok/,
    ];
    for (const each of told) expect(stdout).toMatch(each);
    const [name = ''] = readdirSync(clone).filter((each) => each.startsWith('demo-'));
    // Each listed or added recipient is one line of the results; none of the forty was called.
    const text = readFileSync(join(clone, name, 'results.csv'), 'utf8');
    const [head = '', ...lines] = text.trim().split('\n');
    expect(lines.length).toBeGreaterThan(2_000);
    const [outcome, attempts] = ['outcome', 'attempts'].map((column) => head.split(',').indexOf(column)) as [number, number];
    const bad = lines.filter((line) => line.startsWith('B'));
    expect(bad).toHaveLength(40);
    for (const line of bad) expect([line.split(',')[outcome], line.split(',')[attempts]]).toEqual(['rejected', '0']);
  },
  limitMs,
);
