import { sql } from 'kysely';
import { cutPace, fullPace, raisePace } from '../../rules/pacing/pace-control.ts';
import type { PostVerdict } from '../../rules/ledger.ts';
import { findCampaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { isPostgres, type Queries, type Tx } from '../tx.ts';
import type { BatchRow, Row } from '../schema.ts';

export interface Account {
  accountId: string;
  /** Null: no limit. */
  maxConcurrentCalls: number | null;
  keepFree: number;
  notBefore: number;
  pace: number;
  cutAt: number;
  clocksApartMs: number;
  steppedAt: number;
}

export async function readAccount(db: Queries, accountId: string): Promise<Account> {
  const row = await db.selectFrom('accounts').selectAll().where('account_id', '=', accountId).executeTakeFirst();
  return {
    accountId,
    maxConcurrentCalls: row?.max_concurrent_calls ?? null,
    keepFree: row?.keep_free ?? 0,
    notBefore: row?.not_before ?? 0,
    pace: row?.pace ?? fullPace,
    cutAt: row?.pace_at ?? 0,
    clocksApartMs: row?.clocks_apart_ms ?? 0,
    steppedAt: row?.stepped_at ?? 0,
  };
}

/** Lines open to the account's campaigns at full pace; null: no limit. */
export function linesOf({ maxConcurrentCalls, keepFree }: Account): number | null {
  if (maxConcurrentCalls === null) return null;
  return Math.max(1, maxConcurrentCalls - Math.ceil((maxConcurrentCalls * keepFree) / 1000));
}

/** Until the transaction ends. Lock the campaign first, to avoid deadlocks. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  if (isPostgres(tx)) await sql`select 1 from accounts where account_id = ${accountId} for update`.execute(tx);
}

const freshAccount = { not_before: 0, keep_free: 0, pace: fullPace, pace_at: 0 };

export async function writeAccount(tx: Tx, accountId: string, changes: Partial<Omit<Row<'accounts'>, 'account_id'>>): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ account_id: accountId, ...freshAccount, ...changes })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(changes))
    .execute();
}

/** Delays every POST of the account until `notBefore`; never shortens a longer delay. */
export async function holdAccount(tx: Tx, accountId: string, notBefore: number): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ account_id: accountId, ...freshAccount, not_before: notBefore })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({ not_before: notBefore }).where('accounts.not_before', '<', notBefore),
    )
    .execute();
}

/**
 * Real ms until the account's next dial request (0 or less: now). Locks the account; the sender writes `requested_database`, which spaces
 * requests by `gapMs`.
 */
export async function untilTurn(
  tx: Tx,
  accountId: string,
  { gapMs, databaseNow }: { gapMs: number; databaseNow: number },
): Promise<number> {
  await lockAccount(tx, accountId);
  const query = tx.selectFrom('accounts').select('requested_database').where('account_id', '=', accountId);
  const before = (await query.executeTakeFirst())?.requested_database ?? -Infinity;
  // A future value was written before the clock was set back.
  return before > databaseNow ? 0 : Math.floor(before + gapMs - databaseNow);
}

/** Cuts the pace on a 429, raises it on an accepted batch. Runs in the verdict's transaction. */
export async function notePace(
  tx: Tx,
  batch: Pick<BatchRow, 'campaign_id' | 'batch_id' | 'size'>,
  answer: { verdict: PostVerdict; status?: number | null; now: number },
): Promise<void> {
  const limited = answer.status === 429;
  if (!limited && answer.verdict !== 'confirmed') return;
  const campaign = await findCampaign(tx, batch.campaign_id);
  if (campaign === undefined) return;
  // The usual case, full pace, needs no lock.
  if (!limited && (await readAccount(tx, campaign.accountId)).pace === fullPace) return;
  await lockAccount(tx, campaign.accountId);
  const before = await readAccount(tx, campaign.accountId);
  const limit = campaign.rules.pacing.maxConcurrentCalls;
  const { pace, cutAt } = limited ? cutPace(before, { limit, now: answer.now }) : raisePace(before, { limit, calls: batch.size });
  if (pace === before.pace && cutAt === before.cutAt) return;
  await writeAccount(tx, campaign.accountId, { pace, pace_at: cutAt });
  if (pace === before.pace) return;
  const data = { from: before.pace, to: pace };
  await appendEvents(tx, [{ at: answer.now, campaignId: batch.campaign_id, type: 'account.pace', batchId: batch.batch_id, data }]);
}
