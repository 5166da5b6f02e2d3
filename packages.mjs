import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

/*
 * node packages.mjs [FOLDER] makes what is installed elsewhere out of a built checkout: the program as `carillon-<version>.tgz`, and parts of it
 * alone as `carillon-convai`, `carillon-client` and `carillon-sandbox`. None holds a script that npm would run: nothing is left to build.
 */

const root = fileURLToPath(new URL('.', import.meta.url));
const target = resolve(argv[2] ?? join(root, 'dist-packages'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

function run(program, args, cwd) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw error;
  if (status !== 0) exit(status ?? 1);
}

/** Folders of the packages so far. */
const laidOut = [];

function emptyFolder(name) {
  const folder = join(target, name);
  laidOut.push(folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** npm holds an entry `prepare` for a script that the installation may want to run. The other three hold in a checkout alone. */
const {
  scripts: _scripts,
  devDependencies: _dev,
  overrides: _overrides,
  allowScripts: _allow,
  ...program
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function layOutProgram() {
  const folder = emptyFolder('carillon');
  const filter = (path) => !path.endsWith('.tsbuildinfo');
  for (const name of program.files) cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  writeJson(join(folder, 'package.json'), program);
}

/** All that built modules load, of the program's own and of others: by their imports, so that none can be forgotten. */
function reach(entries, suffix) {
  const files = [...entries];
  const packages = new Set();
  const loads = /(?:^|[\s;}.])(?:from|import|import\(|load\(|require\(|resolve\()\s*['"]([^'"\s]+)['"]/gm;
  for (const file of files)
    for (const [, named] of readFileSync(file, 'utf8').matchAll(loads)) {
      const path = join(dirname(file), named.replace(/\.[jt]s$/, suffix));
      const [scope, rest] = named.split('/');
      const dependency = scope.startsWith('@') ? `${scope}/${rest}` : scope;
      if (dependency in program.dependencies) packages.add(dependency);
      else if (named.startsWith('.') && existsSync(path) && !files.includes(path)) files.push(path);
    }
  return { files, packages };
}

/** A part of the program as a package of its own: what its entries load, and the folders of browser files beside that. */
function layOutPart({ name, description, entry, bin = '', folders = [], readme }) {
  const folder = emptyFolder(name);
  const built = (path, suffix) => join(root, 'dist/src', path + suffix);
  const code = reach([built(entry, '.js'), ...(bin === '' ? [] : [built(bin, '.js')])], '.js');
  const types = reach([built(entry, '.d.ts')], '.d.ts');
  const place = (path) => join(folder, 'dist', relative(join(root, 'dist/src'), path));
  for (const file of new Set([...code.files, ...types.files])) {
    mkdirSync(dirname(place(file)), { recursive: true });
    cpSync(file, place(file));
  }
  for (const each of folders) cpSync(built(each, ''), place(built(each, '')), { recursive: true });
  const { version, license, type, engines, dependencies } = program;
  const needed = Object.keys(dependencies).filter((each) => code.packages.has(each) || types.packages.has(each));
  writeJson(join(folder, 'package.json'), {
    name,
    version,
    description,
    license,
    type,
    engines,
    dependencies: Object.fromEntries(needed.map((each) => [each, dependencies[each]])),
    ...(bin === '' ? {} : { bin: { [name]: `dist/${bin}.js` } }),
    exports: {
      '.': { types: `./dist/${entry}.d.ts`, import: `./dist/${entry}.js` },
      './package.json': './package.json',
    },
    files: ['dist'],
  });
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${readme}\n`);
}

layOutProgram();
layOutPart({
  name: 'carillon-convai',
  description: 'A typed client of a conversational voice-agent service whose errors say what is known.',
  entry: 'service/convai/index',
  readme: `The client of Carillon alone, with two dependencies. It is what the program carillon exports as carillon/convai, built from the same
sources: what its docs/convai.md says of that holds here, under the name carillon-convai.`,
});
layOutPart({
  name: 'carillon-client',
  description: 'A typed client of the HTTP API of Carillon, which follows the events without missing any.',
  entry: 'interfaces/client/index',
  readme: `The client of the API of carillon serve alone. It is what the program carillon exports as carillon/client, built from the same sources: what
its docs/client.md says of that holds here, under the name carillon-client.`,
});
layOutPart({
  name: 'carillon-sandbox',
  description: 'A complete local conversational voice-agent service with simulated callees, for tests and CI.',
  entry: 'sandbox/index',
  bin: 'interfaces/cli/sandbox/main',
  folders: ['sandbox/page/browser', 'presentation/html/browser'],
  readme: `The sandbox of Carillon alone. Its command carillon-sandbox is carillon sandbox, and what it exports is carillon/sandbox, built from the same
sources: what docs/sandbox of the program says of these holds here, under the name carillon-sandbox.

    npx carillon-sandbox --port 0 --json
    npx carillon-sandbox exec -- npm test`,
});
run('npm', ['pack', ...laidOut, '--ignore-scripts', '--silent'], target);
