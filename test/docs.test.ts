import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { campaignRules, readCampaignFile } from '../src/campaign/file/file.ts';
import { adjustable } from '../src/campaign/file/settings/pacing.ts';
import { campaignSchema, type CampaignSettings } from '../src/campaign/file/schema.ts';
import { commands } from '../src/interfaces/cli/commands.ts';
import { operations } from '../src/operations/list.ts';
import type { Io } from '../src/interfaces/cli/terminal/io.ts';
import { processInput } from '../src/interfaces/cli/terminal/person-input.ts';
import { readConfig } from '../src/shared/config.ts';
import type { CampaignFile } from '../src/campaign/file/campaign-file.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

/*
 * What the documents say is compared with what the program does. Each check is a function of texts, so that a broken text shows
 * that it can fail.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const skipped = new Set(['node_modules', 'dist', 'dist-packages', '.git', 'coverage']);

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function listFiles(folder: string, ends: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path, ends);
    return entry.name.endsWith(ends) ? [path] : [];
  });
}

const documents = new Map(listFiles(root, '.md').map((path) => [relative(root, path), readFileSync(path, 'utf8')]));

interface PackageFile {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  engines: { node: string };
}
const packageFile = JSON.parse(read('package.json')) as PackageFile;

/** Cells of table rows whose first cell begins with a name in backticks. */
function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function namesIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

/** As repository hosts make them. */
function anchorsOf(text: string): Set<string> {
  const headings = withoutCode(text).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    ),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '');
}

function brokenLinks(path: string, text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/i.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const found = file === '' ? join(root, path) : resolve(root, dirname(path), file);
    if (!existsSync(found)) return [`${path}: ${target}`];
    if (anchor === undefined) return [];
    return anchorsOf(readFileSync(found, 'utf8')).has(anchor) ? [] : [`${path}: ${target}`];
  });
}

test('every relative link leads to a file, and to a heading where it names one', () => {
  expect([...documents].flatMap(([path, text]) => brokenLinks(path, text))).toEqual([]);
  expect(brokenLinks('README.md', '[a](docs/nowhere.md) [b](docs/operations.md#no-such-heading) [c](LICENSE)')).toEqual([
    'README.md: docs/nowhere.md',
    'README.md: docs/operations.md#no-such-heading',
  ]);
});

/** Project paths in backticks that do not exist. */
function missingPaths(text: string): string[] {
  const paths = text.matchAll(/`((?:src|activities|workflows|test|examples|docs|bench)\/[\w./-]*)`/g);
  return [...paths].map((match) => match[1] ?? '').filter((path) => !existsSync(join(root, path)));
}

test('every path in the documents exists', () => {
  expect([...documents].flatMap(([path, text]) => missingPaths(text).map((missing) => `${path}: ${missing}`))).toEqual([]);
  expect(missingPaths('see `src/store/nothing-here.ts` and `src/shared/config.ts`')).toEqual(['src/store/nothing-here.ts']);
});

/** Names below a folder in a table row's first cell, such as `input/`, that do not exist. */
function missingBelow(text: string): string[] {
  return tableRows(text).flatMap(([first = '', ...cells]) => {
    const [, folder] = /^`((?:src|test)\/[\w/-]*\/)`$/.exec(first) ?? [];
    const names = folder === undefined ? [] : [...cells.join(' ').matchAll(/`([\w-]+(?:\/|\.ts))`/g)].map(([, name = '']) => name);
    return names.filter((name) => !existsSync(join(root, folder ?? '', name))).map((name) => `${folder}${name}`);
  });
}

test('what a table says of a folder is in it', () => {
  expect([...documents.values()].flatMap(missingBelow)).toEqual([]);
  expect(missingBelow('| `src/shared/` | `config.ts`, `place/` |')).toEqual(['src/shared/place/']);
});

/** Sentences that contradict an existing setting or operation, unless they name it. */
function contradictions(): { exists: boolean; says: RegExp; unless?: RegExp }[] {
  const settings = schemaPaths(campaignSchema);
  return [
    { exists: 'editSchedule' in operations, says: /delete (?:it|the schedule) and create/i },
    { exists: settings.includes('results[].then'), says: /\banswered\b[^.]*\bnever (?:retried|called again)/, unless: /then: / },
    { exists: settings.includes('list.person'), says: /(?:known|identified) by `list\.id`/, unless: /`list\.person`/ },
  ];
}

function contradicting(text: string): string[] {
  const sentences = text.replaceAll(/\s+/g, ' ').split(/(?<=[.:]) (?=[A-Z*`|-])/);
  const wrong = contradictions().filter(({ exists }) => exists);
  return sentences.filter((sentence) => wrong.some(({ says, unless }) => says.test(sentence) && unless?.test(sentence) !== true));
}

test('no page contradicts the schedules, retries and persons of the program, and the changelog repeats no line', () => {
  const pages = [...documents].filter(([path]) => path.startsWith('docs/') && !path.startsWith('docs/decisions/'));
  expect(pages.flatMap(([path, text]) => contradicting(text).map((sentence) => `${path}: ${sentence}`))).toEqual([]);
  const lines = read('CHANGELOG.md')
    .split('\n')
    .filter((line) => line.length > 60);
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
  expect(contradicting('To change one, delete it and create another. People are known by `list.id`.')).toHaveLength(2);
});

/** Functions that the architecture page ties to a file, as in `name` (`path`, ...), but the file lacks. */
function strayFunctions(text: string): string[] {
  const joined = text.replaceAll('\n', ' ').replaceAll(/ +/g, ' ');
  const pairs = [
    ...joined.matchAll(/`(\w+)` \(`((?:src|activities|workflows)\/[\w./-]+\.ts)`/g),
    ...joined.matchAll(/`(\w+)` in `((?:src|activities|workflows)\/[\w./-]+\.ts)`/g),
    ...joined.matchAll(/\[`(\w+)`\]\(\.\.\/((?:src|activities|workflows)\/[\w./-]+\.ts)\)/g),
  ];
  return pairs
    .filter(([, name = '', path = '']) => existsSync(join(root, path)) && !new RegExp(`\\b${name}\\b`).test(read(path)))
    .map(([, name, path]) => `${name} in ${path}`);
}

test('every function in the documents is in the file that is named with it', () => {
  expect([...documents.values()].flatMap(strayFunctions)).toEqual([]);
  expect(strayFunctions('then `noSuchFunction` (`src/ledger/collect/sweeps.ts`)')).toEqual([
    'noSuchFunction in src/ledger/collect/sweeps.ts',
  ]);
  expect(strayFunctions('[`noSuchLink`](../src/shared/config.ts)')).toEqual(['noSuchLink in src/shared/config.ts']);
});

const architecture = read('docs/architecture.md');

function stationsOf(text: string): string[] {
  const section = /^## One call\n(.*?)^## /ms.exec(text)?.[1] ?? '';
  return section.split(/^\d+\. /m).slice(1);
}

test('one call is followed in at most 25 stations, and each links to its file', () => {
  const stations = stationsOf(architecture);
  expect(stations.length).toBeGreaterThan(15);
  expect(stations.length).toBeLessThanOrEqual(25);
  const withoutLink = stations.filter((station) => !/\]\(\.\.\/[\w./-]+\.ts\)/.test(station));
  expect(withoutLink).toEqual([]);
});

test('the questions that people ask first are answered by one path each', () => {
  const section = /^## Where to look\n(.*?)^## /ms.exec(architecture)?.[1] ?? '';
  const answers = [...section.matchAll(/^\| ([^|]+\?) +\|([^|]+)\|$/gm)].map(([, question = '', answer = '']) => ({
    question,
    paths: answer.match(/\]\(/g)?.length,
  }));
  expect(answers).toEqual(
    [
      'Where is the calling window decided?',
      'What may call `fetch`?',
      'Where would a new command go?',
      'Who writes an event?',
      'What does a retry wait for?',
    ].map((question) => ({ question, paths: 1 })),
  );
});

/** It fetches, or has a client of undici or Node. */
function makesRequests(text: string): boolean {
  return /\bfetch\(|\{[^}]*\b(?:Client|request|fetch)\b[^}]*\} (?:from '|= await import\(')(?:undici|node:https?)'/.test(text);
}

test('every file outside the sandbox that makes HTTP requests is named where that is asked', () => {
  const files = ['src', 'activities', 'workflows'].flatMap((folder) => listFiles(join(root, folder), '.ts'));
  const paths = files
    .filter((path) => makesRequests(readFileSync(path, 'utf8')))
    .map((path) => relative(root, path))
    .filter((path) => !path.startsWith('src/sandbox/'));
  const answer = /^- \*\*`fetch`\.\*\*(.*?)^- /ms.exec(architecture)?.[1] ?? '';
  expect(paths.sort()).toEqual([...new Set(answer.match(/src\/[\w/-]+\.ts/g))].sort());
});

/** Prose over 140 characters a line; tables, code and pictures are exempt. */
function longLines(text: string): string[] {
  const blank = text.replaceAll(/^ *```.*?^ *```$/gms, '');
  return blank.split('\n').filter((line) => line.length > 140 && !/^(?:\||!\[)/.test(line));
}

test('lines of the documents end at 140 characters', () => {
  expect([...documents].flatMap(([path, text]) => longLines(text).map((line) => `${path}: ${line}`))).toEqual([]);
  expect(longLines(`${'word '.repeat(30)}\n| ${'cell '.repeat(30)}|\n`)).toHaveLength(1);
});

function undocumentedDependencies(text: string, { dependencies, devDependencies, optionalDependencies }: PackageFile): string[] {
  const rows = new Map(tableRows(text).map((row) => [namesIn(row[0])[0], row[1] ?? '']));
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter((name) => (rows.get(name) ?? '').length < 5);
}

test('every dependency has a line that says why, and no other has', () => {
  const text = read('docs/dependencies.md');
  expect(undocumentedDependencies(text, packageFile)).toEqual([]);
  const known = {
    ...packageFile.dependencies,
    ...packageFile.devDependencies,
    ...packageFile.optionalDependencies,
  };
  const documented = tableRows(text).map((row) => namesIn(row[0])[0] ?? '');
  expect(documented.filter((name) => !Object.hasOwn(known, name) && !existsSync(join(root, name)))).toEqual([]);
  expect(undocumentedDependencies(text.replace(/^\| `undici`.*$/m, ''), packageFile)).toEqual(['undici']);
});

function unknownScripts(text: string): string[] {
  return [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(test)\b)/g)]
    .map((match) => match[1] ?? match[2] ?? '')
    .filter((name) => !Object.hasOwn(packageFile.scripts, name));
}

test('the two commands of the README are what package.json offers', () => {
  const block = /## Two commands\s+```sh\n(.*?)```/s.exec(read('README.md'))?.[1] ?? '';
  expect(block.split('\n').map((line) => line.split('#')[0]?.trim())).toEqual(['npm ci && npm run demo', 'npm ci && npm test', '']);
  expect(packageFile.scripts['demo']).toMatch(/main\.js demo$/);
  expect(packageFile.scripts['test']).toMatch(/vitest run$/);
  expect([...documents.values()].flatMap(unknownScripts)).toEqual([]);
  expect(unknownScripts('npm run start-it-all && npm test')).toEqual(['start-it-all']);
  expect(read('README.md')).toContain(`Node ${packageFile.engines.node.replace('>=', '')}`);
});

/** The newest version below `[Unreleased]`, with its entries' headings; null: malformed. */
function newestRelease(text: string): { version: string; groups: string[] } | null {
  const release = /^## \[Unreleased\]\n.*?^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}\n(.*?)(?=^## \[|(?![^]))/ms.exec(text);
  if (release === null) return null;
  const [, version = '', entries = ''] = release;
  return { version, groups: [...entries.matchAll(/^### (.+)$/gm)].map(([, group = '']) => group) };
}

test("the changelog's newest version is that of the package, in the form of Keep a Changelog", () => {
  const release = newestRelease(read('CHANGELOG.md'));
  expect(release?.version).toBe((JSON.parse(read('package.json')) as { version: string }).version);
  expect(release?.version).toBe((JSON.parse(read('package-lock.json')) as { version: string }).version);
  const forms = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  expect(release?.groups.filter((group) => !forms.includes(group))).toEqual([]);
  expect(new Set(release?.groups).size).toBe(release?.groups.length);
  expect(newestRelease('## [Unreleased]\n\n### Added\n')).toBeNull();
});

const configSource = read('src/shared/config.ts');
const settings = [...(/z\.object\(\{(.*?)\n\}\)/s.exec(configSource)?.[1] ?? '').matchAll(/^ {2}([A-Z_]+): /gm)].map(
  (match) => match[1] ?? '',
);

function wrongSettings(text: string): string[] {
  const defaults = readConfig({}) as unknown as Record<string, string | number | undefined>;
  const rows = new Map(
    tableRows(text)
      .filter((row) => row.length === 3)
      .map(([name, value, meaning]) => [namesIn(name)[0] ?? '', { value, meaning }]),
  );
  const missing = settings.filter((name) => (rows.get(name)?.meaning ?? '').length < 5);
  const differing = settings.filter((name) => {
    const row = rows.get(name);
    if (row === undefined) return false;
    const value = defaults[name];
    return row.value !== (value === undefined ? 'unset' : `\`${value}\``);
  });
  return [...missing.map((name) => `${name}: missing`), ...differing.map((name) => `${name}: default`)];
}

test('every setting of the environment is documented with its default', () => {
  expect(settings).toContain('SVC_API_KEY');
  expect(settings.length).toBeGreaterThan(15);
  const text = read('docs/configuration.md');
  expect(wrongSettings(text)).toEqual([]);
  expect(wrongSettings(text.replace(/^\| `DATABASE_URL`.*$/m, ''))).toEqual(['DATABASE_URL: missing']);
  expect(wrongSettings(text.replace(/(CARILLON_HEARTBEAT_TIMEOUT_MS`\s*\| `15)000/, '$100'))).toEqual([
    'CARILLON_HEARTBEAT_TIMEOUT_MS: default',
  ]);
});

const variablePattern = /\b(?:SVC|CARILLON|TEMPORAL|XDG|DATABASE|POSTGRES)_[A-Z][A-Z_]*[A-Z]\b/g;

/** Variables that the program, its deployment file or Temporal's own loader reads, or that a command gets by name. */
function knownVariables(): Set<string> {
  const loader = listFiles(join(root, 'node_modules/@temporalio/envconfig/lib'), '.js').map((path) => readFileSync(path, 'utf8'));
  const names = [...loader, read('docker-compose.yml'), read('src/interfaces/cli/sandbox/exec.ts')].flatMap(
    (source) => source.match(variablePattern) ?? [],
  );
  return new Set([...settings, ...names]);
}

function unknownVariables(text: string, known: Set<string>): string[] {
  return [...new Set(text.match(variablePattern) ?? [])].filter((name) => !known.has(name));
}

test('no document names a variable that nothing reads', () => {
  const known = knownVariables();
  expect([...documents].flatMap(([path, text]) => unknownVariables(text, known).map((name) => `${path}: ${name}`))).toEqual([]);
  expect(unknownVariables('set `CARILLON_MAGIC` and `TEMPORAL_TLS`', known)).toEqual(['CARILLON_MAGIC']);
});

/** Every path that the schema accepts, such as `list.phone` and `opt_out[].equals`. */
function schemaPaths(schema: z.core.$ZodType, prefix = ''): string[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape as Record<string, z.core.$ZodType>).flatMap(([key, inner]) => {
      const path = prefix === '' ? key : `${prefix}.${key}`;
      return [path, ...schemaPaths(inner, path)];
    });
  }
  if (schema instanceof z.ZodArray) return schemaPaths(schema.element, `${prefix}[]`);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => schemaPaths(option, prefix));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return schemaPaths(schema.def.innerType, prefix);
  return [];
}

const campaignPage = read('docs/campaign-file.md');

function settingRows(text: string): { names: string[]; value: string; meaning: string }[] {
  return tableRows(text)
    .filter((row) => row.length === 3)
    .map(([name, value = '', meaning = '']) => ({ names: namesIn(name), value, meaning }));
}

test('every setting of the campaign file is documented, and nothing else is', () => {
  const paths = schemaPaths(campaignSchema);
  expect(paths).toEqual(expect.arrayContaining(['id', 'hours.mon', 'retry.busy', 'opt_out[].equals']));
  const documented = settingRows(campaignPage).flatMap(({ names }) => names);
  expect(paths.filter((path) => !documented.includes(path))).toEqual([]);
  expect(documented.filter((path) => !paths.includes(path))).toEqual([]);
  const without = settingRows(campaignPage.replace(/^\| `list\.phone`.*$/m, '')).flatMap(({ names }) => names);
  expect(paths.filter((path) => !without.includes(path))).toEqual(['list.phone']);
});

test('the limits that the page says may be changed while a campaign runs are those that may', () => {
  const [, except = ''] = /`carillon adjust` changes all but (.*?) while the campaign runs/s.exec(campaignPage) ?? [];
  const changed = schemaPaths(campaignSchema.shape.pacing, 'pacing').filter((path) => !namesIn(except).includes(path));
  expect(changed).toEqual(Object.values(adjustable).map(({ key }) => `pacing.${key}`));
});

const smallest = parse(/```yaml\n(.*?)```/s.exec(campaignPage)?.[1] ?? '') as Record<string, unknown>;

function rulesOf(content: Record<string, unknown>): unknown {
  const settings: CampaignSettings = campaignSchema.parse(content);
  const file: CampaignFile = {
    id: settings.id,
    name: settings.name ?? null,
    path: 'campaign.yaml',
    hash: '',
    listPath: settings.list.file,
    delimiter: settings.list.delimiter,
    content,
    settings,
    law: null,
    lineOf: () => null,
  };
  return { rules: campaignRules(file, ['phone', 'first_name', 'day'], 0), delimiter: file.delimiter };
}

function withSetting(content: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const [key = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...content, [key]: value };
  return { ...content, [key]: withSetting((content[key] ?? {}) as Record<string, unknown>, rest.join('.'), value) };
}

function withoutSetting(content: Record<string, unknown>, path: string): Record<string, unknown> {
  const [key = '', ...rest] = path.split('.');
  if (!Object.hasOwn(content, key)) return content;
  if (rest.length > 0) return { ...content, [key]: withoutSetting(content[key] as Record<string, unknown>, rest.join('.')) };
  return Object.fromEntries(Object.entries(content).filter(([name]) => name !== key));
}

/** Optional settings, and the smallest value that can be written for each. */
const optionalParents: Readonly<Record<string, object>> = {
  variables: { values: {} },
  price: { per_minute: 0.12, currency: 'USD' },
  callback: { at: 'callback_at' },
  stop_at: { goal: 1 },
  consent: { at: 'day', source: 'day', text: 'first_name' },
  stays_open: { expires_after: '2h' },
  caller_limits: { per_hour: 1, per_day: 1 },
  pilot: { rows: 1 },
  pre_dial: { url: 'https://hooks.example.com' },
  on_completion: { url: 'https://hooks.example.com' },
  on_pause: { url: 'https://hooks.example.com' },
};

/** What each needs beside it. */
const alongside: Readonly<Record<string, object>> = {
  stays_open: { list: { file: 'list.csv', phone: 'phone', id: 'first_name' }, ends_at: '2031-01-01T00:00:00Z' },
  stop_at: { results: [{ result: 'confirmed', collected: 'confirmed', equals: true, goal: true }] },
};

/** Settings whose documented default, written out, gives other rules than omitting them. */
function wrongDefaults(text: string): string[] {
  return settingRows(text).flatMap(({ names, value }) =>
    names.filter((path) => {
      // One of three is required: the example has it.
      if (path.includes('[]') || path === 'callback.at') return false;
      const [parent = ''] = path.split('.');
      const base =
        path.includes('.') && parent in optionalParents
          ? { ...smallest, ...alongside[parent], [parent]: optionalParents[parent] }
          : smallest;
      const without = withoutSetting(base, path);
      const accepted = campaignSchema.safeParse(without).success;
      if (value === 'required') return accepted;
      if (!accepted) return true;
      const written = /^`(.+)`$/.exec(value)?.[1];
      if (written === undefined) return value !== 'none' && value !== 'computed';
      const content: unknown = /^[,{[]|^(\d+|true|false)$/.test(written) && written !== ',' ? parse(written) : written;
      const explicit = withSetting(without, path, content);
      if (!campaignSchema.safeParse(explicit).success) return true;
      return JSON.stringify(rulesOf(explicit)) !== JSON.stringify(rulesOf(without));
    }),
  );
}

test('the documented defaults of the campaign file are those of the program', () => {
  expect(wrongDefaults(campaignPage)).toEqual([]);
  const broken = campaignPage
    .replace(/^(\| `retry\.busy`\s*\| )`30m`/m, '$1`20m`')
    .replace(/^(\| `hours`\s*\| )required/m, '$1none')
    .replace(/^(\| `advanced\.poll`\s*\| )`10s`/m, '$1required');
  expect(wrongDefaults(broken)).toEqual(['hours', 'retry.busy', 'advanced.poll']);
});

test('the example of a faulty campaign file gives the messages that stand below it', async () => {
  const [, source = '', printed = ''] = /```yaml faulty\n(.*?)```\s+```text\n(.*?)```/s.exec(campaignPage) ?? [];
  const folder = temporaryFolder();
  const path = join(folder, 'campaign.yaml');
  await writeFile(path, source);
  const error = await readCampaignFile(path).catch((thrown: unknown) => thrown as Error);
  expect((error as Error).message.replaceAll(`${folder}/`, '')).toBe(printed.trimEnd());
});

const silentIo: Io = {
  stdout: process.stdout,
  stderr: process.stderr,
  input: processInput(),
  env: {},
  isTerminal: false,
  colour: false,
  now: () => 0,
  onInterrupt: () => () => {},
  exitCode: 0,
};

/** Commands and long flags in code, such as `carillon results <campaign> --output -`. */
function commandsIn(text: string): { name: string; flags: string[] }[] {
  const code = [...text.matchAll(/^```sh\n(.*?)^```/gms), ...text.matchAll(/`((?:\.\/)?carillon [^`]+)`/g)];
  return code
    .flatMap((match) => (match[1] ?? '').split('\n'))
    .flatMap((line) => [...(line.split('#')[0] ?? '').matchAll(/\bcarillon ([a-z]+(?:-[a-z]+)*)\b([^&|]*)/g)])
    .map(([, name = '', rest = '']) => ({ name, flags: rest.match(/--[a-z-]+/g) ?? [] }));
}

function unknownCommands(text: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  return commandsIn(text).flatMap(({ name, flags }) => {
    const allowed = known.get(name);
    if (allowed === undefined) return [name];
    return flags.filter((flag) => !allowed.includes(flag)).map((flag) => `${name} ${flag}`);
  });
}

function flagsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => (long == null ? [] : [long]));
  return ['--help', ...own, ...command.commands.flatMap(flagsOf)];
}

test('every command and flag in the documents exists', async () => {
  const known = new Map(
    await Promise.all(commands.map(async ({ name, load }) => [name, flagsOf((await load())({ ...silentIo }))] as const)),
  );
  expect([...documents.values()].flatMap((text) => unknownCommands(text, known))).toEqual([]);
  expect(unknownCommands('`carillon explode` and `carillon results x --gold --json`', known)).toEqual(['explode', 'results --gold']);
  const tour = documents.get('README.md') ?? '';
  expect(commands.map(({ name }) => name).filter((name) => !`${tour}${documents.get('CHANGELOG.md')}`.includes(name))).toEqual([]);
});

test('example numbers are fictional', () => {
  const numbers = (text: string) => text.match(/\+\d{8,15}\b/g) ?? [];
  const real = (number: string) => !/^\+1\d{3}55501\d{2}$|^\+442079460\d{3}$/.test(number);
  expect([...documents.values()].flatMap(numbers).filter(real)).toEqual([]);
  expect(['+12125550123', '+12125551234'].filter(real)).toEqual(['+12125551234']);
});
