import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { requestedAttemptStates } from '../../rules/ledger.ts';
import type { Outcome } from '../../rules/outcome.ts';
import { groupBy } from '../../rules/collections.ts';
import { ownTerms, type OwnTerms, type RowTerms } from '../../rules/row-terms.ts';
import { termsOf } from '../rows/row-terms.ts';
import type { RecipientRow } from '../schema.ts';
import type { Queries } from '../tx.ts';
import { waitsFor } from './waiting.ts';

/** A row of a campaign as lists of rows show it. Instants are service time. */
export interface CampaignRow {
  row: number;
  externalId: string | null;
  /** Null where the row has no usable number. */
  e164: string | null;
  state: 'waiting' | 'open' | 'done';
  outcome: Outcome | null;
  reason: string | null;
  /** Calls that were placed, or may have been, and the one that the service refused. */
  attempts: number;
  /** Of the last of them. */
  disposition: string | null;
  lastDialedAt: number | null;
  /** When the row is looked at again; null unless it waits. */
  dueAt: number | null;
  changedAt: number;
  terms: ShownTerms;
}

/** Where, when and in which order a row is called, as its list says; null: it says nothing of that. */
type ShownTerms = Omit<RowTerms, 'externalId' | 'e164' | keyof OwnTerms> & {
  [Term in keyof OwnTerms]-?: Exclude<OwnTerms[Term], undefined>;
};

/** Which rows are wanted. A row has to meet everything that is said. */
export interface RowQuery {
  states?: readonly CampaignRow['state'][];
  outcomes?: readonly Outcome[];
  reasons?: readonly string[];
  /** The rule that keeps it waiting, as `readWaiting` names them. */
  waitingFor?: string;
  /** Part of a number (at least four digits), a whole id, or the number of a row with `#` before it. */
  search?: string;
  /** Only rows after this one. */
  afterRow?: number;
  /** At most so many; 50 where nothing is said. */
  limit?: number;
}

const usualLimit = 50;

/** Rows of a campaign in file order, a page at a time: `afterRow` of the next page is the last row of this one. */
export async function readCampaignRows(db: Queries, campaignId: string, query: RowQuery, now: number): Promise<CampaignRow[]> {
  const { states, outcomes, reasons, waitingFor, search, afterRow = 0, limit = usualLimit } = query;
  let rows = db
    .selectFrom('recipients')
    .select(['recipient_id', 'row_number', 'external_id', 'e164', 'state', 'outcome', 'reason', 'due_at', 'changed_at']) // prettier-ignore
    .select(['zones', 'country', 'regions', 'not_before', 'expires_at', 'terms'])
    .where('campaign_id', '=', campaignId)
    .where('row_number', '>', afterRow);
  if (states !== undefined) rows = rows.where('state', 'in', states);
  if (outcomes !== undefined) rows = rows.where('outcome', 'in', outcomes);
  if (reasons !== undefined) rows = rows.where('reason', 'in', reasons);
  if (waitingFor !== undefined) rows = rows.where(await waitsFor(db, campaignId, { rule: waitingFor, now }));
  if (search !== undefined) rows = rows.where(matching(search));
  const found = await rows.orderBy('row_number').limit(limit).execute();
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
      attempts: calls.length,
      disposition: last?.disposition ?? null,
      lastDialedAt: last?.posted_at ?? null,
      dueAt: row.state === 'waiting' ? Math.max(now, row.due_at) : null,
      changedAt: row.changed_at,
      terms: shownTerms(row),
    };
  });
}

/** A row that is known to be there, as it is stored. */
export function findRecipient(db: Queries, campaignId: string, row: number): Promise<RecipientRow> {
  return db
    .selectFrom('recipients')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .where('row_number', '=', row)
    .executeTakeFirstOrThrow();
}

const nothingSaid = Object.fromEntries(ownTerms.map((term) => [term, null]));

function shownTerms(row: Parameters<typeof termsOf>[0]): ShownTerms {
  const { externalId: _, e164: _number, ...terms } = termsOf(row);
  return { ...nothingSaid, ...terms } as ShownTerms;
}

function matching(search: string): RawBuilder<SqlBool> {
  const text = search.trim();
  const row = /^#(\d{1,9})$/.exec(text)?.[1];
  if (row !== undefined) return sql`row_number = ${Number(row)}`;
  const digits = text.replaceAll(/[\s().-]/g, '').replace(/^\+/, '');
  const byId = sql<SqlBool>`external_id = ${text}`;
  return /^\d{4,}$/.test(digits) ? sql<SqlBool>`(${byId} or e164 like ${`%${digits}%`})` : byId;
}
