import { requestedAttemptStates } from '../../rules/ledger.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import type { PromiseState } from '../../rules/callback-rules.ts';
import type { Outcome } from '../../rules/outcome.ts';
import type { CallConversation } from './call-conversation.ts';
import { conditionOf, type RowQuery } from './campaign-rows.ts';
import { readAggregates } from '../aggregates.ts';
import { storable } from '../../rules/text.ts';
import { groupBy } from '../../rules/collections.ts';
import { readInParts } from '../parts.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';

/** One data row of the list with what came of it. Instants are epoch milliseconds of service time. */
export interface RecipientResult {
  row: number;
  cells: string[];
  outcome: Outcome | 'in_progress';
  reason: string | null;
  /** Calls that were placed, or may have been, and the one that the service refused. */
  attempts: number;
  /** What the last talk came to, by the rules of the campaign; null: there was none, or it has no rules. */
  result: string | null;
  /** The last promise to call them back; null: there was none. */
  callback: { dueAt: number | null; state: PromiseState } | null;
  disposition: string | null;
  detail: string | null;
  conversationId: string | null;
  firstDialedAt: number | null;
  lastDialedAt: number | null;
  endedAt: number | null;
  durationMs: number | null;
  audio: string | null;
  /** Conversations of which it cannot be told whether one is that of the row's last call in doubt. */
  candidates: string[];
  collected: Record<string, unknown> | null;
  evaluation: Record<string, unknown> | null;
}

/** Which rows are wanted; `dispositions`: of the latest attempt. */
export interface ResultFilter extends Pick<RowQuery, 'outcomes' | 'reasons' | 'results' | 'changedSince' | 'afterRow'> {
  dispositions?: readonly string[] | undefined;
}

const rowsPerRead = 500;

/** The data rows of a campaign in file order, read in small pages: a million rows take no more memory than a thousand. */
export async function* readResults(db: Queries, campaignId: string, filter: ResultFilter = {}): AsyncGenerator<RecipientResult> {
  const { dispositions, afterRow = 0 } = filter;
  const wanted = await conditionOf(db, campaignId, filter, { now: 0 });
  let after = afterRow;
  for (;;) {
    const recipients = await db
      .selectFrom('recipients')
      .select(['recipient_id', 'row_number', 'cells', 'outcome', 'reason', 'result'])
      .where('campaign_id', '=', campaignId)
      .where('row_number', '>', after)
      .where(wanted)
      .orderBy('row_number')
      .limit(rowsPerRead)
      .execute();
    const last = recipients.at(-1);
    if (last === undefined) return;
    after = last.row_number;
    const ids = recipients.map((row) => row.recipient_id);
    const attempts = await db
      .selectFrom('attempts')
      .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
      .selectAll('attempts')
      .select('conversations.facts')
      .where('attempts.recipient_id', 'in', ids)
      .where('attempts.state', 'in', requestedAttemptStates)
      .orderBy('attempts.number')
      .execute();
    const byRecipient = groupBy(attempts, (attempt) => attempt.recipient_id);
    const owned = await findOwned(db, attempts.flatMap(candidatesOf));
    const callbacks = await findCallbacks(db, ids);
    for (const recipient of recipients) {
      const own = byRecipient.get(recipient.recipient_id) ?? [];
      const latest = own.at(-1);
      if (dispositions !== undefined && (latest?.disposition == null || !dispositions.includes(latest.disposition))) continue;
      const facts = latest?.facts == null ? null : storable(JSON.parse(latest.facts) as ConversationFacts);
      yield {
        row: recipient.row_number,
        cells: storable(JSON.parse(recipient.cells) as string[]),
        outcome: recipient.outcome ?? 'in_progress',
        reason: recipient.reason,
        attempts: own.length,
        result: recipient.result,
        callback: callbacks.get(recipient.recipient_id) ?? null,
        disposition: latest?.disposition ?? null,
        detail: latest?.detail ?? null,
        conversationId: latest?.conversation_id ?? null,
        firstDialedAt: own[0]?.posted_at ?? null,
        lastDialedAt: latest?.posted_at ?? null,
        endedAt: facts === null ? null : endOf(facts),
        durationMs: facts?.durationMs ?? null,
        audio: facts?.audio ?? null,
        candidates: candidatesOf(own.findLast((attempt) => attempt.candidates !== null)).filter((id) => !owned.has(id)),
        collected: facts?.collected ?? null,
        evaluation: facts?.evaluation ?? null,
      };
    }
  }
}

function endOf({ startedAt, endedAt, durationMs }: ConversationFacts): number | null {
  return endedAt ?? (startedAt === null || durationMs === null ? null : startedAt + durationMs);
}

function candidatesOf(attempt: { candidates: string | null } | undefined): string[] {
  return attempt?.candidates == null ? [] : (JSON.parse(attempt.candidates) as string[]);
}

/** The last promise to each of them. */
async function findCallbacks(db: Queries, ids: readonly string[]): Promise<Map<string, NonNullable<RecipientResult['callback']>>> {
  const rows = await db
    .selectFrom('promises')
    .select(['recipient_id', 'due_at', 'state'])
    .where('recipient_id', 'in', ids)
    .orderBy('made_at')
    .execute();
  return new Map(rows.map((row) => [row.recipient_id, { dueAt: row.due_at, state: row.state }]));
}

/** Those that have turned out to be the records of other calls. */
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

/** When a row of the campaign changed last, in service time; null without rows. */
export async function lastChange(db: Queries, campaignId: string): Promise<number | null> {
  const row = await db
    .selectFrom('recipients')
    .select((eb) => eb.fn.max('changed_at').as('at'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Reasons that rows of the campaign have, in order. */
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

/** Names of all values collected and all evaluations seen, in order: the columns of the results file. */
export async function readResultKeys(db: Queries, campaignId: string): Promise<{ collected: string[]; evaluation: string[] }> {
  const aggregates = await readAggregates(db, campaignId);
  const keysOf = (kind: string) => [...new Set(aggregates.filter((row) => row.kind === kind).map((row) => row.key))].sort();
  return { collected: keysOf('collected'), evaluation: keysOf('evaluation') };
}

export async function readResultColumns(db: Queries, { campaignId, rules }: Campaign) {
  const { collected, evaluation } = await readResultKeys(db, campaignId);
  const hasResults = rules.results !== undefined;
  const promise = db.selectFrom('promises').select('promise_id').where('campaign_id', '=', campaignId).limit(1);
  const hasCallbacks = rules.callback !== undefined || (await promise.executeTakeFirst()) !== undefined;
  return { columns: rules.list.columns, collectedKeys: collected, evaluationKeys: evaluation, hasResults, hasCallbacks };
}

/** A conversation of a campaign, for reading it at the service. */
export interface ResultConversation extends Pick<CallConversation, 'final' | 'gone'> {
  row: number;
  conversationId: string;
}

/** Every conversation of a campaign's attempts in row order, read in small pages. */
export async function* readResultConversations(db: Queries, campaignId: string): AsyncGenerator<ResultConversation> {
  let after = { row: 0, attempt: 0 };
  for (;;) {
    const page = await db
      .selectFrom('attempts')
      .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
      .innerJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
      .select(['recipients.row_number', 'attempts.number', 'conversations.conversation_id', 'conversations.final', 'conversations.gone'])
      .where('recipients.campaign_id', '=', campaignId)
      .where((eb) =>
        eb.or([
          eb('recipients.row_number', '>', after.row),
          eb.and([eb('recipients.row_number', '=', after.row), eb('attempts.number', '>', after.attempt)]),
        ]),
      )
      .orderBy('recipients.row_number')
      .orderBy('attempts.number')
      .limit(rowsPerRead)
      .execute();
    for (const { row_number: row, conversation_id: conversationId, final, gone } of page)
      yield { row, conversationId, final: final === 1, gone: gone === 1 };
    const last = page.at(-1);
    if (last === undefined) return;
    after = { row: last.row_number, attempt: last.number };
  }
}
