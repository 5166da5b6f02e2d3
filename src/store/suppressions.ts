import type { Queries } from './open-store.ts';

export interface Suppression {
  e164: string;
  /** `account` stops every campaign in this database; a campaign id stops that one. */
  scope: string;
  source: string;
  reason: string | null;
  /** Epoch milliseconds, or null for ever. */
  expiresAt: number | null;
}

/** Adds a do-not-call entry; the same number and scope again keeps the first one. */
export async function addSuppression(tx: Queries, entry: Suppression, now: number): Promise<void> {
  await tx
    .insertInto('suppressions')
    .values({
      e164: entry.e164,
      scope: entry.scope,
      source: entry.source,
      reason: entry.reason,
      created_at: now,
      expires_at: entry.expiresAt,
    })
    .onConflict((conflict) => conflict.columns(['e164', 'scope']).doNothing())
    .execute();
}

/** Which of these numbers this campaign must not dial now. */
export async function findSuppressed(
  tx: Queries,
  campaignId: string,
  numbers: readonly string[],
  now: number,
): Promise<Set<string>> {
  if (numbers.length === 0) return new Set();
  const rows = await tx
    .selectFrom('suppressions')
    .select('e164')
    .where('e164', 'in', numbers)
    .where('scope', 'in', ['account', campaignId])
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute();
  return new Set(rows.map((row) => row.e164));
}
