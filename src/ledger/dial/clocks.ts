import { isSameService } from '../../rules/service-api.ts';
import { lockAccount, readAccount, writeAccount } from '../limits/account-pace.ts';
import type { ClockStep } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import type { Queries, Store } from '../tx.ts';

/** Why clocks forbid a POST: the service's is unknown since a connection failed, or too far from ours. */
export type ClockDoubt = 'clock_unread' | 'clocks_apart';

export interface ServiceTime {
  /** Its last `Date`. */
  serviceFrom: number | null;
  /** Its time now; calling hours must be open by it as well. */
  serviceNow: number | null;
  clockDoubt: ClockDoubt | null;
}

/** Real time until clocks are checked again. */
const clockPauseMs: Readonly<Record<ClockDoubt, number>> = { clock_unread: 5_000, clocks_apart: 60_000 };

/** Earliest instant to send, not before `until`; null: now (service time). */
export function pauseForClocks(
  { clockDoubt, now, speed }: { clockDoubt?: ClockDoubt | null; now: number; speed: number },
  until: number | null,
): number | null {
  return clockDoubt == null ? until : Math.max(until ?? 0, now + Math.ceil(clockPauseMs[clockDoubt] * speed));
}

export interface StoredClockReading {
  serviceMs: number;
  /** Real milliseconds since the reading, by the database's clock. */
  agoMs: number;
}

/** A campaign keeps the address as it was written. */
async function accountsAt(db: Queries, address: string): Promise<string[]> {
  const rows = await db.selectFrom('campaigns').select('account_id').distinct().orderBy('account_id').execute();
  return rows.map((row) => row.account_id).filter((accountId) => isSameService(accountId, address));
}

export async function findKeptReading(store: Store, address: string): Promise<StoredClockReading | null> {
  const rows = await store.db.selectFrom('accounts').selectAll().where('read_database', 'is not', null).execute();
  const [latest] = rows
    .filter((row) => isSameService(row.account_id, address))
    .toSorted((a, b) => (b.read_database ?? 0) - (a.read_database ?? 0));
  if (latest?.read_service == null || latest.read_database === null) return null;
  return { serviceMs: latest.read_service, agoMs: (await store.now(store.db)) - latest.read_database };
}

/** `apartMs`: how far the service's clock is ahead of ours, if too far; 0: it is not; null: keeps the earlier finding. */
export async function keepReading(
  store: Store,
  address: string,
  { serviceMs, agoMs, apartMs }: StoredClockReading & { apartMs: number | null },
): Promise<void> {
  const readAt = Math.round((await store.now(store.db)) - agoMs);
  const apart = apartMs === null ? {} : { clocks_apart_ms: apartMs };
  const changes = { read_service: serviceMs, read_database: readAt, ...apart };
  await store.transaction(async (tx) => {
    for (const accountId of await accountsAt(tx, address)) await writeAccount(tx, accountId, changes);
  });
}

/** Logs clock steps for every campaign under way, and when they were noticed for the account (service time). */
export async function noteSteps(
  store: Store,
  address: string,
  { steps, now, steppedAt }: { steps: readonly ClockStep[]; now: number; steppedAt: number },
): Promise<void> {
  await store.transaction(async (tx) => {
    for (const accountId of await accountsAt(tx, address)) {
      await lockAccount(tx, accountId);
      const known = (await readAccount(tx, accountId)).steppedAt;
      await writeAccount(tx, accountId, { stepped_at: Math.max(known, steppedAt) });
      const campaigns = await tx
        .selectFrom('campaigns')
        .select('campaign_id')
        .where('account_id', '=', accountId)
        .where('state', 'in', ['running', 'paused', 'draining'])
        .orderBy('campaign_id')
        .execute();
      const events = campaigns.flatMap(({ campaign_id: campaignId }) =>
        steps.map((data) => ({ at: now, campaignId, type: 'clock.stepped' as const, data })),
      );
      await appendEvents(tx, events);
    }
  });
}
