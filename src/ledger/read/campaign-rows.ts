import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import { outcomes as allOutcomes, type Outcome } from '../../rules/outcome.ts';
import { groupBy } from '../../rules/collections.ts';
import { ownTerms, type OwnTerms, type RowTerms } from '../../rules/row-terms.ts';
import { sqlStates } from '../parts.ts';
import { keyOfRow } from '../rows/list-order.ts';
import { termsOf } from '../rows/row-terms.ts';
import { isPostgres, type Queries } from '../tx.ts';
import { waitsFor } from './waiting.ts';

/** A row as shown in lists. Instants are service time. */
export interface CampaignRow {
  row: number;
  externalId: string | null;
  /** Null: no usable number. */
  e164: string | null;
  state: 'waiting' | 'open' | 'done';
  outcome: Outcome | null;
  reason: string | null;
  /** Result of the last talk, by the campaign's rules. */
  result: string | null;
  /** Calls placed, possibly placed, or refused by the service. */
  attempts: number;
  /** Of the last call. */
  disposition: string | null;
  lastDialedAt: number | null;
  /** When the row is due; null unless it waits. */
  dueAt: number | null;
  changedAt: number;
  terms: VisibleTerms;
  /** JSON, if requested. */
  cells?: string;
}

/** Where, when and in which order a row is called, per the list; null: not given. */
type VisibleTerms = Omit<RowTerms, 'externalId' | 'e164' | keyof OwnTerms> & {
  [Term in keyof OwnTerms]-?: Exclude<OwnTerms[Term], undefined>;
};

/** A row must match every given field. */
export interface RowQuery {
  rows?: readonly number[] | undefined;
  states?: readonly CampaignRow['state'][] | undefined;
  outcomes?: readonly (Outcome | 'in_progress')[] | undefined;
  reasons?: readonly string[] | undefined;
  results?: readonly string[] | undefined;
  /** Changed at this instant (service time) or later. */
  changedSince?: number | undefined;
  /** The rule it waits for, as `readWaiting` names it. */
  waitingFor?: string | undefined;
  search?: RowSearch | undefined;
  afterRow?: number | undefined;
  /** Default: 50. */
  limit?: number;
  cells?: boolean;
}

export interface RowSearch {
  /** A full id, or `#` and a row number; plus what `everywhere` adds. */
  text: string;
  /** Also part of a number (at least four digits) or of any cell, for readers who may see those. */
  everywhere: boolean;
}

/** `next`: waiting rows, next call first; `last`: latest call first; `column`: as ordered by `orderByColumn`. */
export type RowOrder = { by: 'row' } | { by: 'next' } | { by: 'last' } | { by: 'column'; place: number };

const usualLimit = 50;

/** In file order; the last row is `afterRow` of the next page. */
export async function readCampaignRows(db: Queries, campaignId: string, query: RowQuery, now: number): Promise<CampaignRow[]> {
  const { limit = usualLimit } = query;
  // Per status, recipients_standing gives the row order without a sort.
  const found: SelectedRow[] = [];
  for (const only of statusesOf(query) ?? [null]) {
    const condition = await conditionOf(db, campaignId, query, { now, only });
    const part = selectRows(db, campaignId, query)
      .where('row_number', '>', query.afterRow ?? 0)
      .where(condition);
    found.push(...(await part.orderBy('row_number').limit(limit).execute()));
  }
  const first = found.toSorted((a, b) => a.row_number - b.row_number).slice(0, limit);
  return withCalls(db, first, now);
}

/** The same in another order; `after`: `next` of the previous page, empty for the first. */
export async function readPeople(
  db: Queries,
  campaignId: string,
  { order, after, ...query }: Omit<RowQuery, 'afterRow'> & { order: RowOrder; after: string },
  now: number,
): Promise<{ rows: CampaignRow[]; next: string | null }> {
  const { limit = usualLimit } = query;
  const keys = after.split('.').map(Number);
  if (order.by === 'row') {
    const found = await readCampaignRows(db, campaignId, { ...query, afterRow: keys[0] ?? 0, limit: limit + 1 }, now);
    const rows = found.slice(0, limit);
    return { rows, next: found.length > limit ? String(rows.at(-1)?.row) : null };
  }
  const found = await readOrdered(db, { campaignId, order, keys: after === '' ? null : keys, query, now });
  const shown = found.slice(0, limit);
  return { rows: await withCalls(db, shown, now), next: found.length > limit ? (shown.at(-1)?.key ?? null) : null };
}

interface Ordered {
  campaignId: string;
  order: Exclude<RowOrder, { by: 'row' }>;
  /** Of the previous page's last row. */
  keys: readonly number[] | null;
  query: RowQuery;
  now: number;
}

/** A page plus one row, each with its page key. Every order is an index's. */
async function readOrdered(db: Queries, { campaignId, order, keys, query, now }: Ordered): Promise<(SelectedRow & { key: string })[]> {
  const { limit = usualLimit } = query;
  const [first = 0, second = 0, third = 0] = keys ?? [];
  const condition = await conditionOf(db, campaignId, query, { now });
  const rows = selectRows(db, campaignId, query).limit(limit + 1);
  if (order.by === 'next') {
    // Served by the index recipients_next.
    const waiting = rows.where(sql<SqlBool>`state = 'waiting'`).where(condition);
    const page = keys === null ? waiting : waiting.where(sql<SqlBool>`(due_at, row_number) > (${first}, ${second})`);
    const found = await page.orderBy('due_at').orderBy('row_number').execute();
    return found.map((row) => ({ ...row, key: `${row.due_at}.${row.row_number}` }));
  }
  // The condition's unqualified columns need a single table.
  const theirs = sql<SqlBool>`exists (select 1 from recipients one where one.recipient_id = recipients.recipient_id and ${condition})`;
  if (order.by === 'last') {
    const called = sqlStates(requestedAttemptStates);
    const last = rows
      .innerJoin('attempts', 'attempts.recipient_id', 'recipients.recipient_id')
      .select(['attempts.posted_at', 'attempts.number'])
      .where('attempts.campaign_id', '=', campaignId)
      .where(theirs).where(sql<SqlBool>`attempts.posted_at is not null and attempts.state in (${called})
        and not exists (select 1 from attempts later where later.recipient_id = attempts.recipient_id
          and later.number > attempts.number and later.posted_at is not null and later.state in (${called}))`);
    const id = `${campaignId}/${second}/${third}`;
    const page = keys === null ? last : last.where(sql<SqlBool>`(attempts.posted_at, attempts.attempt_id) < (${first}, ${id})`);
    const found = await page.orderBy('attempts.posted_at', 'desc').orderBy('attempts.attempt_id', 'desc').execute();
    return found.map((row) => ({ ...row, key: `${row.posted_at ?? 0}.${row.row_number}.${row.number}` }));
  }
  const { place } = order;
  const cells = rows
    .innerJoin('list_cells', (join) =>
      join.onRef('list_cells.campaign_id', '=', 'recipients.campaign_id').onRef('list_cells.row_number', '=', 'recipients.row_number'),
    )
    .where('list_cells.campaign_id', '=', campaignId)
    .where('list_cells.place', '=', place)
    .where(theirs);
  // The key is the row number alone: a cell's content must not appear in a URL.
  const key = keyOfRow(db, { campaignId, place, row: first });
  const page = keys === null ? cells : cells.where(sql<SqlBool>`(list_cells.folded, list_cells.row_number) > (${key}, ${first})`);
  const found = await page.orderBy('list_cells.folded').orderBy('list_cells.row_number').execute();
  return found.map((row) => ({ ...row, key: String(row.row_number) }));
}

function selectRows(db: Queries, campaignId: string, { cells = false }: RowQuery) {
  const rows = db.selectFrom('recipients').select(shownColumns).where('recipients.campaign_id', '=', campaignId);
  return rows.$if(cells, (query) => query.select('recipients.cells'));
}

/** Conditions on unqualified columns of `recipients`; `only`: of this status. */
export async function conditionOf(
  db: Queries,
  campaignId: string,
  query: RowQuery,
  { now, only = null }: { now: number; only?: string | null },
): Promise<RawBuilder<SqlBool>> {
  const { rows, reasons, results, changedSince, waitingFor, search } = query;
  const statuses = only === null ? statusesOf(query) : null;
  const all = [
    only === null ? sql`1 = 1` : sqlStatus(only),
    ...(statuses === null ? [] : [isIn(statusColumn, statuses)]),
    ...(rows === undefined ? [] : [isIn(sql`row_number`, rows)]),
    ...(reasons === undefined ? [] : [isIn(sql`reason`, reasons)]),
    ...(results === undefined ? [] : [isIn(sql`result`, results)]),
    ...(changedSince === undefined ? [] : [sql`changed_at >= ${changedSince}`]),
    ...(waitingFor === undefined ? [] : [await waitsFor(db, campaignId, { rule: waitingFor, now })]),
    ...(search === undefined ? [] : [matching(db, search)]),
  ];
  return sql<SqlBool>`${sql.join(all, sql` and `)}`;
}

const shownColumns = [
  'recipients.recipient_id', 'recipients.row_number', 'recipients.external_id', 'recipients.e164', 'recipients.state', 'recipients.outcome',
  'recipients.reason', 'recipients.due_at', 'recipients.changed_at', 'recipients.zones', 'recipients.country', 'recipients.regions',
  'recipients.not_before', 'recipients.expires_at', 'recipients.terms', 'recipients.result',
] as const; // prettier-ignore

type SelectedRow = Awaited<ReturnType<ReturnType<typeof selectRows>['execute']>>[number];

/** Statuses that the query selects; null: all. */
function statusesOf({ states, outcomes }: RowQuery): readonly string[] | null {
  if (states === undefined && outcomes === undefined) return null;
  const open = ['waiting', 'open'] as const;
  const named = (outcomes ?? [...allOutcomes, 'in_progress']).flatMap((outcome) => (outcome === 'in_progress' ? open : outcome));
  return named.filter((name) => states?.includes(name === 'waiting' || name === 'open' ? name : 'done') ?? true);
}

const statusColumn = sql`coalesce(outcome, state)`;

function isIn(column: RawBuilder<unknown>, values: readonly unknown[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`1 = 0` : sql`${column} in (${sql.join(values)})`;
}

/** Rows of one status, as recipients_standing indexes them. */
function sqlStatus(name: string): RawBuilder<SqlBool> {
  return name === 'waiting' || name === 'open' ? sql`(state = ${name} and outcome is null)` : sql`(state = 'done' and outcome = ${name})`;
}

async function withCalls(db: Queries, found: readonly SelectedRow[], now: number): Promise<CampaignRow[]> {
  const ids = found.map((row) => row.recipient_id);
  const attempts =
    ids.length === 0
      ? []
      : await db
          .selectFrom('attempts')
          .select(['recipient_id', 'disposition', 'posted_at'])
          .where('recipient_id', 'in', ids)
          .where('state', 'in', requestedAttemptStates)
          .where('posted_at', 'is not', null)
          .orderBy('number')
          .execute();
  const callsOf = groupBy(attempts, (attempt) => attempt.recipient_id);
  return found.map((row) => {
    const calls = callsOf.get(row.recipient_id) ?? [];
    const last = calls.at(-1);
    return {
      row: row.row_number,
      externalId: row.external_id,
      e164: row.e164,
      state: row.state,
      outcome: row.outcome,
      reason: row.reason,
      result: row.result,
      attempts: calls.length,
      disposition: last?.disposition ?? null,
      lastDialedAt: last?.posted_at ?? null,
      dueAt: row.state === 'waiting' ? Math.max(now, row.due_at) : null,
      changedAt: row.changed_at,
      terms: shownTerms(row),
      ...(row.cells === undefined ? {} : { cells: row.cells }),
    };
  });
}

const noTerms = Object.fromEntries(ownTerms.map((term) => [term, null]));

function shownTerms(row: Parameters<typeof termsOf>[0]): VisibleTerms {
  const { externalId: _, e164: _number, ...terms } = termsOf(row);
  return { ...noTerms, ...terms } as VisibleTerms;
}

/** Shorter texts match nearly every row. */
const fewestCharacters = 2;

function matching(db: Queries, { text: written, everywhere }: RowSearch): RawBuilder<SqlBool> {
  const text = written.trim();
  const row = /^#(\d{1,9})$/.exec(text)?.[1];
  if (row !== undefined) return sql`row_number = ${Number(row)}`;
  const byId = sql<SqlBool>`external_id = ${text}`;
  if (!everywhere) return byId;
  const digits = text.replaceAll(/[\s().-]/g, '').replace(/^\+/, '');
  if (/^\d+$/.test(digits)) return digits.length < 4 ? byId : sql<SqlBool>`(${byId} or e164 like ${`%${digits}%`} or ${inCells(db, text)})`;
  return text.length < fewestCharacters ? byId : sql<SqlBool>`(${byId} or ${inCells(db, text)})`;
}

/** Case-insensitive match in any cell. */
function inCells(db: Queries, text: string): RawBuilder<SqlBool> {
  const written = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[\\%_]/g, '\\$&');
  return isPostgres(db) ? sql`cells ilike ${`%${written}%`}` : sql`cells like ${`%${written}%`} escape '\\'`;
}
