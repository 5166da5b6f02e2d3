import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { copyWithout } from '../worlds/copy-without.ts';
import type { Edit, Guard } from '../worlds/guard.ts';
import { guards } from '../worlds/guards.ts';
import { runGuardTests } from '../worlds/run-guard-tests.ts';
import type { Aim, Aimed } from './aims.ts';
import type { Caught, Search } from './first-caught.ts';

/** What became of a guard that was taken out. */
export interface Finding {
  /** Whether it was caught, and nothing is with the guard in its place. */
  ok: boolean;
  /** What caught it, or why nothing did. */
  by: string;
  /** The same cases or tests on the whole code; empty: not run. */
  whole: string;
}

/** Thrown when the search itself came to no end. */
class SearchError extends Error {
  override readonly name = 'SearchError' as const;
}

/** A case that never ends is given up so long after the others. */
const graceMs = 60_000;

/** Looks for what catches guards that are taken out of copies of the code. */
export class GuardSearch {
  readonly #longestMs: number;
  readonly #folders = new Set<string>();
  #whole: string | undefined;
  #server: PostgresServer | undefined;
  #databases = 0;

  /** `longestMs`: for one guard. */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Takes the guard out. Whatever goes wrong is told in the finding. */
  async find({ guard: name, ...aimed }: Aimed): Promise<Finding> {
    const guard = guards.find((each) => each.name === name);
    if (guard === undefined) throw new Error(`No guard is named "${name}".`);
    try {
      const folder = this.#copy(guard.edits);
      try {
        return 'unseen' in aimed ? this.#findByTest(folder, guard, aimed.unseen) : await this.#findByCase(folder, aimed.aim);
      } finally {
        this.#remove(folder);
      }
    } catch (error) {
      return { ok: false, by: error instanceof Error ? error.message : String(error), whole: '' };
    }
  }

  /** Removes the copies. */
  cleanUp(): void {
    for (const folder of this.#folders) this.#remove(folder);
  }

  #copy(edits: readonly Edit[]): string {
    const folder = copyWithout(edits);
    this.#folders.add(folder);
    return folder;
  }

  #remove(folder: string): void {
    this.#folders.delete(folder);
    rmSync(folder, { recursive: true, force: true });
  }

  get #wholeFolder(): string {
    return (this.#whole ??= this.#copy([]));
  }

  async #findByCase(folder: string, aim: Aim): Promise<Finding> {
    const { caught, cases, late } = await this.#search(folder, aim, Infinity);
    if (caught === null) return { ok: false, by: this.#tellMissed(cases, late), whole: '' };
    const by = `${caught.by}: ${caught.rule}`;
    const whole = await this.#search(this.#wholeFolder, aim, cases);
    if (whole.caught !== null) return { ok: false, by, whole: `broken too, ${whole.caught.by}` };
    return { ok: !whole.late, by, whole: whole.late ? this.#tellMissed(whole.cases, true) : `${whole.cases} clean` };
  }

  #tellMissed(cases: number, late: boolean): string {
    return late
      ? `not caught within ${this.#longestMs / 60_000} minutes, by the first ${cases} cases`
      : `not caught by any of ${cases} cases`;
  }

  #findByTest(folder: string, { test }: Guard, unseen: string): Finding {
    if (test === undefined) throw new SearchError('no test is named for it');
    const { failed, run } = runGuardTests(folder, test, false);
    const whole = runGuardTests(this.#wholeFolder, test, true);
    return {
      ok: failed > 0 && whole.failed === 0,
      by: `not seen at this level (${unseen}); \`${test.file}\`: ${failed} of ${run} fail`,
      whole: whole.failed === 0 ? `${whole.run} pass` : `${whole.failed} of ${whole.run} fail`,
    };
  }

  /** Runs cases in a process of the copy. Throws `SearchError` when it does not say what became of them. */
  async #search(folder: string, aim: Aim, mostCases: number): Promise<Caught> {
    const asked: Search = { aim, mostCases: Math.min(mostCases, 1e6), longestMs: this.#longestMs };
    if (aim.database === 'postgres') asked.databaseUrl = await this.#createDatabase();
    const { stdout, status, signal, error } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'test/chaos/first-caught.ts', JSON.stringify(asked)],
      {
        cwd: folder,
        encoding: 'utf8',
        timeout: this.#longestMs + graceMs,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    if (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT')
      throw new SearchError(`not caught: a case did not end within ${(this.#longestMs + graceMs) / 60_000} minutes`);
    if (error !== undefined) throw error;
    if (status !== 0) throw new SearchError(`not caught: the process of the cases ended with ${signal ?? status}`);
    return JSON.parse(stdout) as Caught;
  }

  async #createDatabase(): Promise<string> {
    this.#server ??= await startPostgresServer();
    return this.#server.createDatabase(`guard_${(this.#databases += 1)}`);
  }
}
