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

export interface CappedRecipient {
  e164: string;
  /** The list's own id of the recipient; null: none. */
  person: string | null;
  /** Possible location; its legal caps apply. */
  place: RecipientPlace;
}

/** A batch is given up after this long; its last POST was earlier. */
const longestRepostMs = 16 * 60_000;

/** While a reposted batch is unknown, its attempts keep the first time. */
export const lastPostedAt = sql<number>`coalesce(
  (select max(posts.posted_at) from posts where posts.batch_id = attempts.batch_id), attempts.posted_at)`;

/** Lower bound of `attempts.posted_at` for calls last posted after `since`. */
export function firstPostedAfter(since: number): number {
  return Math.max(-1, since - longestRepostMs);
}

/** Records show the second in which a call began. */
const recordGrainMs = 1_000;

/** When the phone rang, or may at the latest: the record's time, on the ledger's clock by the service's clock before the POST. */
export const ringsAt = sql<number>`coalesce(attempts.rang_at + ${sql.lit(recordGrainMs)} + coalesce(
  (select max(posts.posted_at - posts.service_from) from posts where posts.batch_id = attempts.batch_id), 0), attempts.rings_until)`;

/** Advisory lock key; migrations use another one. */
const peopleLock = 1;

/**
 * Until the dial transaction ends, no other campaign places a call its per-person caps have not counted. Numbers need no lock: each has at
 * most one open call.
 */
export async function lockPeople(tx: Tx, caps: readonly FrequencyCap[], batchId: string): Promise<void> {
  if (!isPostgres(tx)) return;
  const attempts = tx.selectFrom('attempts').select('person').where('batch_id', '=', batchId);
  if ((await attempts.where('person', 'is not', null).executeTakeFirst()) === undefined) return;
  // Campaigns without such a cap need not wait for each other.
  const capped = caps.some(({ by }) => by === 'person');
  const lock = capped ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`;
  await sql`select ${lock}(${sql.lit(peopleLock)})`.execute(tx);
}

/**
 * When each recipient may be called again under all caps of campaign and law. Counts calls of all campaigns from when they may have been
 * placed, unless given back or never sent; trusts a refusal until a record shows a call.
 */
export async function readCaps(
  db: Queries,
  rules: Pick<CampaignRules, 'caps' | 'law'>,
  { callees, now }: { callees: readonly CappedRecipient[]; now: number },
): Promise<(recipient: CappedRecipient) => number> {
  const capped = callees.map((recipient) => ({ ...recipient, caps: capsFor(rules, recipient.place) }));
  const held = new Set(capped.flatMap(({ caps }) => caps));
  if (held.size === 0) return () => now;
  const since = now - capsLookBackMs([...held]);
  const cappedBy = (by: FrequencyCap['by']): readonly CappedRecipient[] => capped.filter(({ caps }) => caps.some((cap) => cap.by === by));
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

/** When the attempt budgets allow one more call; null: never. Reads attempts only for a per-number budget or a renewal. */
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
