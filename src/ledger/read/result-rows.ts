import { openAttemptStates, requestedAttemptStates } from '../../rules/ledger.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import type { CallbackState } from '../../rules/callback-rules.ts';
import { conditionOf, type RowQuery } from './campaign-rows.ts';
import { readAggregates } from '../aggregates.ts';
import { storable } from '../../rules/text.ts';
import { groupBy } from '../../rules/collections.ts';
import { readInParts } from '../parts.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { RecipientRow } from '../schema.ts';
import type { Queries } from '../tx.ts';

/** One data row of the list with its results. Instants are epoch ms of service time. */
export type RecipientResult = ReturnType<typeof resultOf>;

/** `dispositions`: of the latest attempt. */
export interface ResultFilter extends Pick<RowQuery, 'outcomes' | 'reasons' | 'results' | 'changedSince' | 'afterRow'> {
  dispositions?: readonly string[] | undefined;
}

const rowsPerRead = 500;

/** In file order, paged: memory does not grow with the rows. */
export async function* readResults(db: Queries, campaignId: string, filter: ResultFilter = {}): AsyncGenerator<RecipientResult> {
  const { dispositions, afterRow = 0 } = filter;
  const condition = await conditionOf(db, campaignId, filter, { now: 0 });
  let after = afterRow;
  for (;;) {
    const recipients = await db
      .selectFrom('recipients')
      .select(['recipient_id', 'row_number', 'cells', 'outcome', 'reason', 'result'])
      .where('campaign_id', '=', campaignId)
      .where('row_number', '>', after)
      .where(condition)
      .orderBy('row_number')
      .limit(rowsPerRead)
      .execute();
    const last = recipients.at(-1);
    if (last === undefined) return;
    after = last.row_number;
    const ids = recipients.map((row) => row.recipient_id);
    const attempts = await readAttempts(db, ids);
    const byRecipient = groupBy(attempts, (attempt) => attempt.recipient_id);
    const owned = await findOwned(db, attempts.flatMap(candidatesOf));
    const callbacks = await findCallbacks(db, ids);
    for (const recipient of recipients) {
      const { recipient_id: id } = recipient;
      const own = byRecipient.get(id) ?? [];
      const disposition = own.at(-1)?.disposition;
      if (dispositions !== undefined && (disposition == null || !dispositions.includes(disposition))) continue;
      yield resultOf(recipient, { own, owned, callback: callbacks.get(id) ?? null });
    }
  }
}

function readAttempts(db: Queries, recipientIds: readonly string[]) {
  return db
    .selectFrom('attempts')
    .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
    .selectAll('attempts')
    .select('conversations.facts')
    .where('attempts.recipient_id', 'in', recipientIds)
    .where('attempts.state', 'in', requestedAttemptStates)
    .orderBy('attempts.number')
    .execute();
}

interface Calls {
  own: Awaited<ReturnType<typeof readAttempts>>;
  owned: ReadonlySet<string>;
  callback: { dueAt: number | null; state: CallbackState } | null;
}

function resultOf(
  { row_number: row, cells, outcome, reason, result }: Pick<RecipientRow, 'row_number' | 'cells' | 'outcome' | 'reason' | 'result'>,
  { own, owned, callback }: Calls,
) {
  const latest = own.at(-1);
  const facts = latest?.facts == null ? null : storable(JSON.parse(latest.facts) as ConversationFacts);
  return {
    row,
    cells: storable(JSON.parse(cells) as string[]),
    outcome: outcome ?? ('in_progress' as const),
    reason,
    /** Calls placed, possibly placed, or refused by the service. */
    attempts: own.length,
    /** Result of the last talk, by the campaign's rules; null: no talk, or no rules. */
    result,
    /** The last callback; null: none. */
    callback,
    disposition: latest?.disposition ?? null,
    detail: latest?.detail ?? null,
    conversationId: latest?.conversation_id ?? null,
    firstDialedAt: own[0]?.posted_at ?? null,
    lastDialedAt: latest?.posted_at ?? null,
    endedAt: facts === null ? null : endOf(facts),
    durationMs: facts?.durationMs ?? null,
    audio: facts?.audio ?? null,
    /** Conversations that may be the record of the row's last call in doubt. */
    candidates: candidatesOf(own.findLast((attempt) => attempt.candidates !== null)).filter((id) => !owned.has(id)),
    collected: facts?.collected ?? null,
    evaluation: facts?.evaluation ?? null,
  };
}

function endOf({ startedAt, endedAt, durationMs }: ConversationFacts): number | null {
  return endedAt ?? (startedAt === null || durationMs === null ? null : startedAt + durationMs);
}

function candidatesOf(attempt: { candidates: string | null } | undefined): string[] {
  return attempt?.candidates == null ? [] : (JSON.parse(attempt.candidates) as string[]);
}

async function findCallbacks(db: Queries, ids: readonly string[]) {
  const callbacks = db.selectFrom('promises').select(['recipient_id', 'due_at as dueAt', 'state']).where('recipient_id', 'in', ids);
  const rows = await callbacks.orderBy('made_at').execute();
  return new Map(rows.map(({ recipient_id: id, ...callback }) => [id, callback]));
}

/** Those that turned out to be records of other calls. */
async function findOwned(db: Queries, ids: readonly string[]): Promise<Set<string>> {
  const rows = await readInParts([...new Set(ids)], (part) =>
    db
      .selectFrom('conversations')
      .select('conversation_id')
      .where('conversation_id', 'in', part)
      .where('attempt_id', 'is not', null)
      .execute(),
  );
  return new Set(rows.map((row) => row.conversation_id));
}

/** Last change of a row, service time; null: no rows. */
export async function lastChange(db: Queries, campaignId: string): Promise<number | null> {
  const row = await db
    .selectFrom('recipients')
    .select((eb) => eb.fn.max('changed_at').as('at'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.at ?? null;
}

export async function readReasons(db: Queries, campaignId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('recipients')
    .select('reason')
    .distinct()
    .where('campaign_id', '=', campaignId)
    .where('reason', 'is not', null)
    .orderBy('reason')
    .execute();
  return rows.flatMap(({ reason }) => (reason === null ? [] : [reason]));
}

/** Column names of the results file; collected values and evaluations are sorted. */
export async function readResultColumns(db: Queries, { campaignId, rules }: Campaign) {
  const aggregates = await readAggregates(db, campaignId, ['collected', 'evaluation']);
  const keysOf = (kind: string) => [...new Set(aggregates.filter((row) => row.kind === kind).map((row) => row.key))].sort();
  const anyCallback = db.selectFrom('promises').select('promise_id').where('campaign_id', '=', campaignId).limit(1);
  return {
    columns: rules.list.columns,
    collectedKeys: keysOf('collected'),
    evaluationKeys: keysOf('evaluation'),
    hasResults: rules.results !== undefined,
    hasCallbacks: rules.callback !== undefined || (await anyCallback.executeTakeFirst()) !== undefined,
  };
}

function selectConversations(db: Queries, campaignId: string) {
  return db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
    .select(['recipients.row_number as row', 'attempts.number', 'conversations.conversation_id as conversationId'])
    .select(['conversations.final', 'conversations.gone'])
    .where('recipients.campaign_id', '=', campaignId);
}

/** With the conversation known to be its own; undefined: no such call. */
export async function findCallConversation(
  db: Queries,
  { campaignId, row, call }: { campaignId: string; row: number; call: number },
): Promise<
  { attemptId: string; recipientId: string; isOpen: boolean; conversationId: string | null; isComplete: boolean; gone: boolean } | undefined
> {
  const calls = selectConversations(db, campaignId)
    .select(['attempts.attempt_id as attemptId', 'attempts.recipient_id as recipientId', 'attempts.state'])
    .where('recipients.row_number', '=', row)
    .where('attempts.number', '=', call);
  const found = await calls.executeTakeFirst();
  if (found === undefined) return undefined;
  return { ...found, isOpen: openAttemptStates.includes(found.state), isComplete: found.final === 1, gone: found.gone === 1 };
}

/** `isComplete`: false while the call or its analysis goes on. */
export interface ResultConversation {
  row: number;
  conversationId: string;
  isComplete: boolean;
  /** The service no longer has it. */
  gone: boolean;
}

export async function* readResultConversations(db: Queries, campaignId: string): AsyncGenerator<ResultConversation> {
  let after = { row: 0, number: 0 };
  for (;;) {
    const page = await selectConversations(db, campaignId)
      .where('conversations.conversation_id', 'is not', null)
      .where((eb) =>
        eb.or([
          eb('recipients.row_number', '>', after.row),
          eb.and([eb('recipients.row_number', '=', after.row), eb('attempts.number', '>', after.number)]),
        ]),
      )
      .orderBy('recipients.row_number')
      .orderBy('attempts.number')
      .limit(rowsPerRead)
      .execute();
    for (const { row, conversationId, final, gone } of page)
      yield { row, conversationId: conversationId ?? '', isComplete: final === 1, gone: gone === 1 };
    const last = page.at(-1);
    if (last === undefined) return;
    after = last;
  }
}
