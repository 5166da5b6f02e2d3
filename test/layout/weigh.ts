import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Weight = Record<keyof typeof mostOf, number>;

/**
 * The present weight (`npm run layout -- --weight`): a lower figure lowers its limit; raising one needs a budget on record. Bytes count
 * too, since a wider line is no saving.
 */
export const mostOf = {
  'production lines': 95_492,
  'production files': 822,
  'test lines': 78_176,
  'test files': 538,
  'rooms under src': 12,
  'files outside src/service/convai that import it': 2,
  'bytes of activities': 108_692,
  'bytes of workflows': 27_536,
  'bytes of test': 3_963_116,
  'bytes of src/campaign': 173_880,
  'bytes of src/interfaces': 1_080_829,
  'bytes of src/ledger': 763_953,
  'bytes of src/list': 134_463,
  'bytes of src/operations': 340_842,
  'bytes of src/presentation': 261_809,
  'bytes of src/rules': 244_757,
  'bytes of src/sandbox': 701_503,
  'bytes of src/service': 145_460,
  'bytes of src/shared': 109_531,
  'bytes of src/temporal': 110_138,
  'bytes of src/verify': 155_864,
};

/** Production code: .ts, .js and .css below src, activities and workflows; tests: .ts below test. Comments and blank lines count. */
export function weigh(root: string): Weight {
  const production = ['src', 'activities', 'workflows'].flatMap((top) => readTexts(root, top, /\.(ts|js|css)$/));
  const tests = readTexts(root, 'test', /\.ts$/);
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const adapter = 'src/service/convai/';
  const clients = production.filter(
    ([path, text]) => !path.startsWith(adapter) && targetsOf(path, text).some((target) => target.startsWith(adapter)),
  );
  const bytes: Record<string, number> = {};
  for (const [path, text] of [...production, ...tests]) {
    const room = `bytes of ${path.split('/', path.startsWith('src/') ? 2 : 1).join('/')}`;
    bytes[room] = (bytes[room] ?? 0) + Buffer.byteLength(text);
  }
  return {
    'production lines': linesOf(production),
    'production files': production.length,
    'test lines': linesOf(tests),
    'test files': tests.length,
    'rooms under src': rooms.length,
    'files outside src/service/convai that import it': clients.length,
    ...bytes,
  } as Weight;
}

/** The measures over their limit, or without one; a sentence each. */
export function checkWeight(weight: Weight, most: Weight = mostOf): string[] {
  return Object.entries(weight).flatMap(([name, value]) => {
    const limit = most[name as keyof Weight] as number | undefined;
    if (limit === undefined) return [`${name} has no limit in test/layout/weigh.ts: give it one.`];
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

/** Neighbours that a file imports or re-exports, as paths from the root. */
function targetsOf(path: string, text: string): string[] {
  return [...text.matchAll(/from '(\.[^']*)'/g)].map(([, specifier = '']) => join(dirname(path), specifier));
}

function linesOf(files: readonly SourceText[]): number {
  return files.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0);
}
