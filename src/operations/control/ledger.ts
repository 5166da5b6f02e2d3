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

/** Thrown for an unknown campaign; its message lists the known ones. */
export class UnknownCampaignError extends foreseen('UnknownCampaignError', true) {}

/** Thrown when the file is missing: reading must not create an empty database. */
export class NoDatabaseError extends foreseen('NoDatabaseError', true) {}

export function locationOf({ DATABASE_URL, CARILLON_DB, CARILLON_DB_CONNECTION_AGE_MS }: Config): StoreLocation {
  return { databaseUrl: DATABASE_URL, sqlitePath: CARILLON_DB, connectionAgeMs: CARILLON_DB_CONNECTION_AGE_MS };
}

/** Creates a missing database, and migrates it. Throws ConfigError and StoreError. */
export async function openLedger(config: Config): Promise<Store> {
  requireDatabaseAddress(config);
  return openStore(locationOf(config));
}

/** For a server: one caller's query of a SQLite file does not block the others. */
export async function openServedLedger(config: Config): Promise<Store> {
  requireDatabaseAddress(config);
  return openStore(locationOf(config), 'upgrade', createThreadedSqliteDialect);
}

/** Opens an existing database without migrating it. Throws NoDatabaseError, ConfigError and StoreError. */
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

/** Far longer than a worker's statement takes. One waiting for a lock may fail too: its activity is retried. */
const longestSilenceMs = 30_000;

/** Locks a SQLite file against a second worker. Close it after the worker has drained: database first, then lock. */
export async function openWorkerLedger(config: Config): Promise<{ store: Store; close(): Promise<void> }> {
  const store = await openForWork(config);
  try {
    // Makes a read-only file fail here, not in a campaign's first step.
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

/** Migrates without a time limit. */
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
