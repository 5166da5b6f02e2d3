import { expect, onTestFinished, test as once } from 'vitest';
import type { Store } from '../../src/ledger/tx.ts';
import { openCleanStore } from './clean-store.ts';
import { violations } from './edit-world.ts';
import { beginProven, type Scenario, type ScenarioOptions } from './scenario.ts';
import { bothDialects, dialects, type TestDialect } from './test-stores.ts';

/** `for`: with each of these cases. `from`: from what `begin` makes there. */
function testsOn(databases: readonly TestDialect[]) {
  const each = (title: string, run: (dialect: TestDialect) => Promise<void> | void): void => once.for(databases)(`${title}: %s`, run);
  const forEach =
    <Given>(cases: readonly Given[]) =>
    (title: string, run: (dialect: TestDialect, given: Given) => Promise<void> | void): void => {
      for (const dialect of databases) once.for(cases)(`${title}: ${dialect}`, (given) => run(dialect, given));
    };
  const from =
    <Begun, Given extends unknown[]>(begin: (dialect: TestDialect, ...given: Given) => Promise<Begun>, ...given: Given) =>
    (title: string, run: (begun: Begun) => Promise<void> | void): void =>
      each(title, async (dialect) => run(await begin(dialect, ...given)));
  return Object.assign(each, { for: forEach, from });
}

/** A ledger test on each of `dialects`; or, where the databases differ, on both or one of them at every depth. */
export const test = Object.assign(testsOn(dialects), {
  both: testsOn(bothDialects),
  sqlite: testsOn(bothDialects.filter((dialect) => dialect === 'sqlite')),
  postgres: testsOn(bothDialects.filter((dialect) => dialect === 'postgres')),
});

const spared = new Set<string | undefined>();

/** The log is not judged: the test writes what no campaign would. */
export function unjudged(): void {
  spared.add(expect.getState().currentTestName);
}

/** At the end of the test its log must keep every promise. */
export async function openLedger(dialect: TestDialect): Promise<Store> {
  const store = await openCleanStore(dialect);
  const name = expect.getState().currentTestName;
  onTestFinished(async () => expect(spared.has(name) ? [] : (await violations(store)).slice(0, 3)).toEqual([]));
  return store;
}

/** As `beginProven`, in a store as `openLedger` opens it. */
export async function beginOn(dialect: TestDialect, options: ScenarioOptions = {}): Promise<Scenario> {
  return beginProven(await openLedger(dialect), options);
}
