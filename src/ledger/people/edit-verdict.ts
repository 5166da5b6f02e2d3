import { listColumnsOf, type ImportRow } from '../campaign/import-campaign.ts';
import type { RecipientRow } from '../schema.ts';

/** A row of an upload that the list reader has accepted, with the user's own id. */
export interface UploadRow extends ImportRow {
  verdict: 'accepted';
  externalId: string;
  e164: string;
}

/** Why a row of an upload changes nothing, apart from what the list reader finds wrong with it. */
export type EditFailure = 'call_open' | 'already_ended' | 'withdrawn' | 'duplicate_phone';

/** Reason of outcome `cancelled` when a person took the row out. */
export const withdrawnReason = 'withdrawn';

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
 * What an uploaded row does to the recipient with its id, apart from what other rows have to say. A recipient whose call is planned or
 * open is never touched, and neither is one that has its outcome, unless it never could be dialled (`rejected`, `undialable`) or was
 * withdrawn and is to be restored.
 */
export function judgeEdit(
  row: UploadRow,
  target: RecipientRow | undefined,
  { isOpen, restore }: { isOpen: boolean; restore: boolean },
): EditVerdict {
  if (target === undefined) return { kind: 'add' };
  const isSame = isSameRow(row, target);
  const isWithdrawn = target.outcome === 'cancelled' && target.reason === withdrawnReason;
  if (isWithdrawn && restore && !isOpen) return { kind: 'correct', claimsNumber: target.e164 !== row.e164, takesBack: 'cancelled' };
  // Of one that was withdrawn the user is told, or nobody would notice that it is not called.
  if (isSame && target.outcome !== 'rejected' && !isWithdrawn) return { kind: 'unchanged' };
  if (isOpen || target.state === 'open') {
    const hint = 'its call is planned or open; upload the row again when the call has ended';
    return { kind: 'failed', code: 'call_open', hint };
  }
  switch (target.outcome) {
    case null:
      return { kind: 'correct', claimsNumber: target.e164 !== row.e164, takesBack: null };
    case 'rejected':
      return { kind: 'correct', claimsNumber: true, takesBack: 'rejected' };
    case 'undialable':
      return { kind: 'correct', claimsNumber: target.e164 !== row.e164, takesBack: 'undialable' };
    case 'completed':
    case 'exhausted':
    case 'opted_out':
    case 'suppressed':
    case 'expired':
    case 'cancelled':
    case 'unresolved':
      return isWithdrawn
        ? { kind: 'failed', code: 'withdrawn', hint: 'it was withdrawn; --restore puts it back in line' }
        : { kind: 'failed', code: 'already_ended', hint: `its outcome is ${target.outcome}, and stays` };
  }
}

function isSameRow(row: UploadRow, target: RecipientRow): boolean {
  return Object.entries(listColumnsOf(row)).every(([column, value]) => target[column as keyof RecipientRow] === value);
}
