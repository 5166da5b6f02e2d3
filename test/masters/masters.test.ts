import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bothDialects } from '../ledger/test-stores.ts';
import { digestSeeds } from './digests.ts';
import { writeMasters } from './write-masters.ts';

/** Where `npm run masters` wants them. */
const wanted = process.env['MASTERS'];

function readFolder(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const files = paths.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(files.map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]));
}

test.runIf(wanted)('masters are written', async () => {
  expect(await writeMasters(wanted ?? '', bothDialects)).toBeGreaterThan(300);
  const lines: string[] = [];
  for await (const line of digestSeeds()) lines.push(line);
  writeFileSync(join(wanted ?? '', 'seeds.txt'), `${lines.join('\n')}\n`);
});

test.skipIf(wanted)('two writings of the masters differ in nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-masters-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  expect(await writeMasters(one, ['sqlite'])).toBeGreaterThan(300);
  await writeMasters(two, ['sqlite']);
  expect(readFolder(two)).toEqual(readFolder(one));
});
