import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isFull } from '../support/depth.ts';
import { parts, writePart } from './write-masters.ts';

/** Output folder of `npm run masters`. */
const wanted = process.env['MASTERS'];
/** The commit to write, if another one. */
const other = process.env['MASTERS_OF'];
/** The seeds take minutes. */
const timeout = 3_600_000;

function readFolder(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const files = paths.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(files.map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]));
}

test.runIf(wanted).each(Object.keys(parts))('masters of %s are written', { timeout }, async (part) => {
  const files = await writePart(wanted ?? '', part).catch((error: Error) => {
    if (other === undefined) throw error;
    process.stderr.write(`${other} does not write all of ${part}: ${error.message}\n`);
    return null;
  });
  expect(files).not.toBe(0);
});

// The ledger's faces take a minute and wait for Temporal; help has nothing random.
const compared = isFull ? Object.keys(parts) : ['sandbox', 'requests'];
test.skipIf(wanted).each(compared)('two writings of the masters of %s differ in nothing', { timeout }, async (part) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-masters-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  for (const each of [one, two]) expect(await writePart(each, part)).toBeGreaterThan(0);
  const again = readFolder(two);
  const differing = [...readFolder(one)].flatMap(([path, text]) => {
    const lines = again.get(path)?.split('\n') ?? [];
    const at = text.split('\n').findIndex((line, index) => line !== lines[index]);
    return at < 0 ? [] : [`${path}:${at + 1}: ${text.split('\n')[at]} | ${lines[at]}`];
  });
  expect({ differing, files: again.size }).toEqual({ differing: [], files: readFolder(one).size });
});
