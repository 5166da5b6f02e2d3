import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Edit, Guard } from './guard.ts';
import type { Asked, Line } from './plays.ts';

const root = join(import.meta.dirname, '../..');
const parts = ['src', 'activities', 'workflows', 'test', 'rules', 'examples', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

/** A play takes about a second; the first need longer to be found. */
const longestPlayMs = 90_000;
const longestTestMs = 300_000;

interface Report {
  testResults: { assertionResults: { fullName: string; status: string }[] }[];
}

export class Copy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carillon-proof-'));
  readonly #isWhole: boolean;
  #child: ChildProcess | undefined;

  /** Throws unless each text is in its file exactly once. */
  constructor(edits: readonly Edit[]) {
    this.#isWhole = edits.length === 0;
    for (const part of parts) cpSync(join(root, part), join(this.#folder, part), { recursive: true });
    symlinkSync(realpathSync(join(root, 'node_modules')), join(this.#folder, 'node_modules'));
    for (const { file, text, without } of edits) {
      const path = join(this.#folder, file);
      const [before = '', after, ...more] = readFileSync(path, 'utf8').split(text);
      if (after === undefined || more.length > 0) {
        this.remove();
        throw new Error(`${file} holds this ${after === undefined ? 'no more' : 'more than once'}: ${text}`);
      }
      writeFileSync(path, before + without + after);
    }
  }

  remove(): void {
    this.#child?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The first play that breaks a promise, or never ends; otherwise how many kept them. `endless`: as of a guard. */
  async play(asked: Asked, endless = false): Promise<{ nth: number; at: string; broken: string } | { clean: number }> {
    const args = ['--import', 'tsx', 'test/guards/plays.ts', JSON.stringify(asked)];
    const child = spawn(process.execPath, args, { cwd: this.#folder, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    let isLate = false;
    const stop = (): void => {
      isLate = true;
      child.kill('SIGKILL');
    };
    let timer = setTimeout(stop, longestPlayMs);
    let last: Line | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      last = JSON.parse(line) as Line;
      clearTimeout(timer);
      timer = setTimeout(stop, longestPlayMs);
    }
    clearTimeout(timer);
    if (isLate && endless) last ??= { nth: 1, at: 'undisturbed' };
    if (last === undefined) throw new Error(`Nothing could be played in ${this.#folder}.`);
    return 'clean' in last ? last : { ...last, broken: last.broken ?? (isLate ? 'it never ends' : 'its process ends') };
  }

  /** How many tests of the name fail here, and how many there are. */
  test([file, name]: NonNullable<Guard['test']>): { failed: number; run: number } {
    const report = join(this.#folder, `${file.replaceAll('/', '-')}.json`);
    if (!this.#isWhole || !existsSync(report)) {
      const args = ['node_modules/vitest/vitest.mjs', 'run', `test/${file}.test.ts`, '--reporter=json', `--outputFile=${report}`];
      if (!this.#isWhole && name !== '') args.push('-t', name);
      const { error } = spawnSync(process.execPath, args, { cwd: this.#folder, stdio: 'ignore', timeout: longestTestMs });
      if (error !== undefined) return { failed: 1, run: 1 };
    }
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    const statuses = tests.flatMap(({ fullName, status }) => (fullName.includes(name) ? [status] : []));
    const failed = statuses.filter((status) => status === 'failed').length;
    const run = failed + statuses.filter((status) => status === 'passed').length;
    if (run === 0) throw new Error(`No test of ${file} is named "${name}".`);
    return { failed, run };
  }
}
