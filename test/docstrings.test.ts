import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Exported names without a docstring right above them. */
function undocumented(path: string, source: string): string[] {
  const { program, comments } = parseSync(path, source);
  return program.body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) return [];
    const documented = comments.some(
      ({ type, value, end }) =>
        type === 'Block' && value.startsWith('*') && end <= node.start && source.slice(end, node.start).trim() === '',
    );
    const name = /(?:type|interface|const|function\*?|class) (\w+)/.exec(source.slice(node.start))?.[1] ?? '';
    return documented ? [] : [name];
  });
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, folder, name));
}

test.each(['src/service', 'src/rules', 'workflows'])('every export of %s has a docstring', (folder) => {
  const paths = sourcesIn(folder);
  expect(paths.length).toBeGreaterThan(5);
  const missing = paths.flatMap((path) => undocumented(path, readFileSync(path, 'utf8')).map((name) => `${relative(root, path)}: ${name}`));
  expect(missing).toEqual([]);
});

test('an export without a docstring is found, also below one that is documented', () => {
  const source = '/** Said. */\nexport const first = 1;\nexport type Second = 1;\n// Not said.\nexport function third() {}\n';
  expect(undocumented('example.ts', source)).toEqual(['Second', 'third']);
});

test('lines of comments end at 140 characters', () => {
  const tooLong = (text: string) => text.split('\n').filter((line) => line.length > 140 && /^\s*(?:\/\/|\/?\*)/.test(line));
  const paths = ['src', 'activities', 'workflows', 'test', 'bench'].flatMap(sourcesIn);
  expect(paths.length).toBeGreaterThan(1_000);
  const found = paths.flatMap((path) => tooLong(readFileSync(path, 'utf8')).map((line) => `${relative(root, path)}: ${line}`));
  expect(found).toEqual([]);
  expect(tooLong(`  /** ${'word '.repeat(30)} */\nconst text = '${'word '.repeat(30)}';`)).toHaveLength(1);
});
