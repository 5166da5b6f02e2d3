import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface ProgramEnd {
  code: number;
  output: string;
}

export interface InstalledPackage {
  /** Writes a TypeScript module beside the installed package and checks it as a stranger's project would. */
  check(name: string, source: string): Promise<ProgramEnd>;
  /** Checks a module, makes JavaScript of it and runs that. */
  run(name: string, source: string, env: Record<string, string>): Promise<ProgramEnd>;
  remove(): void;
}

/**
 * A project of its own with carillon in its node_modules, built from the sources as they are: nothing but what `exports` of package.json
 * leads to can be imported. `entry` is the library that is built.
 */
export async function installPackage(entry = 'src/service/convai/index.ts'): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-installed-'));
  const installed = join(folder, 'node_modules', 'carillon');
  mkdirSync(installed, { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) linkPackage(folder, name);
  // Only the library and what it imports is built, so that this says nothing about the rest.
  const build = ['--outDir', join(installed, 'dist'), '--rootDir', root, '--declaration', '--noEmit', 'false'];
  const flags = ['--ignoreConfig', ...compilerFlags, '--rewriteRelativeImportExtensions', '--skipLibCheck'];
  const built = await tsc(root, [join(root, entry), ...build, ...flags]);
  if (built.code !== 0) throw new Error(`The library was not built:\n${built.output}`);
  return openProject(folder);
}

/** A stranger's project in `folder`, as soon as what it uses is installed there. */
export function openProject(folder: string): InstalledPackage {
  linkPackage(folder, '@types/node');
  const write = (name: string, source: string): string => {
    writeFileSync(join(folder, name), source);
    return join(folder, name);
  };
  const strict = ['--ignoreConfig', ...compilerFlags, '--noUncheckedIndexedAccess', '--noUnusedLocals', 'false'];
  return {
    check: (name, source) => tsc(folder, [write(name, source), ...strict, '--noEmit']),
    async run(name, source, env) {
      const compiled = await tsc(folder, [write(name, source), ...strict]);
      if (compiled.code !== 0) return compiled;
      return execute(process.execPath, [join(folder, name.replace(/ts$/, 'js'))], folder, env);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The examples of the page as one program: imports first, as modules want them. */
export function programOf(page: string): string {
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map((match) => match[1] ?? '');
  return blocks.join('\n');
}

const compilerFlags =
  '--module nodenext --target es2023 --lib es2023 --types node --strict --exactOptionalPropertyTypes --verbatimModuleSyntax'.split(' ');

/** Makes a package of this checkout one of the project's. */
export function linkPackage(folder: string, name: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), place);
}

function tsc(folder: string, args: string[]): Promise<ProgramEnd> {
  return execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...args], folder);
}

/** Runs a program to its end, whatever that is. */
export function execute(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}
