import { listColumnsOf } from '../campaign/import-campaign.ts';
import { withdrawnReason } from '../../rules/attempts/eligibility.ts';
import type { RecipientRow } from '../schema.ts';
import type { ImportRow } from '../campaign/row-hash.ts';
import { sql } from 'kysely';
import { openAttemptStates } from '../../rules/ledger.ts';
import type { Queries } from '../tx.ts';

export interface EditRow extends ImportRow {
  verdict: 'accepted';
  e164: string;
}

/** An uploaded row, matched by the list's own id. */
export interface UploadRow extends EditRow {
  externalId: string;
}

/** Apart from faults that the list reader finds. */
export type EditFailure =
  'call_open' | 'already_ended' | 'withdrawn' | 'duplicate_phone' | 'duplicate_id' | 'not_rejected' | 'not_found' | 'malformed_row';

export type EditVerdict =
  | { kind: 'add' }
  | {
      kind: 'correct';
      /** Whether no other row may have the number. */
      claimsNumber: boolean;
      /** Outcome that is taken back when the recipient returns to the queue; null: it still waits. */
      takesBack: 'rejected' | 'undialable' | 'cancelled' | null;
    }
  | { kind: 'unchanged' }
  | { kind: 'failed'; code: EditFailure; hint: string };

/**
 * Effect on the recipient with the row's id. One with a planned or open call stays as it is, and so does an outcome other than `rejected`,
 * `undialable` or a withdrawal to restore.
 */
export function validateEdit(
  row: EditRow,
  target: RecipientRow | undefined,
  { isOpen, restore }: { isOpen: boolean; restore: boolean },
): EditVerdict {
  if (target === undefined) return { kind: 'add' };
  const { outcome, reason, taken_out_at: takenOutAt } = target;
  const isSame = isSameRow(row, target);
  const hasCall = isOpen || target.state === 'open';
  const claimsNumber = target.e164 !== row.e164;
  const mayComeBack = outcome === null || outcome === 'undialable' || outcome === 'cancelled';
  const isWithdrawn = mayComeBack && (outcome === 'cancelled' ? reason === withdrawnReason : takenOutAt !== null);
  if (mayComeBack && isWithdrawn && restore && !hasCall) return { kind: 'correct', claimsNumber, takesBack: outcome };
  // Report a withdrawn row, or the user would not notice that it is not called.
  if (isSame && outcome !== 'rejected' && !isWithdrawn) return { kind: 'unchanged' };
  if (hasCall) {
    const what = isWithdrawn ? 'it was withdrawn while its call was planned or open' : 'its call is planned or open';
    return { kind: 'failed', code: 'call_open', hint: `${what}; upload the row again when the call has ended` };
  }
  if (isWithdrawn) return { kind: 'failed', code: 'withdrawn', hint: 'it was withdrawn; --restore puts it back in line' };
  switch (outcome) {
    case null:
    case 'undialable':
      return { kind: 'correct', claimsNumber, takesBack: outcome };
    case 'rejected':
      return { kind: 'correct', claimsNumber: true, takesBack: outcome };
    case 'completed':
    case 'exhausted':
    case 'opted_out':
    case 'suppressed':
    case 'expired':
    case 'cancelled':
    case 'unresolved':
      return { kind: 'failed', code: 'already_ended', hint: `its outcome is ${outcome}, and stays` };
  }
}

/** Effect on the rejected row of the same row number. `holder`: the row with its id. */
export function validateFix(row: EditRow, target: RecipientRow | undefined, holder: RecipientRow | undefined): EditVerdict {
  if (target === undefined) return { kind: 'failed', code: 'not_found', hint: 'the campaign has no such row' };
  if (target.outcome !== 'rejected') {
    if (target.outcome === null && isSameRow(row, target)) return { kind: 'unchanged' };
    return { kind: 'failed', code: 'not_rejected', hint: 'it is in line or was called, so it stays as it is' };
  }
  if (holder !== undefined && holder.outcome !== 'rejected') {
    const hint = `row ${holder.row_number} of the campaign has the same id; give each row its own`;
    return { kind: 'failed', code: 'duplicate_id', hint };
  }
  return { kind: 'correct', claimsNumber: true, takesBack: 'rejected' };
}

function isSameRow(row: EditRow, target: RecipientRow): boolean {
  return Object.entries(listColumnsOf(row)).every(([column, value]) => target[column as keyof RecipientRow] === value);
}

/** Of duplicates, a recipient that was not rejected, or the first. */
export async function findTargets(
  db: Queries,
  campaignId: string,
  rows: readonly Pick<EditRow, 'externalId'>[],
): Promise<Map<string, RecipientRow>> {
  const ids = rows.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
  if (ids.length === 0) return new Map();
  const ofCampaign = db.selectFrom('recipients').selectAll().where('campaign_id', '=', campaignId);
  const found = await ofCampaign.where('external_id', 'in', ids).execute();
  const targets = new Map<string, RecipientRow>();
  // In SQL, SQLite would scan the whole campaign for this order.
  for (const row of found.sort((a, b) => a.row_number - b.row_number)) {
    const id = row.external_id ?? '';
    const known = targets.get(id);
    if (known === undefined || (known.outcome === 'rejected' && row.outcome !== 'rejected')) targets.set(id, row);
  }
  return targets;
}

export async function findRows(db: Queries, campaignId: string, rows: readonly number[]): Promise<Map<number, RecipientRow>> {
  if (rows.length === 0) return new Map();
  const ofCampaign = db.selectFrom('recipients').selectAll().where('campaign_id', '=', campaignId);
  const found = await ofCampaign.where('row_number', 'in', rows).execute();
  return new Map(found.map((row) => [row.row_number, row]));
}

/** Rows without an outcome: they may still be called. */
export async function findWaiting(db: Queries, campaignId: string, externalIds: readonly string[]): Promise<Map<string, number>> {
  if (externalIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('recipients')
    .select(['external_id', 'row_number'])
    .where('campaign_id', '=', campaignId)
    .where('external_id', 'in', externalIds)
    .where('outcome', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.external_id ?? '', row.row_number]));
}

export async function findOpen(db: Queries, recipientIds: readonly string[]): Promise<Set<string>> {
  if (recipientIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('attempts')
    .select('recipient_id')
    .where('recipient_id', 'in', recipientIds)
    .where('state', 'in', openAttemptStates)
    .execute();
  return new Set(rows.map((row) => row.recipient_id));
}

/** Rejected rows have no number: they are never dialled. */
export async function findHolders(
  db: Queries,
  campaignId: string,
  numbers: readonly string[],
): Promise<Map<string, { id: string; row: number }>> {
  if (numbers.length === 0) return new Map();
  const rows = await db
    .selectFrom('recipients')
    .select(['recipient_id', 'row_number', 'e164'])
    .where('e164', 'in', numbers)
    // Makes SQLite look the numbers up instead of scanning the campaign.
    .where(sql<boolean>`campaign_id || '' = ${campaignId}`)
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '!=', 'rejected')]))
    .execute();
  return new Map(rows.map((row) => [row.e164 ?? '', { id: row.recipient_id, row: row.row_number }]));
}

export async function lastRow(db: Queries, campaignId: string): Promise<number> {
  const row = await db
    .selectFrom('recipients')
    .select((eb) => eb.fn.max('row_number').as('row'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.row ?? 0;
}
