import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openStore, type Store, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { startSandbox, type RunningSandbox } from '../../src/sandbox/start.ts';
import { createWaitableClock, type WaitableClock } from '../activities/service-world.ts';
import { sandboxOf, type Scenario } from './scenarios.ts';

/** Memory where the machine has such a folder: what is lost here is a process, never the power. */
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const tables = [
  'accounts', 'campaigns', 'rounds', 'recipients', 'attempts', 'batches', 'posts', 'conversations', 'agents',
  'suppressions', 'aggregates', 'callers', 'schedules', 'wishes', 'staged_suppressions', 'dismissals',
]; // prettier-ignore

/** A database that two processes have open, and a service for each dialect; both begin anew with every campaign. */
export class Place {
  #stores: readonly [Store, Store];
  readonly #location: StoreLocation;
  readonly #folder: string;
  readonly #services = new Map<string, { sandbox: RunningSandbox; clock: WaitableClock }>();

  private constructor(stores: readonly [Store, Store], location: StoreLocation, folder: string) {
    this.#stores = stores;
    this.#location = location;
    this.#folder = folder;
  }

  /** `databaseUrl`: an empty PostgreSQL database; a SQLite file when it is left out. */
  static async open(databaseUrl?: string): Promise<Place> {
    const folder = mkdtempSync(join(scratch, 'carillon-chaos-'));
    const location = { databaseUrl, sqlitePath: join(folder, 'carillon.db') };
    const first = await openStore(location);
    if (databaseUrl !== undefined) return new Place([first, await openStore(location)], location, folder);
    // The log of a file only grows: every campaign has a copy of the empty one.
    await first.close();
    copyFileSync(location.sqlitePath, join(folder, 'empty.db'));
    return new Place(await openTwice(location), location, folder);
  }

  /** Of the campaign that has begun last. */
  get stores(): readonly [Store, Store] {
    return this.#stores;
  }

  get dialect(): Store['dialect'] {
    return this.#stores[0].dialect;
  }

  async #empty(): Promise<void> {
    if (this.dialect === 'postgres') {
      // To truncate makes new files, and takes ten times as long; of the log nothing is ever deleted.
      const statements = ['truncate events restart identity', ...tables.map((table) => `delete from ${table}`)];
      await sql.raw(statements.join('; ')).execute(this.#stores[0].db);
      return;
    }
    for (const store of this.#stores) await store.close();
    const { sqlitePath } = this.#location;
    for (const rest of ['-wal', '-shm']) rmSync(`${sqlitePath}${rest}`, { force: true });
    copyFileSync(join(this.#folder, 'empty.db'), sqlitePath);
    this.#stores = await openTwice(this.#location);
  }

  /** The scenario's service with nothing in it yet, and an empty database. */
  async begin(scenario: Scenario): Promise<{ sandbox: RunningSandbox; clock: WaitableClock }> {
    await this.#empty();
    let service = this.#services.get(scenario.dialect);
    if (service === undefined) {
      const clock = createWaitableClock();
      service = { clock, sandbox: await startSandbox({ ...sandboxOf(scenario), clock }) };
      this.#services.set(scenario.dialect, service);
    } else service.sandbox.reset();
    if (scenario.troubles.length > 0) service.sandbox.addFaults([...scenario.troubles]);
    return service;
  }

  async close(): Promise<void> {
    for (const { sandbox } of this.#services.values()) await sandbox.close();
    for (const store of this.#stores) await store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function openTwice(location: StoreLocation): Promise<[Store, Store]> {
  return [await openStore(location), await openStore(location)];
}
