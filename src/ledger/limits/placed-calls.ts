import { sql } from 'kysely';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { capsLookBackMs, type FrequencyCap, type PlacedCall } from '../../rules/frequency-caps.ts';
import { callsAllowedAt, capsFor } from '../../rules/attempts/legal-caps.ts';
import type { RecipientPlace } from '../../rules/hours/legal-hours.ts';
import { isPostgres, type Queries, type Tx } from '../tx.ts';
import { groupBy } from '../../rules/collections.ts';
import { readInParts } from '../parts.ts';
import { budgetAllowsAt, type AttemptBudget } from '../../rules/attempts/attempt-budget.ts';

export interface Callee {
  e164: string;
  /** The user's own id of the person; null where the list has none. */
  person: string | null;
  /** Where they may be: the caps of the law there hold. */
  place: RecipientPlace;
}

/** A batch is given up after this long, and was posted for the last time before. */
const longestRepostMs = 16 * 60_000;

/** When a call was last posted: while the fate of a batch that was posted again is unknown, its attempts keep the first time. */
export const lastPostedAt = sql<number>`coalesce(
  (select max(posts.posted_at) from posts where posts.batch_id = attempts.batch_id), attempts.posted_at)`;

/** The bound that `attempts.posted_at` keeps of all calls that were last posted after `since`. */
export function firstPostedAfter(since: number): number {
  return Math.max(-1, since - longestRepostMs);
}

/** Records tell the second in which a call began. */
const recordGrainMs = 1_000;

/** When the phone rang, or may at the latest: a record's time, put on the ledger's clock by what the service's showed before the POST. */
export const ringsAt = sql<number>`coalesce(attempts.rang_at + ${sql.lit(recordGrainMs)} + coalesce(
  (select max(posts.posted_at - posts.service_from) from posts where posts.batch_id = attempts.batch_id), 0), attempts.rings_until)`;

/** Names the lock; migrations take another one. */
const peopleLock = 1;

/**
 * Until the dial transaction ends no other campaign places a call that its caps by person have not seen. A number needs no lock, since only
 * one call to it can be open.
 */
export async function lockPeople(tx: Tx, caps: readonly FrequencyCap[], batchId: string): Promise<void> {
  if (!isPostgres(tx)) return;
  const attempts = tx.selectFrom('attempts').select('person').where('batch_id', '=', batchId);
  if ((await attempts.where('person', 'is not', null).executeTakeFirst()) === undefined) return;
  // Who only places calls need not wait for others that do the same.
  const capped = caps.some(({ by }) => by === 'person');
  const lock = capped ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`;
  await sql`select ${lock}(${sql.lit(peopleLock)})`.execute(tx);
}

/**
 * When one more call to each callee keeps every cap of campaign and law. Calls of all campaigns count, from when they may have been placed;
 * not those given back or never sent. A refusal is believed until a record shows a call.
 */
export async function readCaps(
  db: Queries,
  rules: Pick<CampaignRules, 'caps' | 'law'>,
  { callees, now }: { callees: readonly Callee[]; now: number },
): Promise<(callee: Callee) => number> {
  const capped = callees.map((callee) => ({ ...callee, caps: capsFor(rules, callee.place) }));
  const held = new Set(capped.flatMap(({ caps }) => caps));
  if (held.size === 0) return () => now;
  const since = now - capsLookBackMs([...held]);
  const cappedBy = (by: FrequencyCap['by']): readonly Callee[] => capped.filter(({ caps }) => caps.some((cap) => cap.by === by));
  const numbers = cappedBy('number').map(({ e164 }) => e164);
  const people = cappedBy('person').flatMap(({ person }) => person ?? []);
  const byNumber = await placedSince(db, { column: 'e164', values: numbers, since });
  const byPerson = await placedSince(db, { column: 'person', values: people, since });
  return ({ e164, person, place }) => {
    const calls = { number: byNumber.get(e164) ?? [], person: byPerson.get(person) ?? [] };
    return callsAllowedAt(rules, place, calls, now);
  };
}

async function placedSince(
  db: Queries,
  { column, values, since }: { column: 'e164' | 'person'; values: readonly string[]; since: number },
): Promise<Map<string | null, PlacedCall[]>> {
  const rows = await readInParts(values, (part) =>
    db
      .selectFrom('attempts')
      .select([column, ringsAt.as('at'), 'disposition'])
      .where(column, 'in', part)
      .where(ringsAt, '>', since)
      .where('state', 'in', requestedAttemptStates)
      .execute(),
  );
  const calls = rows.map(({ [column]: value, at, disposition }) => {
    return { value, at, talked: disposition === 'answered' || disposition === 'opted_out' };
  });
  return groupBy(calls, ({ value }) => value);
}

export interface Budgeted {
  recipientId: string;
  e164: string;
  counted: number;
  budgetFrom: number;
}

/** When budgets of attempts allow each recipient one more; null: never. Reads nothing unless a number's budget or a renewal asks. */
export async function readBudgets(
  db: Queries,
  budget: AttemptBudget,
  { recipients, now }: { recipients: readonly Budgeted[]; now: number },
): Promise<(recipient: Budgeted) => number | null> {
  const since = budget.resetAfterMs === null ? -1 : now - budget.resetAfterMs;
  const dialled = recipients.filter(({ counted }) => counted > 0).map(({ recipientId }) => recipientId);
  const numbers = recipients.map(({ e164 }) => e164);
  const own = budget.resetAfterMs === null ? null : await countedSince(db, { column: 'recipient_id', values: dialled, since });
  const shared = budget.maxAttemptsPerNumber === null ? null : await countedSince(db, { column: 'e164', values: numbers, since });
  return ({ recipientId, e164, counted, budgetFrom }) => {
    const byRecipient =
      own === null
        ? Array.from({ length: counted }, () => 0)
        : (own.get(recipientId) ?? []).filter(({ number }) => number > budgetFrom).map(({ at }) => at);
    const byNumber = (shared?.get(e164) ?? []).map(({ at }) => at);
    return budgetAllowsAt(budget, { byRecipient, byNumber }, now);
  };
}

async function countedSince(
  db: Queries,
  { column, values, since }: { column: 'recipient_id' | 'e164'; values: readonly string[]; since: number },
): Promise<Map<string, { at: number; number: number }[]>> {
  const rows = await readInParts(values, (part) =>
    db
      .selectFrom('attempts')
      .select([column, 'number', lastPostedAt.as('at')])
      .where(column, 'in', part)
      .where('posted_at', '>', firstPostedAfter(since))
      .where('state', '=', 'settled')
      .where('counted', '=', 1)
      .execute(),
  );
  return groupBy(rows, (row) => row[column]);
}
