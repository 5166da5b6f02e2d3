import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../list/campaign-folder.ts';

test('the story is played to its end: two samples, a changed agent, leads, a worker that is gone, the goal, and evidence', async () => {
  const folder = await temporaryFolder();
  const program = resolve('dist/src/interfaces/cli/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'demo', '--story', '--no-open'], { cwd: folder });
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
  const [name = ''] = readdirSync(folder);
  // A line of the list, and of whoever was added, is one line of the results; none of the forty was called.
  const [head = '', ...lines] = readFileSync(join(folder, name, 'results.csv'), 'utf8')
    .trim()
    .split('\n');
  expect(lines.length).toBeGreaterThan(2_000);
  const [outcome, attempts] = ['outcome', 'attempts'].map((column) => head.split(',').indexOf(column)) as [number, number];
  const bad = lines.filter((line) => line.startsWith('B'));
  expect(bad).toHaveLength(40);
  for (const line of bad) expect([line.split(',')[outcome], line.split(',')[attempts]]).toEqual(['rejected', '0']);
});
