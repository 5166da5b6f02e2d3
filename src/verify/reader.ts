import { sql, type SelectQueryBuilder } from 'kysely';
import type { Queries } from '../ledger/tx.ts';
import type { CallFacts, LoggedEvent } from './book.ts';

/** All database reads of the audit: plain rows, in pages, by its own statements. */
const perQuery = 500;
const perPage = 5_000;

export async function log(db: Queries, after: number): Promise<LoggedEvent[]> {
  const rows = await db.selectFrom('events').selectAll().where('seq', '>', after).orderBy('seq').limit(perPage).execute();
  return rows.map(({ seq, at, campaign_id: campaignId, type, ...row }) => ({
    seq,
    at,
    campaignId,
    type: type as LoggedEvent['type'],
    ...(row.recipient_id === null ? {} : { recipientId: row.recipient_id }),
    ...(row.attempt_id === null ? {} : { attemptId: row.attempt_id }),
    ...(row.batch_id === null ? {} : { batchId: row.batch_id }),
    ...(row.data === null ? {} : { data: JSON.parse(row.data) as Record<string, unknown> }),
  }));
}

export async function lastSeq(db: Queries): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('seq').as('seq'))
    .executeTakeFirst();
  return row?.seq ?? 0;
}

export async function meta(db: Queries, key: string): Promise<string | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value ?? null;
}

/** From records and reports: when the phone rang, and when the call was first seen as over. */
export async function callFacts(db: Queries, attemptIds: readonly string[]): Promise<Map<string, CallFacts>> {
  const rows = await readInParts(attemptIds, (part) =>
    db
      .selectFrom('attempts')
      .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
      .select(['attempts.attempt_id', 'attempts.rang_at', 'attempts.over_at', 'conversations.finished_at'])
      .where('attempts.attempt_id', 'in', part)
      .execute(),
  );
  return new Map(
    rows.map(({ attempt_id: attemptId, rang_at: rangAt, over_at: reported, finished_at: recorded }) => {
      const overAt = reported === null || recorded === null ? (reported ?? recorded) : Math.min(reported, recorded);
      return [attemptId, { rangAt, overAt }];
    }),
  );
}

/** Unowned records of an agent that were over by `until`: if they are our calls, those held no line. */
export async function countUnownedOver(db: Queries, agentId: string, until: number): Promise<number> {
  const row = await db
    .selectFrom('conversations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('finished_at', '<=', until)
    .executeTakeFirstOrThrow();
  return row.count;
}

export type CampaignRow = Awaited<ReturnType<typeof campaigns>>[number] & { figures: Map<string, number> };

export async function campaigns(db: Queries) {
  return db
    .selectFrom('campaigns')
    .select(['campaign_id', 'state', 'rules', 'rows_total', 'rows_rejected', 'file_hash', 'agent_id', 'account_id', 'api'])
    .where('state', '!=', 'importing')
    .execute();
}

/** Counts of rows by outcome and calls by disposition. */
export async function figures(db: Queries, campaignId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('aggregates')
    .select(['kind', 'value', 'count'])
    .where('campaign_id', '=', campaignId)
    .where('kind', 'in', ['outcome', 'disposition'])
    .where('count', '!=', 0)
    .execute();
  return new Map(rows.map(({ kind, value, count }) => [`${kind} ${value}`, count]));
}

export type Scope = { ids: readonly string[] } | { after: string };

function within<DB, Table extends keyof DB, Row>(query: SelectQueryBuilder<DB, Table, Row>, key: string, scope: Scope) {
  const id = sql.ref(key);
  const isMeant = 'ids' in scope ? sql<boolean>`${id} in (${sql.join(scope.ids)})` : sql<boolean>`${id} > ${scope.after}`;
  return query.where(isMeant).orderBy(id).limit(perPage).execute();
}

/** In parts that fit in memory. */
export async function* partsOf<Row extends { id: string }>(
  ids: readonly string[] | null,
  read: (scope: Scope) => Promise<Row[]>,
): AsyncGenerator<{ ids: readonly string[] | null; rows: Row[] }> {
  if (ids !== null) {
    for await (const part of chunksOf(ids)) yield { ids: part, rows: await read({ ids: part }) };
    return;
  }
  for (let after = ''; ;) {
    const rows = await read({ after });
    yield { ids, rows };
    const last = rows.at(-1);
    if (last === undefined || rows.length < perPage) return;
    after = last.id;
  }
}

export type RecipientRow = Awaited<ReturnType<typeof recipients>>[number];

export async function recipients(db: Queries, scope: Scope) {
  const query = db
    .selectFrom('recipients')
    .select(['recipient_id as id', 'campaign_id', 'external_id', 'e164', 'zones', 'country', 'regions'])
    .select(['not_before', 'expires_at', 'terms', 'outcome', 'reason', 'state', 'row_number', 'cells', 'attempts', 'last_attempt_id'])
    .select(['taken_out_at', 'result']);
  return within(query, 'recipient_id', scope);
}

export type AttemptRow = Awaited<ReturnType<typeof attempts>>[number];

/** Attempts, with the record that each owns and whether it is final. */
export async function attempts(db: Queries, scope: Scope) {
  const query = db
    .selectFrom('attempts')
    .leftJoin('conversations', 'conversations.conversation_id', 'attempts.conversation_id')
    .select(['attempts.attempt_id as id', 'attempts.campaign_id', 'attempts.batch_id', 'attempts.e164', 'attempts.state'])
    .select(['attempts.posted_at', 'attempts.settled_at', 'attempts.disposition', 'attempts.detail'])
    .select(['attempts.counted', 'attempts.conversation_id', 'conversations.facts', 'conversations.final'])
    .select(['attempts.recipient_id', 'attempts.number', 'attempts.agent_id', 'attempts.person', 'attempts.evidence'])
    .select(['attempts.result', 'attempts.asks', 'attempts.opening_line', 'conversations.attempt_id as owner']);
  return within(query, 'attempts.attempt_id', scope);
}

export type BatchRow = Awaited<ReturnType<typeof batches>>[number];

export async function batches(db: Queries, scope: Scope) {
  const query = db.selectFrom('batches').select(['batch_id as id', 'campaign_id', 'state', 'planned_at', 'service_batch_id']);
  const batches = await within(query, 'batch_id', scope);
  const posts = await readInParts(batches, (part) =>
    db
      .selectFrom('posts')
      .select(['batch_id', 'k', 'verdict', 'posted_at'])
      .where(
        'batch_id',
        'in',
        part.map(({ id }) => id),
      )
      .orderBy('k')
      .execute(),
  );
  const postsOf = grouped(posts, (post) => post.batch_id);
  return batches.map((batch) => ({ ...batch, posts: postsOf.get(batch.id) ?? [] }));
}

export function grouped<Item>(items: Iterable<Item>, keyOf: (item: Item) => string | undefined): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [item]);
    else known.push(item);
  }
  return groups;
}

/** Expiry of do-not-call entries, by scope and number. */
export async function entries(db: Queries, numbers: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.selectFrom('suppressions').select(['e164', 'scope', 'expires_at']).where('e164', 'in', numbers).execute();
  return new Map(rows.map((row) => [`${row.scope} ${row.e164}`, row.expires_at ?? Infinity]));
}

/** Version 0: there never were any. */
export async function accountRules(db: Queries): Promise<{ version: number; rules: string | null }> {
  const last = db.selectFrom('house_rules').select(['version', 'rules']).orderBy('version', 'desc').limit(1);
  return (await last.executeTakeFirst()) ?? { version: 0, rules: null };
}

export async function* eachEntry(db: Queries): AsyncGenerator<{ e164: string; scope: string }> {
  for (let last = { e164: '', scope: '' }; ;) {
    const { e164, scope } = last;
    const rows = await db
      .selectFrom('suppressions')
      .select(['e164', 'scope'])
      .where((eb) => eb.or([eb('e164', '>', e164), eb.and([eb('e164', '=', e164), eb('scope', '>', scope)])]))
      .orderBy('e164')
      .orderBy('scope')
      .limit(perPage)
      .execute();
    yield* rows;
    if (rows.length < perPage) return;
    last = rows.at(-1) ?? last;
  }
}

/** Records that point to a call but are not its record. */
export async function strays(db: Queries): Promise<{ conversationId: string; attemptId: string }[]> {
  const rows = await db
    .selectFrom('conversations')
    .leftJoin('attempts', 'attempts.attempt_id', 'conversations.attempt_id')
    .select(['conversations.conversation_id', 'conversations.attempt_id'])
    .where('conversations.attempt_id', 'is not', null)
    .where((eb) =>
      eb.or([eb('attempts.conversation_id', 'is', null), eb('attempts.conversation_id', '!=', eb.ref('conversations.conversation_id'))]),
    )
    .execute();
  return rows.map((row) => ({ conversationId: row.conversation_id, attemptId: row.attempt_id ?? '' }));
}

/** Chunks that one statement can take. */
export async function* chunksOf<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < perQuery) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function readInParts<Item, Row>(items: readonly Item[], read: (part: Item[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const part of chunksOf(items)) rows.push(...(await read(part)));
  return rows;
}

/** Agents that an account's campaigns called with, and since when. */
export async function postSpans(db: Queries, accountId: string): Promise<{ agentId: string; from: number }[]> {
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'attempts.campaign_id')
    .select((eb) => ['attempts.agent_id', eb.fn.min('attempts.posted_at').as('from')])
    .where('campaigns.account_id', '=', accountId)
    .where('attempts.posted_at', 'is not', null)
    .groupBy('attempts.agent_id')
    .execute();
  return rows.map((row) => ({ agentId: row.agent_id, from: row.from ?? 0 }));
}

/** The owning calls, by conversation. */
export async function owners(db: Queries, conversationIds: readonly string[]) {
  const rows = await db
    .selectFrom('attempts')
    .select(['conversation_id', 'attempt_id as id', 'campaign_id', 'batch_id', 'e164'])
    .where('conversation_id', 'in', conversationIds)
    .execute();
  return new Map(rows.map((row) => [row.conversation_id ?? '', row]));
}

/** Our batches by the service's ids. */
export async function serviceBatches(db: Queries, names: readonly string[]) {
  const rows = await readInParts(names, (part) =>
    db.selectFrom('batches').select(['service_batch_id', 'batch_id', 'campaign_id']).where('service_batch_id', 'in', part).execute(),
  );
  return new Map(rows.map((row) => [row.service_batch_id ?? '', row]));
}

/** Batch ids by mark. */
export async function marks(db: Queries, marks: readonly string[]): Promise<Map<string, string>> {
  const rows = await readInParts(marks, (part) =>
    db.selectFrom('posts').select(['entry', 'batch_id']).where('entry', 'in', part).execute(),
  );
  return new Map(rows.map((row) => [row.entry ?? '', row.batch_id]));
}

/** True when a call posted in `span`, to `number` if given, has no record. */
export async function hasUnmatched(
  db: Queries,
  agentId: string,
  span: { from: number; to: number } | null,
  number: string | null,
): Promise<boolean> {
  let query = db
    .selectFrom('attempts')
    .select('attempt_id')
    .where('agent_id', '=', agentId)
    .where('posted_at', 'is not', null)
    .where('conversation_id', 'is', null);
  if (span !== null) query = query.where('posted_at', '>=', span.from).where('posted_at', '<=', span.to);
  if (number !== null) query = query.where('e164', '=', number);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
