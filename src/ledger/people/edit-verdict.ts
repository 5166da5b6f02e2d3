import { listColumnsOf } from '../campaign/import-campaign.ts';
import { withdrawnReason } from '../../rules/attempts/eligibility.ts';
import type { RecipientRow } from '../schema.ts';
import type { ImportRow } from '../campaign/import-row.ts';

/** A row that the list reader has accepted. */
export interface EditRow extends ImportRow {
  verdict: 'accepted';
  e164: string;
}

/** One of an upload has the user's own id, by which it is matched. */
export interface UploadRow extends EditRow {
  externalId: string;
}

/** Why a row of an upload changes nothing, apart from what the list reader finds wrong with it. */
export type EditFailure =
  'call_open' | 'already_ended' | 'withdrawn' | 'duplicate_phone' | 'duplicate_id' | 'not_rejected' | 'not_found' | 'malformed_row';

export type EditVerdict =
  | { kind: 'add' }
  | {
      kind: 'correct';
      /** Whether it has to be sure that no other row has the number. */
      claimsNumber: boolean;
      /** The outcome that is taken back, and with which the recipient returns to the line; null: it waits already. */
      takesBack: 'rejected' | 'undialable' | 'cancelled' | null;
    }
  | { kind: 'unchanged' }
  | { kind: 'failed'; code: EditFailure; hint: string };

/**
 * What an uploaded row does to the recipient with its id. One with a planned or open call is never touched, nor one with an outcome, but
 * for `rejected`, `undialable` and a withdrawal to be restored.
 */
export function judgeEdit(
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
  // Of one that was withdrawn the user is told, or nobody would notice that it is not called.
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

/** What a corrected row does to the rejected one with its number. `holder`: the row that has its id. */
export function judgeFix(row: EditRow, target: RecipientRow | undefined, holder: RecipientRow | undefined): EditVerdict {
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
