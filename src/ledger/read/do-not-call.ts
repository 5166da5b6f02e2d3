import { purposePrefix } from '../../rules/consent.ts';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { accountScope, toSuppression, type StoredSuppression } from '../rows/suppressions.ts';
import type { Queries } from '../tx.ts';

/** `asked`: said in a call; `imported`: from a file; `single`: for one campaign. */
export const entryKinds = ['all', 'asked', 'imported', 'single'] as const;
export type EntryKind = (typeof entryKinds)[number];

const conditions: Readonly<Record<EntryKind, RawBuilder<SqlBool>>> = {
  all: sql`1 = 1`,
  asked: sql`source like 'call:%'`,
  imported: sql`source like 'import:%'`,
  single: sql`scope <> ${accountScope} and scope not like ${`${purposePrefix}%`}`,
};

export interface EntryQuery {
  kind: EntryKind;
  /** At least four digits of a number, or part of source, reason or campaign id; empty: all. */
  search: string;
  /** From 1. Safe in a URL: it is no recipient's number. */
  page: number;
  pageSize: number;
}

/** Newest first. Reads over the pages before it. */
export async function readEntryPage(
  db: Queries,
  { kind, search, page, pageSize }: EntryQuery,
): Promise<{ entries: StoredSuppression[]; hasMore: boolean }> {
  const rows = await db
    .selectFrom('suppressions')
    .selectAll()
    .where(conditions[kind])
    .$if(search !== '', (query) => query.where(matching(search)))
    .orderBy('created_at', 'desc')
    .orderBy('e164')
    .orderBy('scope')
    .limit(pageSize + 1)
    .offset((page - 1) * pageSize)
    .execute();
  return { entries: rows.slice(0, pageSize).map(toSuppression), hasMore: rows.length > pageSize };
}

function matching(search: string): RawBuilder<SqlBool> {
  const digits = search.replaceAll(/[\s().-]/g, '').replace(/^\+/, '');
  const byNumber = /^\d{4,}$/.test(digits) ? sql<SqlBool>`e164 like ${`%${digits}%`} or` : sql.raw('');
  const part = `%${search.toLowerCase().replaceAll(/[%_~]/g, '~$&')}%`;
  const named = ['source', 'reason', 'scope'].map((column) => sql<SqlBool>`lower(${sql.ref(column)}) like ${part} escape '~'`);
  return sql`(${byNumber} ${sql.join(named, sql` or `)})`;
}

export interface ListFigures {
  /** Including expired ones. */
  kinds: Readonly<Record<EntryKind, number>>;
  /** In force at `now`; of these, for all campaigns. */
  holding: number;
  holdingForAll: number;
  /** Added within `spanMs`; of these, said in a call. */
  added: number;
  addedInCalls: number;
  /** In force, and ending within `endMs`. */
  ending: number;
}

/** Reads the whole list once. */
export async function readListFigures(
  db: Queries,
  { now, spanMs, endMs }: { now: number; spanMs: number; endMs: number },
): Promise<ListFigures> {
  const holds = sql`(expires_at is null or expires_at > ${now})`;
  const isNew = sql`created_at > ${now - spanMs}`;
  const sums = {
    ...conditions,
    holding: holds,
    holdingForAll: sql`${holds} and scope = ${accountScope}`,
    added: isNew,
    addedInCalls: sql`${isNew} and ${conditions.asked}`,
    ending: sql`${holds} and expires_at <= ${now + endMs}`,
  };
  const found = await db
    .selectFrom('suppressions')
    .select(
      Object.entries(sums).map(([name, condition]) =>
        sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`.as(name as keyof typeof sums),
      ),
    )
    .executeTakeFirstOrThrow();
  const { all, asked, imported, single, ...others } = found;
  return { kinds: { all, asked, imported, single }, ...others };
}
