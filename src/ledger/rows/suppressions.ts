import { sql } from 'kysely';
import { purposePrefix, purposeScope } from '../../rules/consent.ts';
import { lockToWrite, requireDoNotCallLock } from '../locks.ts';
import { appendEvents } from '../events.ts';
import { partsOf, readInParts } from '../parts.ts';
import { countRows } from '../reads.ts';
import type { At, Queries, Tx, Store } from '../tx.ts';
import type { Row } from '../schema.ts';

export const accountScope = 'account';

export interface Suppression {
  e164: string;
  /** `account`: every campaign of this database; a campaign id: that one; `purpose:` and a word: campaigns of that purpose. */
  scope: string;
  /** `call:<attempt>`, `person` or `import:<file>`. */
  source: string;
  reason: string | null;
  /** Epoch ms; null: forever. */
  expiresAt: number | null;
}

export interface StoredSuppression extends Suppression {
  createdAt: number;
}

/** Throws DoNotCallLockNeeded, on which `Store.transaction` starts over while no call is dialled. */
export async function addSuppression(tx: Tx, entry: Suppression, now: number): Promise<void> {
  requireDoNotCallLock(tx);
  await upsert(tx, [entry], now);
}

/**
 * All or none; logs new and extended entries. Never shortens one; each withdrawal of consent renews its entry. Returns the number changed.
 * Idempotent.
 */
export async function addSuppressions(store: Store, entries: readonly Suppression[], now: number): Promise<number> {
  return store.transaction(async (tx) => {
    await lockToWrite(tx);
    let changed = 0;
    const sorted = entries.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    for (const part of partsOf(sorted)) {
      const before = await findEntries(
        tx,
        part.map(({ e164 }) => e164),
      );
      const known = new Map(before.map((entry) => [keyOf(entry), entry]));
      const news = part.filter((entry) => isNews(entry, known.get(keyOf(entry)), now));
      await upsert(tx, news, now);
      await appendEvents(
        tx,
        news.map(({ e164, scope, source, expiresAt }) => ({
          at: now,
          campaignId: scope,
          type: 'suppression.added' as const,
          data: { e164, scope, source, expiresAt },
        })),
      );
      changed += news.length;
    }
    return changed;
  });
}

function keyOf({ e164, scope }: Suppression): string {
  return `${e164} ${scope}`;
}

function isNews(entry: Suppression, known: StoredSuppression | undefined, now: number): boolean {
  if (known === undefined) return true;
  if (entry.scope.startsWith(purposePrefix)) return now > known.createdAt;
  return known.expiresAt !== null && (entry.expiresAt === null || entry.expiresAt > known.expiresAt);
}

async function upsert(tx: Tx, entries: readonly Suppression[], now: number): Promise<void> {
  if (entries.length === 0) return;
  const lasting = sql<boolean>`(suppressions.expires_at is not null
    and (excluded.expires_at is null or excluded.expires_at > suppressions.expires_at))
    or (excluded.scope like ${`${purposePrefix}%`} and excluded.created_at > suppressions.created_at)`;
  await tx
    .insertInto('suppressions')
    .values(entries.map(({ expiresAt, ...entry }) => ({ ...entry, created_at: now, expires_at: expiresAt })))
    .onConflict((conflict) =>
      conflict
        .columns(['e164', 'scope'])
        .doUpdateSet((eb) => ({
          source: eb.ref('excluded.source'),
          reason: eb.ref('excluded.reason'),
          created_at: eb.ref('excluded.created_at'),
          expires_at: eb.ref('excluded.expires_at'),
        }))
        .where(lasting),
    )
    .execute();
}

/** Logs and removes entries older than `before`; returns how many. */
export async function removeSuppressions(
  store: Store,
  { scope, now, before = Number.MAX_SAFE_INTEGER }: { scope: string; now: number; before?: number | undefined },
  numbers: readonly string[],
): Promise<number> {
  return store.transaction(async (tx) => {
    await lockToWrite(tx);
    const older = tx.deleteFrom('suppressions').where('scope', '=', scope).where('created_at', '<', before);
    const removed = await older.where('e164', 'in', numbers).returning('e164').execute();
    const events = removed.map(({ e164 }) => ({
      at: now,
      campaignId: scope,
      type: 'suppression.removed' as const,
      data: { e164, scope, source: 'person' },
    }));
    await appendEvents(tx, events);
    return removed.length;
  });
}

export async function findEntries(db: Queries, numbers: readonly string[]): Promise<StoredSuppression[]> {
  if (numbers.length === 0) return [];
  const rows = await db.selectFrom('suppressions').selectAll().where('e164', 'in', numbers).orderBy('e164').orderBy('scope').execute();
  return rows.map(toSuppression);
}

export async function listSuppressions(
  db: Queries,
  query: { scope: string | null; after: { e164: string; scope: string } | null; limit: number },
): Promise<StoredSuppression[]> {
  const { scope, after, limit } = query;
  let rows = db.selectFrom('suppressions').selectAll();
  if (scope !== null) rows = rows.where('scope', '=', scope);
  if (after !== null) {
    rows = rows.where((eb) => eb.or([eb('e164', '>', after.e164), eb.and([eb('e164', '=', after.e164), eb('scope', '>', after.scope)])]));
  }
  return (await rows.orderBy('e164').orderBy('scope').limit(limit).execute()).map(toSuppression);
}

/** Imported entries for this campaign or all that end after `from` and by `to` (epoch ms). */
export async function countImportedEndings(db: Queries, campaignId: string, { from, to }: { from: number; to: number }): Promise<number> {
  const imported = db.selectFrom('suppressions').where('source', 'like', 'import:%');
  const ending = imported.where('expires_at', '>', from).where('expires_at', '<=', to);
  return countRows(ending.where('scope', 'in', [accountScope, campaignId]));
}

export function toSuppression(row: Row<'suppressions'>): StoredSuppression {
  const { created_at: createdAt, expires_at: expiresAt, ...entry } = row;
  return { ...entry, createdAt, expiresAt };
}

/** On the do-not-call list, or consent to the campaign's purpose was withdrawn. */
export type Suppressed = 'suppressed' | 'consent_revoked';

/** Numbers this campaign must not dial now. Without a purpose, any withdrawn consent blocks. */
export async function findSuppressed(
  db: Queries,
  { campaignId, purpose, now }: At & { purpose: string | undefined },
  numbers: readonly string[],
): Promise<ReadonlyMap<string, Suppressed>> {
  const scopes = [accountScope, campaignId, ...(purpose === undefined ? [] : [purposeScope(purpose)])];
  const rows = await readInParts(numbers, (part) =>
    db
      .selectFrom('suppressions')
      .select(['e164', 'scope'])
      .where('e164', 'in', part)
      .where((eb) => {
        const named = eb('scope', 'in', scopes);
        return purpose === undefined ? eb.or([named, eb('scope', 'like', `${purposePrefix}%`)]) : named;
      })
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .execute(),
  );
  const found = new Map<string, Suppressed>();
  for (const { e164, scope } of rows)
    if (!scope.startsWith(purposePrefix)) found.set(e164, 'suppressed');
    else if (!found.has(e164)) found.set(e164, 'consent_revoked');
  return found;
}
