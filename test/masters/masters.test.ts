import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bothDialects } from '../ledger/test-stores.ts';
import { isFull } from '../support/depth.ts';
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
  // The faces of the ledger take a minute, and wait for Temporal.
  const databases = isFull ? bothDialects.slice(0, 1) : [];
  expect(await writeMasters(one, databases)).toBeGreaterThan(isFull ? 300 : 60);
  await writeMasters(two, databases);
  const again = readFolder(two);
  const differing = [...readFolder(one)].flatMap(([path, text]) => {
    const lines = again.get(path)?.split('\n') ?? [];
    const at = text.split('\n').findIndex((line, index) => line !== lines[index]);
    return at < 0 ? [] : [`${path}:${at + 1}: ${text.split('\n')[at]} | ${lines[at]}`];
  });
  expect({ differing, files: again.size }).toEqual({ differing: [], files: readFolder(one).size });
});
