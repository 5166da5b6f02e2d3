import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the code weighs, by measure. */
export type Weight = Record<keyof typeof mostOf, number>;

/** What it may weigh at most. A change that makes a figure smaller lowers its limit here; none is raised without a decision on record. */
export const mostOf = {
  'production lines': 101_300,
  'production files': 870,
  'production files of at most 40 lines': 80,
  'sandbox lines': 18_500,
  'test lines': 88_600,
  'test files': 574,
  'rooms under src': 12,
  'files outside src/service/convai that import it': 3,
};

const shortLines = 40;

/** Production code is .ts, .js and .css below src, activities and workflows; tests are .ts below test. Comments and blank lines count. */
export function weigh(root: string): Weight {
  const production = ['src', 'activities', 'workflows'].flatMap((top) => readTexts(root, top, /\.(ts|js|css)$/));
  const tests = readTexts(root, 'test', /\.ts$/);
  const sandbox = production.filter(([path]) => path.startsWith('src/sandbox/'));
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const adapter = 'src/service/convai/';
  const clients = production.filter(
    ([path, text]) => !path.startsWith(adapter) && targetsOf(path, text).some((target) => target.startsWith(adapter)),
  );
  return {
    'production lines': linesOf(production),
    'production files': production.length,
    'production files of at most 40 lines': production.filter((file) => linesOf([file]) <= shortLines).length,
    'sandbox lines': linesOf(sandbox),
    'test lines': linesOf(tests),
    'test files': tests.length,
    'rooms under src': rooms.length,
    'files outside src/service/convai that import it': clients.length,
  };
}

/** The measures over their limit, one sentence each. */
export function checkWeight(weight: Weight, most: Weight = mostOf): string[] {
  return Object.entries(weight).flatMap(([name, value]) => {
    const limit = most[name as keyof Weight];
    return value > limit ? [`${name}: ${value}, more than ${limit} (test/layout/weigh.ts): take out what it needs.`] : [];
  });
}

type SourceText = [path: string, text: string];

function readTexts(root: string, top: string, names: RegExp): SourceText[] {
  return readdirSync(join(root, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]);
}

/** What a file imports or hands on of its neighbours, as paths from the root. */
function targetsOf(path: string, text: string): string[] {
  return [...text.matchAll(/from '(\.[^']*)'/g)].map(([, specifier = '']) => join(dirname(path), specifier));
}

function linesOf(files: readonly SourceText[]): number {
  return files.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0);
}
