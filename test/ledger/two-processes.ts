import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { openAt } from './test-stores.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { newDatabase } from './clean-store.ts';

/** `defaults`: settings of the database before they open it. */
export async function openTwo(defaults: Record<string, string> = {}): Promise<[Store, Store]> {
  const location = await newDatabase('postgres');
  const name = new URL(location.databaseUrl ?? '').pathname.slice(1);
  const admin = await openAt(location);
  for (const [setting, value] of Object.entries(defaults))
    await sql.raw(`alter database ${name} set ${setting} = '${value}'`).execute(admin.db);
  return [await openAt(location), await openAt(location)];
}

/** Sessions of this database that wait for a lock. */
export async function countWaiting({ db }: Store): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Opened at the latest when the test ends: a transaction that waits for ever keeps its store from closing. */
export function gate() {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  onTestFinished(open);
  return { open, passed };
}

/** Locks in a transaction of its own; answers the release. */
export async function hold(store: Store, lock: ReturnType<typeof sql>): Promise<() => Promise<void>> {
  const [taken, release] = [gate(), gate()];
  const done = store.transaction(async (tx) => {
    await lock.execute(tx);
    taken.open();
    await release.passed;
  });
  await taken.passed;
  return () => {
    release.open();
    return done;
  };
}
