import { keepsReferences, lookAheadOf, readAgent, readBatches, toCorrelation, type Timing } from './correlation-rows.ts';
import { sql } from 'kysely';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import {
  indexAttempts,
  isNamed,
  isPossible,
  isSpokenBy,
  readClues,
  wordsAgainst,
  type Clue,
  type CorrelationAttempt,
} from '../../rules/correlation/evidence.ts';
import { wordingOf } from '../../rules/correlation/line-words.ts';
import { mayHideTalkFrom, recordedTalk } from '../../rules/correlation/record.ts';
import { requestedAttemptStates, type AttemptState } from '../../rules/ledger.ts';
import { readInParts, sqlStates } from '../parts.ts';
import type { Queries } from '../tx.ts';
import type { AgentRow, AttemptRow, ConversationRow } from '../schema.ts';

/** An unfinished record counts as it is after this long. */
const longestUndecidedMs = 4 * 3_600_000;

/** Calls this recent may not be listed yet. */
const onTheirWayMs = 10 * 60_000;

const noClock = { offsetMs: 0, uncertaintyMs: 0 };

export interface Doubt {
  /** Conversations that may be the attempt's and may hide a talk. */
  candidates: string[];
  /** Whether it is too early to decide about others. */
  undecided: boolean;
}

interface Question {
  attempts: readonly AttemptRow[];
  timing: Timing;
  now: number;
  /** Leaves unfinished records begun later to a later question; absent: none. */
  undecidedUntil?: number;
}

interface Reading extends Pick<Question, 'timing' | 'now'> {
  db: Queries;
  agentId: string;
  agent: AgentRow | undefined;
  lookAheadMs: number;
}

/** Finds unowned records that may hide a talk and belong to posted attempts of unknown outcome. */
export async function readDoubts(
  db: Queries,
  agentId: string,
  { attempts, timing, now, undecidedUntil }: Question,
): Promise<Map<string, Doubt>> {
  const doubts = new Map<string, Doubt>();
  if (attempts.length === 0) return doubts;
  const agent = await readAgent(db, agentId);
  const reading: Reading = { db, agentId, agent, timing, now, lookAheadMs: lookAheadOf(agent, timing) };
  const correlationAttempts = await toCorrelation(db, attempts, reading);
  const records = await findRecords(reading, correlationAttempts);
  if (records.length === 0) return doubts;
  const dismissed = await readDismissals(db, attempts);
  const seqOf = new Map(attempts.map((row) => [row.attempt_id, row.posted_seq ?? 0]));
  const index = indexAttempts(correlationAttempts, noClock);
  const clues = records.map((row) => readClues([factsOf(row)], index, noClock)[0]);
  const talks = clues.filter((clue) => clue !== undefined);
  const spoken = new OurLines(reading, talks);
  const othersOf = new Map(correlationAttempts.map((attempt) => [attempt, countOthers(attempt, talks, agent)]));
  for (const [at, row] of records.entries()) {
    const clue = clues[at];
    if (clue === undefined) continue;
    const undecided = row.final === 0 && row.gone === 0 && now - row.first_seen_at < longestUndecidedMs;
    for (const attempt of correlationAttempts) {
      if (row.seen_seq < (seqOf.get(attempt.attemptId) ?? 0)) continue;
      if (dismissed.has(`${attempt.attemptId} ${row.conversation_id}`)) continue;
      if (!isPossible(attempt, clue, index)) continue;
      // If records reliably name our calls, a fully read one without a name is of none.
      const isTold = row.final === 1 && row.reads > 0 && row.gone === 0 && keepsReferences(agent);
      if (isTold && attempt.reported === true && !isNamed(attempt, clue)) continue;
      const others = othersOf.get(attempt) ?? 0;
      const words = undecided ? null : await compareWords(reading, { attempt, clue, spoken, others, row });
      if (words === 'others') continue;
      const doubt = doubts.get(attempt.attemptId) ?? { candidates: [], undecided: false };
      if (!undecided && words !== 'too_early') doubt.candidates.push(row.conversation_id);
      else if (undecidedUntil === undefined || (clue.startedAt ?? 0) <= undecidedUntil) doubt.undecided = true;
      else continue;
      doubts.set(attempt.attemptId, doubt);
    }
  }
  return doubts;
}

/** Whether the agent has an unowned record still to be read to its end. */
export async function isAnyUndecided(db: Queries, agentId: string, now: number): Promise<boolean> {
  const row = await db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('final', '=', 0)
    .where('gone', '=', 0)
    .where('first_seen_at', '>', now - longestUndecidedMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Evidence that makes an outcome certain. */
export const strongEvidence = ['reference', 'batch_and_number', 'person'] as const;

/**
 * Counts calls of the attempt's batch, in these states, without record or reported end: while there is one, the report on the others may
 * describe another recipient.
 */
export function countUnaccounted(states: readonly AttemptState[] = requestedAttemptStates) {
  return sql<number>`(select count(*) from attempts others where others.batch_id = attempts.batch_id
    and others.state in (${sqlStates(states)}) and others.conversation_id is null and others.evidence is null)`;
}

/** Attempts without a record, or whose record may be another call's. */
export async function findPossibleOwners(db: Queries, row: ConversationRow, timing: Timing): Promise<AttemptRow[]> {
  const agent = await readAgent(db, row.agent_id);
  const startedAt = row.started_at ?? row.first_seen_at;
  const marginMs = 2 * timing.clockToleranceMs + timing.lateDeliveryMs;
  const attempts = await db
    .selectFrom('attempts')
    .selectAll()
    .where('agent_id', '=', row.agent_id)
    .where('posted_at', '>=', startedAt - lookAheadOf(agent, timing) - marginMs)
    .where('posted_at', '<=', startedAt + marginMs)
    .where((eb) => eb.or([eb('evidence', 'is', null), eb('evidence', 'not in', strongEvidence)]))
    .where((eb) => eb.or([eb('evidence', 'is', null), eb('evidence', '<>', 'report'), sql<boolean>`${countUnaccounted()} > 0`]))
    .execute();
  // An opt-out from one of our numbers counts regardless of who called.
  const correlationAttempts = (await toCorrelation(db, attempts, { lookAheadMs: lookAheadOf(agent, timing), timing })).map((attempt) => {
    return { ...attempt, namedOnly: false };
  });
  const index = indexAttempts(correlationAttempts, noClock);
  const [clue] = readClues([factsOf(row)], index, noClock);
  if (clue === undefined) return [];
  const rows = new Map(attempts.map((attempt) => [attempt.attempt_id, attempt]));
  return correlationAttempts.flatMap((attempt) => {
    const owner = rows.get(attempt.attemptId);
    const isOwner = isPossible(attempt, clue, index) && wordsAgainst(attempt, clue.line) !== 'somebody_else';
    return owner !== undefined && isOwner && row.seen_seq >= (owner.posted_seq ?? 0) ? [owner] : [];
  });
}

/** Without a start, a record is dated by its first listing. */
function factsOf(row: ConversationRow): ConversationFacts {
  const facts = JSON.parse(row.facts) as ConversationFacts;
  return { ...facts, agentId: facts.agentId ?? row.agent_id, startedAt: facts.startedAt ?? row.first_seen_at };
}

interface WordsInput {
  attempt: CorrelationAttempt;
  clue: Clue;
  row: ConversationRow;
  spoken: OurLines;
  others: number;
}

async function compareWords(
  { agent, timing, now }: Reading,
  { attempt, clue, row, spoken, others }: WordsInput,
): Promise<'others' | 'too_early' | null> {
  const against = wordsAgainst(attempt, clue.line);
  if (against === 'somebody_else') return 'others';
  const startedAt = clue.startedAt ?? 0;
  if (await spoken.byAnother(attempt, clue, row.seen_seq)) return 'others';
  if (against === null || agent?.words_first == null || agent.words_last === null) return null;
  // The agent used our words before and after, so it was unchanged in between; a single call close to ours is as good.
  const isBetween = agent.words_first <= startedAt && startedAt <= agent.words_last;
  const besideMs = Math.max(agent.words_first - startedAt, startedAt - agent.words_last);
  if (isBetween || (besideMs <= timing.clockToleranceMs && others <= 1)) return 'others';
  return agent.words_first <= startedAt && now < startedAt + timing.lateLookbackMs ? 'too_early' : null;
}

/** Talks outside the span in which the agent is known to use our words, with words few of which are the attempt's. */
function countOthers(attempt: CorrelationAttempt, clues: readonly Clue[], agent: AgentRow | undefined): number {
  const { words_first: first, words_last: last } = agent ?? { words_first: null, words_last: null };
  if (first === null || last === null) return 0;
  return clues.filter(
    ({ line, startedAt }) => startedAt !== null && (startedAt < first || startedAt > last) && wordsAgainst(attempt, line) === 'other_words',
  ).length;
}

/** Calls without a record, and what it would show. */
type SilentCall = Pick<AttemptRow, 'e164' | 'posted_at' | 'posted_seq'> & Pick<CorrelationAttempt, 'openingLine' | 'template'>;

/** Whether a record's line belongs to another attempt of ours, as far as it was spoken. */
class OurLines {
  readonly #known = new Map<string, SilentCall[]>();
  readonly #reading: Reading;
  readonly #earliestStart: number;
  readonly #marginMs: number;
  #calls: Promise<SilentCall[]> | undefined;

  constructor(reading: Reading, clues: readonly Clue[]) {
    this.#reading = reading;
    this.#marginMs = 2 * reading.timing.clockToleranceMs;
    this.#earliestStart = Math.min(...clues.map(({ startedAt }) => startedAt ?? 0));
  }

  async byAnother(attempt: CorrelationAttempt, { line, startedAt }: Clue, seenSeq: number): Promise<boolean> {
    const [shown, own] = [wordingOf(line), wordingOf(attempt.openingLine)];
    if (line === null || shown === null || own === null || startedAt === null) return false;
    // If one line begins the other, either may have been spoken.
    if (own.near.startsWith(shown.near) || shown.near.startsWith(own.near)) return false;
    this.#calls ??= this.#readCalls();
    const calls = this.#known.get(line) ?? (await this.#calls).filter((call) => isSpokenBy(call, shown));
    this.#known.set(line, calls);
    return calls.some(({ e164, posted_at: postedAt, posted_seq: postedSeq }) => {
      if (e164 === attempt.e164 || postedAt === null || seenSeq < (postedSeq ?? 0)) return false;
      return postedAt - this.#marginMs <= startedAt && startedAt <= postedAt + this.#reading.lookAheadMs + this.#marginMs;
    });
  }

  async #readCalls(): Promise<SilentCall[]> {
    const { db, agentId } = this.#reading;
    const rows = await db
      .selectFrom('attempts')
      .select(['e164', 'posted_at', 'posted_seq', 'opening_line as openingLine', 'batch_id'])
      .where('agent_id', '=', agentId)
      .where('posted_at', '>=', this.#earliestStart - this.#reading.lookAheadMs - this.#marginMs)
      .where('conversation_id', 'is', null)
      .execute();
    const batches = await readBatches(db, [...new Set(rows.map((row) => row.batch_id))]);
    return rows.map((row) => ({ ...row, template: batches.get(row.batch_id)?.template ?? null }));
  }
}

async function findRecords(
  { db, agentId, agent, timing, now }: Reading,
  correlationAttempts: readonly CorrelationAttempt[],
): Promise<ConversationRow[]> {
  const shown = {
    wordsShown: agent?.words_shown === 1,
    bareShown: agent?.bare_shown === 1,
    longestEmptyMs: agent?.longest_empty_ms ?? 0,
  };
  const mayHideFrom = mayHideTalkFrom(shown, timing.ringLimitMs);
  const from = Math.min(...correlationAttempts.map((attempt) => attempt.possibleFrom));
  const until = Math.max(...correlationAttempts.map((attempt) => attempt.possibleUntil));
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('talk', '>=', Math.min(mayHideFrom, recordedTalk.ringing))
    .where((eb) => eb.or([eb('started_at', 'is', null), eb.and([eb('started_at', '>=', from), eb('started_at', '<=', until)])]))
    .execute();
  const ringing = rows.filter((row) => row.talk < mayHideFrom);
  if (ringing.length === 0 || !(await leavesRecordOfEachCall(db, agentId, now))) return rows;
  return rows.filter((row) => row.talk >= mayHideFrom);
}

/** Whether every call has a record. If unanswered calls have none, one with a duration but no words is a talk. */
async function leavesRecordOfEachCall(db: Queries, agentId: string, now: number): Promise<boolean> {
  const { rows } = await sql<{ calls: number; records: number }>`
    with since as (select min(posted_at) as at from attempts join campaigns on campaigns.campaign_id = attempts.campaign_id
      where attempts.agent_id = ${agentId} and campaigns.state not in ('completed', 'cancelled', 'failed'))
    select
      (select count(*) from attempts where agent_id = ${agentId} and posted_at >= (select at from since)
        and (state = 'settled' or (state = 'open' and (conversation_id is not null or posted_at < ${now - onTheirWayMs})))) as calls,
      (select count(*) from conversations where agent_id = ${agentId} and started_at >= (select at from since) - 60000
        and caller is null) as records`.execute(db);
  const [counts] = rows;
  return counts !== undefined && counts.records >= counts.calls;
}

async function readDismissals(db: Queries, attempts: readonly AttemptRow[]): Promise<Set<string>> {
  const ids = attempts.map((row) => row.attempt_id);
  const rows = await readInParts(ids, (part) => db.selectFrom('dismissals').selectAll().where('attempt_id', 'in', part).execute());
  return new Set(rows.map((row) => `${row.attempt_id} ${row.conversation_id}`));
}
