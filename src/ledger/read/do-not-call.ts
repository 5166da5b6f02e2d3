import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { toSuppression, type StoredSuppression } from '../rows/suppressions.ts';
import type { Queries } from '../tx.ts';

/** Which entries of the do-not-call list are wanted. */
export interface EntryQuery {
  /** Null: those for all campaigns and those for single ones. */
  scope: string | null;
  /** Four digits or more of a number, or a part of who said so or of the reason; empty: all. */
  search: string;
  /** From 1. A place and no number of a person, so that it may stand in an address. */
  page: number;
  pageSize: number;
}

/** One page of the do-not-call list in the order of numbers, and whether there is another one. Walks over the pages before it. */
export async function readEntryPage(
  db: Queries,
  { scope, search, page, pageSize }: EntryQuery,
): Promise<{ entries: StoredSuppression[]; hasMore: boolean }> {
  const rows = await db
    .selectFrom('suppressions')
    .selectAll()
    .$if(scope !== null, (query) => query.where('scope', '=', scope ?? ''))
    .$if(search !== '', (query) => query.where(matching(search)))
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
  return sql`(${byNumber} lower(source) like ${part} escape '~' or lower(reason) like ${part} escape '~')`;
}
