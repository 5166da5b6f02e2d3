import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { findOpenQuestions } from './dial-guard.ts';
import { readDoubts } from './doubts.ts';
import { groupBy } from '../../rules/collections.ts';
import { partsOf, readInParts } from '../parts.ts';
import type { Queries } from '../tx.ts';
import type { AttemptRow, RecipientRow } from '../schema.ts';

export interface DoubtfulRow {
  recipient: RecipientRow;
  /** Unresolved calls to its number, oldest first, with its own last call; empty: never called. */
  calls: { attempt: AttemptRow; records: PossibleRecord[] }[];
}

/** An unowned record, possibly the call's. */
export interface PossibleRecord {
  conversationId: string;
  facts: ConversationFacts;
}

/** Calls far apart in time share few records. */
const callsPerPass = 50;

/** Unresolved rows not given up yet, in list order; `rows`: null for all. */
export async function findUnresolved(
  db: Queries,
  campaignId: string,
  { rows = null, afterRow = 0, limit = null }: { rows?: readonly number[] | null; afterRow?: number; limit?: number | null } = {},
): Promise<RecipientRow[]> {
  return db
    .selectFrom('recipients')
    .selectAll()
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'done')
    .where('outcome', '=', 'unresolved')
    .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', '!=', givenUp)]))
    .where('row_number', '>', afterRow)
    .$if(rows !== null, (query) => query.where('row_number', 'in', rows ?? []))
    .orderBy('row_number')
    .$if(limit !== null, (query) => query.limit(limit ?? 0))
    .execute();
}

/** `next`: the row that the next page follows; null: no more. */
export async function readDoubtfulPage(
  db: Queries,
  campaign: Campaign,
  { afterRow, limit, now }: { afterRow: number; limit: number; now: number },
): Promise<{ rows: DoubtfulRow[]; next: number | null }> {
  const found = await findUnresolved(db, campaign.campaignId, { afterRow, limit: limit + 1 });
  const recipients = found.slice(0, limit);
  const rows = await readDoubtfulRows(db, campaign, { recipients, now });
  return { rows, next: found.length > limit ? (recipients.at(-1)?.row_number ?? afterRow) : null };
}

export async function readDoubtfulRows(
  db: Queries,
  campaign: Campaign,
  { recipients, now }: { recipients: readonly RecipientRow[]; now: number },
): Promise<DoubtfulRow[]> {
  const questions = await findQuestions(db, campaign, recipients);
  const records = await findPossible(db, campaign, { attempts: questions, now });
  const last = await findLastCalls(db, recipients);
  const byNumber = groupBy(questions, (attempt) => attempt.e164);
  return recipients.map((recipient) => {
    const own = last.get(recipient.recipient_id);
    const shown = (byNumber.get(recipient.e164 ?? '') ?? []).filter(({ attempt_id: id }) => records.has(id));
    const isOwn = ({ recipient_id: id }: AttemptRow) => id === recipient.recipient_id;
    if (own !== undefined && !shown.some(isOwn)) shown.push(own);
    const ordered = shown.toSorted((a, b) => (a.posted_at ?? 0) - (b.posted_at ?? 0));
    return {
      recipient,
      calls: ordered.map((attempt) => ({ attempt, records: records.get(attempt.attempt_id) ?? [] })),
    };
  });
}

/** Calls that keep, or would keep, a row from being dialled. */
export async function findQuestions(db: Queries, { rules }: Campaign, recipients: readonly RecipientRow[]): Promise<AttemptRow[]> {
  const targets = recipients.map(({ recipient_id: recipientId, e164 }) => ({
    recipientId,
    e164: e164 ?? '',
    attempted: true,
  }));
  return findOpenQuestions(db, rules.agentId, targets);
}

async function findPossible(
  db: Queries,
  { rules }: Campaign,
  { attempts, now }: { attempts: readonly AttemptRow[]; now: number },
): Promise<Map<string, PossibleRecord[]>> {
  const candidates = new Map<string, string[]>();
  for (const ofAgent of groupBy(attempts, (attempt) => attempt.agent_id).values()) {
    const inTime = ofAgent.toSorted((a, b) => (a.posted_at ?? 0) - (b.posted_at ?? 0));
    for (const part of partsOf(inTime, callsPerPass)) {
      const doubts = await readDoubts(db, part[0]?.agent_id ?? '', { attempts: part, timing: rules.timing, now });
      for (const [id, doubt] of doubts) if (doubt.candidates.length > 0) candidates.set(id, doubt.candidates);
    }
  }
  const facts = await readFacts(db, [...new Set([...candidates.values()].flat())]);
  return new Map(
    [...candidates].map(([id, ids]) => {
      const records = ids.flatMap((conversationId) => {
        const known = facts.get(conversationId);
        return known === undefined ? [] : [{ conversationId, facts: known }];
      });
      return [id, records.toSorted((a, b) => (a.facts.startedAt ?? 0) - (b.facts.startedAt ?? 0))];
    }),
  );
}

async function readFacts(db: Queries, ids: readonly string[]): Promise<Map<string, ConversationFacts>> {
  const rows = await readInParts(ids, (part) =>
    db.selectFrom('conversations').select(['conversation_id', 'facts']).where('conversation_id', 'in', part).execute(),
  );
  return new Map(rows.map((row) => [row.conversation_id, JSON.parse(row.facts) as ConversationFacts]));
}

async function findLastCalls(db: Queries, recipients: readonly RecipientRow[]): Promise<Map<string, AttemptRow>> {
  const ids = recipients.map((row) => row.recipient_id);
  const rows = await readInParts(ids, (part) =>
    db
      .selectFrom('attempts')
      .selectAll()
      .where('recipient_id', 'in', part)
      .where('posted_at', 'is not', null)
      .where('state', '=', 'settled')
      .orderBy('number')
      .execute(),
  );
  return new Map(rows.map((row) => [row.recipient_id, row]));
}
