import { randomUUID } from 'node:crypto';
import { CompiledQuery, type Insertable } from 'kysely';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { ServiceApi } from '../../rules/service-api.ts';
import { zoneDataRelease } from '../../rules/hours/time-zone.ts';
import { changeAggregates } from '../aggregates.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { rankOf, termColumnsOf } from '../rows/row-terms.ts';
import { drawSample } from '../limits/pilot.ts';
import { appendEvents } from '../events.ts';
import { partsOf } from '../parts.ts';
import { lockedTransaction } from '../locks.ts';
import { isPostgres, type Tx, type Store } from '../tx.ts';
import { readRowKey, RowHashes, type ImportRow } from './row-hash.ts';
import { StoreError } from '../ledger-error.ts';
import { sparingOthers } from '../rows/row-fault.ts';
import { wordsKeysOf } from '../words-key.ts';
import type { Database } from '../schema.ts';

export interface CampaignImport {
  campaignId: string;
  name: string | null;
  fileHash: string;
  /** For copying the campaign; absent: not kept. */
  file?: object;
  rules: CampaignRules;
  accountId: string;
  api?: ServiceApi;
}

function apiOf({ api = 'contract' }: CampaignImport): { api?: ServiceApi } {
  return api === 'contract' ? {} : { api };
}

/** Thrown when the campaign exists with another file: a running campaign's rules are frozen. */
export class CampaignConflictError extends Error {
  override readonly name = 'CampaignConflictError' as const;
  readonly isBadInput = true;
}

const rowsPerInsert = 500;
/** Other writers commit in between. */
const rowsPerCommit = 5_000;

export function recipientId(campaignId: string, row: number): string {
  return `${campaignId}/${row}`;
}

export function listColumnsOf(row: ImportRow) {
  return { ...termColumnsOf(row), cells: JSON.stringify(row.cells) };
}

/** Waiting, or done when the row was rejected. */
export function recipientOf(
  row: ImportRow,
  { campaignId, keyOf, now }: { campaignId: string; keyOf: ReturnType<typeof wordsKeysOf>; now: number },
): Insertable<Database['recipients']> {
  return {
    recipient_id: recipientId(campaignId, row.row),
    campaign_id: campaignId,
    row_number: row.row,
    ...termColumnsOf(row),
    cells: JSON.stringify(row.cells),
    state: row.verdict === 'accepted' ? ('waiting' as const) : ('done' as const),
    rank: rankOf(0, row),
    due_at: row.notBefore ?? 0,
    attempts: 0,
    counted: 0,
    uncounted_in_row: 0,
    budget_from: 0,
    caller: null,
    changed_at: now,
    outcome: row.verdict === 'accepted' ? null : ('rejected' as const),
    reason: row.reason ?? null,
    last_attempt_id: null,
    words_key: row.verdict === 'accepted' ? keyOf(row.cells) : null,
  };
}

/** Replaces a row that the database refuses: rejected, keeping at most its cells. */
function asUnusable({ row }: ImportRow, cells: string[]): ImportRow {
  const nothing = { externalId: null, e164: null, zones: [], country: null, regions: null };
  return { row, cells, verdict: 'rejected', reason: 'malformed_row', ...nothing };
}

/** Claims the id for this import. Deletes the rest of a crashed import; one still at work loses its claim. */
async function claimImport(store: Store, input: CampaignImport, now: number): Promise<string> {
  const token = randomUUID();
  await store.transaction(async (tx) => {
    // Campaign first: this waits for rows that the other import is adding.
    await tx.deleteFrom('campaigns').where('campaign_id', '=', input.campaignId).where('state', '=', 'importing').execute();
    await tx.deleteFrom('recipients').where('campaign_id', '=', input.campaignId).execute();
    await tx
      .insertInto('campaigns')
      .values({
        campaign_id: input.campaignId,
        name: input.name,
        file_hash: input.fileHash,
        file: input.file === undefined ? null : JSON.stringify(input.file),
        rules: JSON.stringify(input.rules),
        account_id: input.accountId,
        api: input.api ?? 'contract',
        agent_id: input.rules.agentId,
        state: 'importing',
        state_reason: token,
        created_at: now,
        rows_total: 0,
        rows_rejected: 0,
        round: 0,
        caller_proven: 0,
        canary_from: 0,
        dials_since: 0,
      })
      .execute();
  });
  return token;
}

/** By dialect and columns equal in all rows: building a full insert takes longer than running it. */
const fullInserts = new Map<string, string>();

/** Binds a value shared by all rows once: binding costs as much as storing. */
async function insertRecipients(tx: Tx, values: readonly Insertable<Database['recipients']>[]): Promise<void> {
  const [first] = values;
  if (first === undefined || values.length < rowsPerInsert) {
    await tx.insertInto('recipients').values(values).execute();
    return;
  }
  const columns = Object.keys(first) as (keyof typeof first)[];
  const isShared = columns.map((column) => values.every((value) => value[column] === first[column]));
  const key = `${isPostgres(tx) ? '$' : '?'}${isShared.map(Number).join('')}`;
  const statement = fullInserts.get(key) ?? fullInsert(columns, isShared, isPostgres(tx) ? '$' : '?');
  fullInserts.set(key, statement);
  const parameters: unknown[] = columns.filter((_, at) => isShared[at]).map((column) => first[column]);
  const own = columns.filter((_, at) => !isShared[at]);
  for (const value of values) for (const column of own) parameters.push(value[column]);
  await tx.executeQuery(CompiledQuery.raw(statement, parameters));
}

function fullInsert(columns: readonly string[], isShared: readonly boolean[], sign: '?' | '$'): string {
  let given = 0;
  const shared = isShared.map((is) => (is ? `${sign}${(given += 1)}` : null));
  const row = () => `(${shared.map((place) => place ?? `${sign}${(given += 1)}`).join()})`;
  return `insert into recipients (${columns.join()}) values ${Array.from({ length: rowsPerInsert }, row).join()}`;
}

function takenOver(campaignId: string): StoreError {
  return new StoreError(`The import of campaign ${campaignId} was taken over by another one. Run the command again.`);
}

async function addRows(
  store: Store,
  { campaignId, token }: { campaignId: string; token: string },
  rows: readonly Insertable<Database['recipients']>[],
): Promise<void> {
  await lockedTransaction(store, campaignId, async (tx) => {
    const claim = await tx.selectFrom('campaigns').select('state_reason').where('campaign_id', '=', campaignId).executeTakeFirst();
    if (claim?.state_reason !== token) throw takenOver(campaignId);
    for (const part of partsOf(rows, rowsPerInsert)) await insertRecipients(tx, part);
  });
}

/**
 * Writes a campaign and its rows, visible from the last commit. Returns an existing one with the same id and hash; throws
 * `CampaignConflictError` for another hash.
 */
export async function importCampaign(
  store: Store,
  input: CampaignImport,
  {
    chunks,
    now,
    onProgress = () => {},
  }: { chunks: AsyncIterable<readonly ImportRow[]>; now: number; onProgress?: ((rows: number) => void) | undefined },
): Promise<{ campaign: Campaign; attached: boolean }> {
  const existing = await findCampaign(store.db, input.campaignId);
  if (existing !== undefined) {
    if (existing.fileHash === input.fileHash) return { campaign: existing, attached: true };
    throw new CampaignConflictError(
      `Campaign ${input.campaignId} exists with another campaign file or list (hash ${existing.fileHash.slice(0, 12)}, now ${input.fileHash.slice(0, 12)}). ` +
        'A started campaign is frozen: restore the file, or give the changed one a new id.',
    );
  }
  const token = await claimImport(store, input, now);
  const hashes = new RowHashes(await readRowKey(store.db));
  let total = 0;
  let firstRow: number | null = null;
  let rejected = 0;
  const keyOf = wordsKeysOf(input.rules);
  let pending: ImportRow[] = [];
  const write = async (rows: readonly ImportRow[]) => {
    const made = rows.map((row) => ({ row, recipient: recipientOf(row, { campaignId: input.campaignId, keyOf, now }) }));
    await addRows(store, { campaignId: input.campaignId, token }, made.map(({ recipient }) => recipient)); // prettier-ignore
    return made;
  };
  const flush = async () => {
    const refuse = (row: ImportRow) => sparingOthers([asUnusable(row, row.cells)], write, () => write([asUnusable(row, [])]));
    for (const { row, recipient } of await sparingOthers(pending, write, refuse)) {
      if (row.verdict === 'rejected') rejected += 1;
      hashes.add(row, recipient);
    }
    pending = [];
    onProgress(total);
  };
  for await (const chunk of chunks) {
    for (const row of chunk) {
      total += 1;
      firstRow ??= row.row;
      pending.push(row);
    }
    if (pending.length >= rowsPerCommit) await flush();
  }
  await flush();
  await store.transaction(async (tx) => {
    const published = await tx
      .updateTable('campaigns')
      // Written again, with what reading the list added.
      .set({
        state: 'draft',
        state_reason: null,
        rules: JSON.stringify(input.rules),
        rows_total: total,
        rows_rejected: rejected,
      })
      .where('campaign_id', '=', input.campaignId)
      .where('state_reason', '=', token)
      .executeTakeFirst();
    if (published.numUpdatedRows !== 1n) throw takenOver(input.campaignId);
    await changeAggregates(tx, input.campaignId, [{ kind: 'outcome', value: 'rejected', delta: rejected }]);
    // The log must be proof by itself, so it includes the rules and the time zone release.
    const timeZoneData = zoneDataRelease;
    const data = { hash: input.fileHash, rows: total, firstRow, rejected, rules: input.rules, ...apiOf(input), timeZoneData };
    await appendEvents(tx, [
      { at: now, campaignId: input.campaignId, type: 'campaign.imported', data },
      ...hashes.events(input.campaignId, now),
    ]);
    const { pilot } = input.rules;
    if (pilot !== undefined) await drawSample(tx, { campaignId: input.campaignId, now }, { sample: 1, rules: pilot });
  });
  const campaign = await findCampaign(store.db, input.campaignId);
  if (campaign === undefined) throw new StoreError(`Campaign ${input.campaignId} was imported and is gone. Run the command again.`);
  return { campaign, attached: false };
}
