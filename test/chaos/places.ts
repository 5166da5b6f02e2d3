import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { runProve } from '../../src/interfaces/cli/local/doctor-prove.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { startSandbox, type RunningSandbox } from '../../src/sandbox/start.ts';
import { createWaitableClock, type WaitableClock } from '../world/clock.ts';
import { scratch } from '../world/drive.ts';
import { createTerminal } from '../interfaces/cli/terminal.ts';
import { tablesOf, newDatabase } from '../ledger/clean-store.ts';
import { Console } from './console/console.ts';
import { sandboxOf, type Scenario } from './scenarios.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { onTestFinished } from 'vitest';

/** Without campaigns the log may be emptied too; elsewhere it is append-only. */
const logMayBeEmptied = [
  'drop trigger events_no_delete',
  `create trigger events_no_delete before delete on events when exists (select 1 from campaigns)
    begin select raise(abort, 'events are append-only'); end`,
];

/** Keeps the consoles' tokens. Truncating on PostgreSQL is ten times as slow: it creates new files. */
function emptying(dialect: Store['dialect'], tables: readonly string[]): string[] {
  const deletes = tables.filter((table) => !['events', 'tokens'].includes(table)).map((table) => `delete from ${table}`);
  return dialect === 'sqlite'
    ? [...deletes, 'delete from events', 'delete from sqlite_sequence']
    : ['truncate events restart identity', ...deletes];
}

/** Moves only by request, also for processes that use the service over HTTP. */
function createToldClock(): WaitableClock {
  const clock = createWaitableClock();
  return Object.defineProperties(clock, {
    speed: { value: 1e-9 },
    anchorRealMs: { get: () => Date.now() },
    anchorServiceMs: { get: () => clock.now() },
  });
}

export type Location = { databaseUrl: string | undefined; sqlitePath: string };

/** An empty PostgreSQL database, or a SQLite file in `folder`; default API: the contract's. */
type At = { databaseUrl?: string | undefined; folder?: string | undefined; api?: ServiceApi };

interface Found {
  folder: string;
  location: Location;
  emptying: readonly string[];
}

/** A database open in two processes, and a service per setting; reset for every campaign. */
export class Place {
  readonly api: ServiceApi;
  /** One per process; prepared statements stay. */
  readonly stores: readonly [Store, Store];
  readonly #folder: string;
  readonly #emptying: readonly string[];
  readonly #location: Location;
  #console: Promise<Console> | undefined;
  readonly #services = new Map<string, { sandbox: RunningSandbox; clock: WaitableClock }>();

  private constructor(stores: readonly [Store, Store], api: ServiceApi, { folder, location, emptying: statements }: Found) {
    [this.stores, this.api, this.#folder, this.#location, this.#emptying] = [stores, api, folder, location, statements];
  }

  static async open({ databaseUrl, folder: within = scratch, api = 'contract' }: At = {}): Promise<Place> {
    const folder = mkdtempSync(join(within, 'carillon-chaos-'));
    const location = { databaseUrl, sqlitePath: join(folder, 'carillon.db') };
    const [one, other] = [await openStore(location), await openStore(location)];
    const place = new Place([one, other], api, { folder, location, emptying: emptying(one.dialect, await tablesOf(one)) });
    if (place.dialect === 'sqlite') await place.#run(logMayBeEmptied);
    return place;
  }

  get dialect(): Store['dialect'] {
    return this.stores[0].dialect;
  }

  async #run(statements: readonly string[]): Promise<void> {
    await this.stores[0].db.transaction().execute(async (tx) => {
      for (const statement of statements) await sql.raw(statement).execute(tx);
    });
  }

  async begin(scenario: Scenario): Promise<{ sandbox: RunningSandbox; clock: WaitableClock }> {
    await this.#run(this.#emptying);
    const settings = sandboxOf(scenario, this.api);
    const key = JSON.stringify([settings, scenario.unproven]);
    let service = this.#services.get(key);
    if (service === undefined) {
      const clock = createToldClock();
      service = { clock, sandbox: await startSandbox({ ...settings, clock }) };
      this.#services.set(key, service);
      if (this.api !== 'contract' && scenario.unproven !== true) {
        await proveLookUp(this.api, service.sandbox.url, this.#location);
        service.sandbox.reset();
      }
    } else service.sandbox.reset();
    if (scenario.troubles.length > 0) service.sandbox.addFaults([...scenario.troubles]);
    return service;
  }

  /** Its tokens outlast the campaigns. */
  console(nowReal: number): Promise<Console> {
    this.#console ??= Console.open(this.stores[1], { api: this.api, nowReal });
    return this.#console;
  }

  async close(): Promise<void> {
    await (await this.#console)?.close();
    for (const { sandbox } of this.#services.values()) await sandbox.close();
    for (const store of this.stores) await store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function openPlace(database: Store['dialect'], api: ServiceApi = 'contract'): Promise<Place> {
  const { databaseUrl } = database === 'sqlite' ? {} : await newDatabase(database);
  const place = await Place.open({ databaseUrl, api });
  onTestFinished(() => place.close());
  return place;
}

/** Like `carillon doctor --prove-lookup`, with a call that is never made. */
async function proveLookUp(api: ServiceApi, url: string, { databaseUrl, sqlitePath }: Location): Promise<void> {
  const database = databaseUrl === undefined ? { CARILLON_DB: sqlitePath } : { DATABASE_URL: databaseUrl };
  const io = createTerminal({ env: { SVC_BASE_URL: url, SVC_API_KEY: 'sk_sandbox_ok', SVC_API: api, ...database } });
  await runProve(io, { to: '+12125550123', campaignPath: null, yes: true, json: true });
  if (io.exitCode !== 0) throw new Error(`the look-up was not proven: ${io.written().stderr}`);
}
