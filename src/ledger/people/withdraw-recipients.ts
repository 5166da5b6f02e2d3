import { reportsRecipients } from '../../rules/service-api.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { findOpen } from './edit-verdict.ts';
import { refuseUnlessEditable } from './edit-refusal.ts';
import { withdrawnReason } from '../../rules/attempts/eligibility.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import type { Queries, Store } from '../tx.ts';
import { finishRecipients } from '../rows/recipients.ts';
import { updateRecipient } from '../updates.ts';

export type WithdrawKeys = { ids: readonly string[] } | { rows: readonly number[] };

export interface WithdrawResult {
  key: string | number;
  campaignRow: number | null;
  /** `withdrawing`: its call is asked back, and the row ends with it. `call_open`: the service gives no calls back, so the row stays. */
  result: 'withdrawn' | 'withdrawing' | 'call_open' | 'already_ended' | 'not_found';
}

export interface WithdrawOptions {
  campaignId: string;
  /** Operator's note for the log; must hold no other person's data. */
  note: string | null;
  dryRun: boolean;
  now: number;
}

/**
 * Ends waiting recipients as `cancelled`, `withdrawn`. Those with an open call end with it if the service gives calls back, else stay. One
 * transaction: pass parts of 500. Idempotent. Throws EditRefusedError.
 */
export async function withdrawRecipients(
  store: Store,
  { campaignId, note, dryRun, now }: WithdrawOptions,
  keys: WithdrawKeys,
): Promise<WithdrawResult[]> {
  const validate = async (db: Queries) => {
    const campaign = await findCampaign(db, campaignId);
    refuseUnlessEditable(campaign, now);
    return validateKeys(db, campaign, keys);
  };
  if (dryRun) return (await validate(store.db)).results;
  return lockedTransaction(store, campaignId, async (tx) => {
    const { results, withdrawn, wished: withdrawing } = await validate(tx);
    const taken = withdrawn.length + withdrawing.length;
    if (taken === 0) return results;
    const data = { by: 'person' as const, ...(note === null ? {} : { note }) };
    const type = 'recipient.withdrawn' as const;
    const counts = { added: 0, corrected: 0, withdrawn: taken };
    await appendEvents(tx, [
      ...withdrawn.map((recipientId) => ({ at: now, campaignId, type, recipientId, data })),
      ...withdrawing.map((recipientId) => ({ at: now, campaignId, type, recipientId, data: { ...data, callOpen: true as const } })),
      { at: now, campaignId, type: 'campaign.edited', data: counts },
    ]);
    const end = { outcome: 'cancelled', reason: withdrawnReason } as const;
    const finishes = withdrawn.map((recipientId) => ({ recipientId, ...end }));
    await finishRecipients(tx, { campaignId, now }, finishes);
    for (const recipientId of withdrawing) await updateRecipient(tx, recipientId, { taken_out_at: now });
    return results;
  });
}

interface Judgement {
  results: WithdrawResult[];
  withdrawn: string[];
  wished: string[];
}

async function validateKeys(db: Queries, { campaignId, api }: Campaign, keys: WithdrawKeys): Promise<Judgement> {
  if (('ids' in keys ? keys.ids : keys.rows).length === 0) return { results: [], withdrawn: [], wished: [] };
  let query = db
    .selectFrom('recipients')
    .select(['recipient_id', 'row_number', 'external_id', 'state', 'taken_out_at'])
    .where('campaign_id', '=', campaignId);
  query = 'ids' in keys ? query.where('external_id', 'in', keys.ids) : query.where('row_number', 'in', keys.rows);
  // In SQL, SQLite would scan the whole campaign for this order.
  const rows = (await query.execute()).sort((a, b) => a.row_number - b.row_number);
  const ids = rows.map((row) => row.recipient_id);
  const open = await findOpen(db, ids);
  const ofOpen = reportsRecipients(api) ? 'withdrawing' : 'call_open';
  const withdrawn: string[] = [];
  const withdrawing: string[] = [];
  const found = new Map<string | number, WithdrawResult>();
  for (const row of rows) {
    const key = 'ids' in keys ? (row.external_id ?? '') : row.row_number;
    const isOpen = row.state === 'open' || open.has(row.recipient_id);
    const result = isOpen ? ofOpen : row.state === 'waiting' ? 'withdrawn' : 'already_ended';
    if (result === 'withdrawn') withdrawn.push(row.recipient_id);
    if (result === 'withdrawing' && row.taken_out_at === null) withdrawing.push(row.recipient_id);
    // Of rows sharing an id only one was ever accepted.
    const known = found.get(key);
    if (known === undefined || known.result === 'already_ended') found.set(key, { key, campaignRow: row.row_number, result });
  }
  const named: readonly (string | number)[] = 'ids' in keys ? keys.ids : keys.rows;
  const results = named.map((key) => found.get(key) ?? { key, campaignRow: null, result: 'not_found' as const });
  return { results, withdrawn, wished: withdrawing };
}

/** Unfinished recipients with an id, paged in row order, to find those missing from an upload. */
export async function* readWaitingIds(
  db: Queries,
  campaignId: string,
  pageSize = 500,
): AsyncGenerator<{ row: number; externalId: string }[]> {
  let after = 0;
  for (;;) {
    const rows = await db
      .selectFrom('recipients')
      .select(['row_number', 'external_id'])
      .where('campaign_id', '=', campaignId)
      .where('row_number', '>', after)
      .where('state', '!=', 'done')
      .where('external_id', 'is not', null)
      .orderBy('row_number')
      .limit(pageSize)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.row_number;
    yield rows.map((row) => ({ row: row.row_number, externalId: row.external_id ?? '' }));
  }
}
