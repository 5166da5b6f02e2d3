import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/*
 * node build.mjs completes what the compiler has written to dist: it copies what browsers load, and puts the command line and the programs of
 * its threads into few files, since a command that has to find 600 modules first takes twice as long to begin.
 */

const root = fileURLToPath(new URL('.', import.meta.url));
const dist = `${root}dist/src`;

for (const at of ['presentation/html', 'sandbox/page', 'interfaces/console'])
  cpSync(`${root}src/${at}/browser`, `${dist}/${at}/browser`, { recursive: true, filter: (path) => !path.endsWith('.json') });
cpSync(`${root}src/presentation/evidence/check.mjs`, `${dist}/presentation/evidence/check.mjs`);

/** Packages of many small files that every command reads. Others stay as they are: some are native, some read files beside their own. */
const bundled = [
  'kysely',
  'zod',
  'fastify-type-provider-zod',
  'libphonenumber-js',
  'yaml',
  'csv-parse',
  'csv-stringify',
  'commander',
  'picocolors',
  'liquidjs',
  'luxon',
];
const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** What client and help need of operations, without their schemas. */
const { operations } = await import(`${dist}/operations/list.js`);
const { outlinesOf } = await import(`${dist}/operations/operation.js`);
const outlines = `export const outlines = ${JSON.stringify(outlinesOf(operations))};\n`;
writeFileSync(`${dist}/operations/outlines.js`, outlines);

/** A module still finds what lies beside it: `import.meta.url` says where the compiler put it. */
const places = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /operations.outlines\.ts$/ }, () => ({ contents: outlines }));
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const built = relative(`${root}src`, path).replaceAll(sep, '/').replace(/\.ts$/, '.js');
      const url = `new URL(${JSON.stringify(`../${built}`)}, import.meta.url).href`;
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

/** What node is started with, each of which becomes a line that loads its bundle. */
const programs = [
  'interfaces/cli/main',
  'ledger/threads/sqlite-thread',
  'operations/control/aside/aside-thread',
  'list/format/xlsx/workbook-process',
];

rmSync(`${dist}/bundle`, { recursive: true, force: true });
await build({
  entryPoints: programs.map((path) => `${root}src/${path}.ts`),
  outdir: `${dist}/bundle`,
  entryNames: '[name]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: Object.keys(dependencies).filter((name) => !bundled.includes(name)),
  plugins: [places],
  keepNames: true,
  logLevel: 'warning',
  // Some packages are CommonJS.
  banner: { js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);" },
});
for (const path of programs)
  writeFileSync(
    `${dist}/${path}.js`,
    `#!/usr/bin/env node\nimport '${'../'.repeat(path.split('/').length - 1)}bundle/${basename(path)}.js';\n`,
  );
