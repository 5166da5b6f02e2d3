import { foreseen } from '../../shared/input/errors.ts';
import { existsSync } from 'node:fs';
import { didYouMean } from '../../rules/nearest-name.ts';
import { requireDatabaseAddress, type Config } from '../../shared/config.ts';
import { findCampaign, listCampaigns, type Campaign } from '../../ledger/rows/campaigns.ts';
import { openStore, type StoreLocation } from '../../ledger/open-ledger.ts';
import { createThreadedSqliteDialect } from '../../ledger/threads/sqlite-threads.ts';
import { lockSqliteFile } from '../../ledger/worker-lock.ts';
import { plural } from '../../shared/input/figures.ts';
import type { Store } from '../../ledger/tx.ts';

/** Thrown when a command names a campaign that the database does not have; its message names those it has. */
export class UnknownCampaignError extends foreseen('UnknownCampaignError', true) {}

/** Thrown when a command wants to read a database file that is not there: reading must not make an empty one. */
export class NoDatabaseError extends foreseen('NoDatabaseError', true) {}

export function locationOf({ DATABASE_URL, CARILLON_DB, CARILLON_DB_CONNECTION_AGE_MS }: Config): StoreLocation {
  return { databaseUrl: DATABASE_URL, sqlitePath: CARILLON_DB, connectionAgeMs: CARILLON_DB_CONNECTION_AGE_MS };
}

/** The database of the settings; it is made where it is missing, and brought up to date. Throws ConfigError and StoreError. */
export async function openLedger(config: Config): Promise<Store> {
  requireDatabaseAddress(config);
  return openStore(locationOf(config));
}

/** The same for whoever serves many at once: what one of them asks of a SQLite file keeps no other waiting. */
export async function openServedLedger(config: Config): Promise<Store> {
  requireDatabaseAddress(config);
  return openStore(locationOf(config), 'upgrade', createThreadedSqliteDialect);
}

/** The database of the settings, which must be there; its schema is left as it is. Throws NoDatabaseError, ConfigError and StoreError. */
export async function openExistingLedger(config: Config): Promise<Store> {
  requireDatabaseAddress(config);
  if (config.DATABASE_URL === undefined) requireSqliteFile(config);
  return openStore(locationOf(config), 'as-is');
}

/** Throws NoDatabaseError. */
export function requireSqliteFile({ CARILLON_DB: path }: Config): void {
  if (existsSync(path)) return;
  throw new NoDatabaseError(
    `There is no database at ${path}. Run this where the campaign was started, or set CARILLON_DB or DATABASE_URL to its database.`,
  );
}

export interface LedgerAccess {
  config: Config;
  store: Store;
}

/** Far longer than a statement of a worker takes. One that waits for a lock may fail as well: its activity is tried again. */
const longestSilenceMs = 30_000;

/** Locked against a second worker where it is a SQLite file. Close it after the worker has drained: database first, then lock. */
export async function openWorkerLedger(config: Config): Promise<{ store: Store; close(): Promise<void> }> {
  const store = await openForWork(config);
  try {
    // A file that may only be read shows now, and not in the first step of a campaign.
    await store.transaction(async () => {});
    const lock = config.DATABASE_URL === undefined ? lockSqliteFile(config.CARILLON_DB) : null;
    return {
      store,
      close: async () => {
        await store.close();
        lock?.release();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Brought up to date, for which it is given all the time that it takes. */
async function openForWork(config: Config): Promise<Store> {
  const store = await openLedger(config);
  if (config.DATABASE_URL === undefined) return store;
  await store.close();
  return openStore({ ...locationOf(config), longestSilenceMs });
}

const mostNamed = 20;

/** Throws UnknownCampaignError. */
export async function requireCampaign(store: Store, campaignId: string): Promise<Campaign> {
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign !== undefined) return campaign;
  const ids = (await listCampaigns(store.db)).map((known) => known.campaignId);
  const guess = didYouMean(campaignId, ids, String);
  const shown = ids.slice(-mostNamed).join(', ');
  const known =
    ids.length === 0
      ? 'It has none yet: carillon start <campaign.yaml> makes one.'
      : `It has ${plural(ids.length, 'campaign')}: ${ids.length > mostNamed ? '…, ' : ''}${shown}.`;
  throw new UnknownCampaignError(`The database has no campaign ${JSON.stringify(campaignId)}.${guess} ${known}`);
}
