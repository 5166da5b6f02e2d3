import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

/*
 * node packages.mjs [FOLDER] makes what is installed elsewhere out of a built checkout: the program as `carillon-<version>.tgz`, and its client
 * alone as `carillon-convai-<version>.tgz`. Neither holds a script that npm would run, since nothing is left to build.
 */

const root = fileURLToPath(new URL('.', import.meta.url));
const target = resolve(argv[2] ?? join(root, 'dist-packages'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

function run(program, args, cwd) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw error;
  if (status !== 0) exit(status ?? 1);
}

function emptyFolder(name) {
  const folder = join(target, name);
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

function packProgram() {
  const folder = emptyFolder('carillon');
  const filter = (path) => !path.endsWith('.tsbuildinfo');
  for (const name of program.files) cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  writeJson(join(folder, 'package.json'), program);
  run('npm', ['pack', folder, '--ignore-scripts', '--silent'], target);
}

const clientReadme = `# carillon-convai

The client of Carillon alone, with two dependencies. It is what the program carillon exports as carillon/convai, built from the same
sources: what its docs/convai.md says of that holds here, under the name carillon-convai.
`;

function packClient() {
  const folder = emptyFolder('carillon-convai');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  run(execPath, [compiler, '-p', 'tsconfig.convai.json', '--outDir', join(folder, 'dist')], root);
  const { version, license, type, engines, dependencies } = program;
  writeJson(join(folder, 'package.json'), {
    name: 'carillon-convai',
    version,
    description: 'A typed client of a conversational voice-agent service whose errors say what is known.',
    license,
    type,
    engines,
    dependencies: { undici: dependencies.undici, zod: dependencies.zod },
    exports: {
      '.': { types: './dist/service/convai/index.d.ts', import: './dist/service/convai/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
  });
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'README.md'), clientReadme);
  run('npm', ['pack', folder, '--ignore-scripts', '--silent'], target);
}

packProgram();
packClient();
