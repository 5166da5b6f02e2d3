import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCircles, checkLayout, checkSizes } from './check-layout.ts';
import { readFolderGraph } from './import-graph.ts';
import { engines } from '../soak/engines.ts';
import { checkWeight, mostOf } from './weigh.ts';

const allowed = { a: ['b'], b: [], 'c/x': ['c/y'], 'c/y': ['c/z'], 'c/z': ['c/x'], 'room/**': ['a', 'room/**'] };
const order = [['b'], ['a'], ['room']];
const check = (sources: Record<string, string>) => checkLayout(readFolderGraph(new Map(Object.entries(sources))), allowed, order);

test('an import that a folder may not make is named with both files, a type as well as a value', () => {
  expect(check({ 'b/low.ts': "import type { High } from '../a/high.ts';", 'a/high.ts': '' })).toEqual([
    'b/low.ts imports a/high.ts: a is no layer below b (test/layout/floors.ts).',
  ]);
  expect(check({ 'a/one.ts': "import '../c/x/two.ts';", 'c/x/two.ts': '' })).toEqual([
    'a/one.ts imports c/x/two.ts: a may not import c/x (test/layout/floors.ts).',
  ]);
});

test('an arrow up is named in the real order, though its floor would allow it, and between rooms of one layer', () => {
  const arrows = { 'src/list/rows.ts': 'src/campaign/file/file.ts', 'src/interfaces/api/server.ts': 'src/interfaces/console/all.ts' };
  for (const [file, target] of Object.entries({ ...arrows, 'src/ledger/tx.ts': 'src/list/rows.ts' })) {
    const [low = '', high = ''] = [file, target].map((path) => path.slice(0, path.lastIndexOf('/')));
    const graph = new Map([[low, new Map([[high, [[file, target] as [string, string]]]])]]);
    expect(checkLayout(graph, { [low]: [high] })).toEqual([expect.stringMatching(`^${file} imports ${target}: .* is no layer below `)]);
  }
});

test('a folder that nobody has placed is named', () => {
  expect(check({ 'd/new.ts': '' })).toEqual(['d has no line in test/layout/floors.ts: say what it may import.']);
});

test('folders that import each other are named, by whatever way the ring is closed', () => {
  const faults = check({
    'c/x/one.ts': "export { two } from '../y/two.ts';",
    'c/y/two.ts': "export const two = () => import('../z/three.ts');",
    'c/z/three.ts': "import '../x/one.ts';",
  });
  expect(faults).toEqual(['Folders import each other: c/x, c/y, c/z.']);
});

test('files that import each other are named, though one needs but a type of the other', () => {
  const sources = {
    'a/one.ts': "import { two } from './two.ts';",
    'a/two.ts': "import { three } from './three.ts';",
    'a/three.ts': "import type { One } from './one.ts';",
    'a/four.ts': "import { two } from './two.ts';",
  };
  expect(checkCircles(new Map(Object.entries(sources)))).toEqual([
    'Files import each other in a circle: a/one.ts, a/three.ts, a/two.ts. Put what they share into a file below them.',
  ]);
});

test('what may be imported is, and within a room everything', () => {
  const faults = check({
    'a/high.ts': "import { low } from '../b/low.ts';",
    'b/low.ts': '',
    'room/x/one.ts': "import '../y/two.ts'; import '../../a/high.ts';",
    'room/y/two.ts': "import '../x/one.ts';",
  });
  expect(faults).toEqual([]);
});

test('a file of more than 300 lines and a folder of more than 25 files are named', () => {
  const full = Array.from({ length: 25 }, (_, n): [string, string] => [`a/${n}.ts`, 'x\n'.repeat(300)]);
  expect(checkSizes(new Map(full))).toEqual([]);
  expect(checkSizes(new Map([...full, ['a/more.ts', 'x\n'.repeat(301)]]))).toEqual([
    'a/more.ts has 301 lines, more than 300: split it.',
    'a has 26 files, more than 25: give some a folder.',
  ]);
});

test('a measure of the code that has grown over its limit is named with both figures', () => {
  expect(checkWeight(mostOf)).toEqual([]);
  expect(checkWeight({ ...mostOf, 'test files': 9 }, { ...mostOf, 'test files': 8 })).toEqual([
    'test files: 9, more than 8 (test/layout/weigh.ts): take out what it needs.',
  ]);
});

test('soaks play every file whose tests draw their seeds', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((name) => `test/${name.replaceAll('\\', '/')}`);
  const isDrawing = (path: string): boolean => path.endsWith('.test.ts') && /seedsFrom\(\d|testWeaves\('/.test(readFileSync(path, 'utf8'));
  expect(engines.map(({ file }) => file).toSorted()).toEqual(files.filter(isDrawing).toSorted());
});
