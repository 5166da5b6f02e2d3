import { sql } from 'kysely';
import { readRules } from '../../rules/campaign-rules.ts';
import { acceptedLate, carriedOutTwice, notToldApart } from '../../rules/disposition.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { readAgent, type Timing, readPostBounds } from './correlation-rows.ts';
import { countUnaccounted, isAnyUndecided, readDoubts, strongEvidence, type Doubt } from './doubts.ts';
import { knowsKeys, type ServiceApi } from '../../rules/service-api.ts';
import { callingAttemptStates } from '../../rules/ledger.ts';
import { readInParts } from '../parts.ts';
import type { At, Queries, Tx } from '../tx.ts';
import { finishRecipients, requireRecipient } from '../rows/recipients.ts';
import { refusalDoubtMs, wantSweep } from './open-batches.ts';
import { refusedInBatch } from '../rows/release.ts';
import { noteCandidates, settleAsUnknown } from '../rows/settle.ts';
import { updateAttempt } from '../updates.ts';
import type { AttemptRow } from '../schema.ts';

export interface RecipientToDial {
  recipientId: string;
  e164: string;
  attempted: boolean;
}

/** Evidence of an earlier call may still come, or its record cannot be identified. */
export type DialBlock = { kind: 'wait'; until: number } | DoubtAbout;

/** An earlier call with an unknown outcome, and its possible records. */
export interface DoubtAbout {
  kind: 'doubt';
  earlier: EarlierAttempt;
  candidates: readonly string[];
}

interface EarlierAttempt extends AttemptRow {
  /** Status of the service's denial; null: none. */
  denied: number | null;
  api: ServiceApi;
  batch_reason: string | null;
  /** Calls of its batch with a conversation. */
  carried_out: number;
  /** Calls of its batch without record or reported end; `untold_open`: the open ones. */
  untold: number;
  untold_open: number;
}

const recheckMs = 60_000;

/** How long a denied request is looked up by its key while a recipient waits. */
export const keyLookUpMs = 2 * 3_600_000;

/**
 * No recipient is dialled while an unowned record may hide a talk with them, nor before the list could show one. Calls for other rows count
 * if a campaign of the agent listens for opt-outs.
 */
export async function readDialBlocks(
  tx: Tx,
  campaign: Campaign,
  { callees: recipients, now }: { callees: readonly RecipientToDial[]; now: number },
): Promise<Map<string, DialBlock>> {
  const found = new Map<string, DialBlock>();
  const listens = await listensForOptOuts(tx, campaign.rules.agentId);
  const relevant = recipients.filter(({ attempted }) => attempted || listens);
  if (relevant.length === 0) return found;
  const earlier = await findEarlier(tx, relevant, listens);
  const pending = listens ? await findUnanalysedNumbers(tx, relevant) : new Set<string>();
  const dialBlocks = await evaluateEarlierCalls(tx, campaign, { earlier, listens, now });
  // Otherwise the analysis never arrives.
  if (relevant.some(({ e164 }) => pending.has(e164))) await wantSweep(tx, campaign.campaignId, now);
  for (const { recipientId, e164 } of relevant) {
    if (pending.has(e164)) found.set(recipientId, { kind: 'wait', until: now + recheckMs });
    for (const row of earlier) {
      if (row.recipient_id !== recipientId && row.e164 !== e164) continue;
      const dialBlock = dialBlocks.get(row.attempt_id);
      if (dialBlock === undefined || found.get(recipientId)?.kind === 'doubt') continue;
      const known = found.get(recipientId);
      const isLess = known?.kind === 'wait' && dialBlock.kind === 'wait' && dialBlock.until <= known.until;
      if (!isLess) found.set(recipientId, dialBlock);
    }
  }
  return found;
}

/** Earlier calls that may still produce evidence about the recipients. */
export async function findOpenQuestions(db: Queries, agentId: string, recipients: readonly RecipientToDial[]): Promise<EarlierAttempt[]> {
  const earlier = await findEarlier(db, recipients, await listensForOptOuts(db, agentId));
  return earlier.filter(isOpenQuestion);
}

async function listensForOptOuts(db: Queries, agentId: string): Promise<boolean> {
  const campaigns = await db.selectFrom('campaigns').select('rules').where('agent_id', '=', agentId).execute();
  return campaigns.some(({ rules }) => readRules(rules).optOut.length > 0);
}

async function findEarlier(db: Queries, recipients: readonly RecipientToDial[], listens: boolean): Promise<EarlierAttempt[]> {
  const attempted = recipients.filter((recipient) => recipient.attempted).map(({ recipientId }) => recipientId);
  const numbers = listens ? recipients.map(({ e164 }) => e164) : [];
  const read = (column: 'recipient_id' | 'e164', values: readonly string[]) =>
    readInParts(values, (part) =>
      db
        .selectFrom('attempts')
        .selectAll()
        .select(
          sql<number | null>`(select max(posts.status) from posts
            where posts.batch_id = attempts.batch_id and posts.verdict in ('not_sent', 'refused') and posts.absent_at is null)`.as(
            'denied',
          ),
        )
        .select(sql<ServiceApi>`(select api from campaigns where campaigns.campaign_id = attempts.campaign_id)`.as('api'))
        .select(sql<string | null>`(select reason from batches where batches.batch_id = attempts.batch_id)`.as('batch_reason'))
        .select(
          sql<number>`(select count(*) from attempts others
            where others.batch_id = attempts.batch_id and others.conversation_id is not null)`.as('carried_out'),
        )
        .select([countUnaccounted().as('untold'), countUnaccounted(callingAttemptStates).as('untold_open')])
        .where(column, 'in', part)
        .where('posted_at', 'is not', null)
        .where('state', 'in', ['settled', 'released'])
        .execute(),
    );
  const rows = [...(await read('recipient_id', attempted)), ...(await read('e164', numbers))];
  const found = new Map(rows.map((row) => [row.attempt_id, row]));
  // Unreceived requests and calls given back by the service produce no evidence.
  return [...found.values()].filter((row) => row.state === 'settled' || isMadeTwice(row) || (row.denied !== null && !isGivenBack(row)));
}

/** Numbers with a conversation whose analysis may still reveal an opt-out. */
async function findUnanalysedNumbers(db: Queries, recipients: readonly RecipientToDial[]): Promise<Set<string | null>> {
  const numbers = recipients.map(({ e164 }) => e164);
  const own = await readInParts(numbers, (part) =>
    db
      .selectFrom('attempts')
      .innerJoin('conversations', 'conversations.conversation_id', 'attempts.conversation_id')
      .select('attempts.e164 as number')
      .where('attempts.e164', 'in', part)
      .where('conversations.final', '=', 0)
      .execute(),
  );
  const inbound = await readInParts(numbers, (part) =>
    db
      .selectFrom('conversations')
      .select('caller as number')
      .where('caller', 'in', part)
      .where((eb) => eb.or([eb('final', '=', 0), eb('heard', '=', 1)]))
      .execute(),
  );
  return new Set([...own, ...inbound].map(({ number }) => number));
}

async function evaluateEarlierCalls(
  tx: Tx,
  campaign: Campaign,
  { earlier, listens, now }: { earlier: readonly EarlierAttempt[]; listens: boolean; now: number },
): Promise<Map<string, DialBlock>> {
  const { timing } = campaign.rules;
  const dialBlocks = new Map<string, DialBlock>();
  for (const agentId of new Set(earlier.map((row) => row.agent_id))) {
    // A talk matched by number or words may not be the one with the opt-out.
    const answersCount = listens && (await isAnyUndecided(tx, agentId, now));
    const isRelevant = (row: EarlierAttempt): boolean =>
      isOpenQuestion(row) || isMadeTwice(row) || ((answersCount || row.asks !== null) && isWeaklyAnswered(row));
    const ofAgent = earlier.filter((row) => row.agent_id === agentId && isRelevant(row));
    if (ofAgent.length === 0) continue;
    const doubts = await readDoubts(tx, agentId, { attempts: ofAgent, timing, now });
    const listed = new ListState(tx, agentId);
    for (const row of ofAgent) {
      const dialBlock = await evaluateEarlierCall({ row, doubt: doubts.get(row.attempt_id), listed, timing, now });
      if (dialBlock === 'sweep') {
        await wantSweep(tx, campaign.campaignId, (row.posted_at ?? now) - timing.clockToleranceMs);
        dialBlocks.set(row.attempt_id, { kind: 'wait', until: now + recheckMs });
      } else if (dialBlock !== null) dialBlocks.set(row.attempt_id, dialBlock);
    }
  }
  return dialBlocks;
}

/** Whether evidence of an outcome may still come; false when the attempt's own certain record shows it. */
function isOpenQuestion(row: EarlierAttempt): boolean {
  if (row.disposition === 'answered' || row.disposition === 'opted_out') return false;
  return !isToldForSure(row);
}

function isWeaklyAnswered(row: EarlierAttempt): boolean {
  return row.disposition === 'answered' && !isToldForSure(row);
}

/** A report alone is sure only if it covers each call of its batch. */
function isToldForSure({ evidence, untold }: EarlierAttempt): boolean {
  return evidence === 'report' ? untold === 0 : strongEvidence.some((strong) => strong === evidence);
}

/** The service has the call in another batch, so its record does not show how often it was placed. */
function isMadeTwice(row: EarlierAttempt): boolean {
  return (
    row.batch_reason === carriedOutTwice && row.posted_at !== null && row.disposition !== 'answered' && row.disposition !== 'opted_out'
  );
}

/** The service gave the call back: it was not placed. */
function isGivenBack({ state, evidence }: EarlierAttempt): boolean {
  return state === 'released' && evidence === 'report';
}

interface EarlierCallInput {
  row: EarlierAttempt;
  doubt: Doubt | undefined;
  listed: ListState;
  timing: Timing;
  now: number;
}

async function evaluateEarlierCall({ row, doubt, listed, timing, now }: EarlierCallInput): Promise<DialBlock | 'sweep' | null> {
  // While another record may be this call's, the talk that requested a call may be another recipient's.
  const candidates = row.disposition === 'answered' && row.asks === null ? [] : (doubt?.candidates ?? []);
  // The request's key is looked up first (see `findGivenBack`).
  const isKeyLookedUp = row.state === 'released' && knowsKeys(row.api) && now < (row.settled_at ?? now) + keyLookUpMs;
  // A report that does not cover its batch yet may still identify the owner.
  const isReported = row.evidence === 'report';
  if (candidates.length > 0 && (isKeyLookedUp || (isReported && row.untold_open > 0))) return 'sweep';
  if (candidates.length > 0) return { kind: 'doubt', earlier: row, candidates };
  if (doubt?.undecided === true) return 'sweep';
  if (row.disposition === 'answered') return null;
  // What follows blocks automatic dialling only; here an operator decided to redial.
  if (row.reason === 'redial') return null;
  if (isMadeTwice(row)) return { kind: 'doubt', earlier: row, candidates: [] };
  if (row.conversation_id !== null && !isReported) return null;
  const denied = row.state === 'released';
  const isLeft = row.disposition === 'unknown' && (row.detail === notToldApart || row.detail === acceptedLate);
  if (isLeft || (denied && row.carried_out > 0)) return { kind: 'doubt', earlier: row, candidates: [] };
  const settledAt = row.settled_at ?? now;
  if (denied) {
    const postedAt = row.posted_at ?? 0;
    if (row.denied === 429) return (await listed.sweptAfter(postedAt + refusalDoubtMs, postedAt)) ? null : 'sweep';
    // Batches resent in halves were searched before the split (see `concludeSweep`).
    const isClaim = (row.denied === 400 || row.denied === 422) && row.reason !== refusedInBatch;
    return !isClaim || (await listed.sweptAfter(settledAt + refusalDoubtMs, postedAt)) ? null : 'sweep';
  }
  if (row.disposition !== 'unreached' && row.disposition !== 'unknown' && !isReported) return null;
  const lagMs = 2 * (await listed.longestLagMs());
  const until = settledAt + Math.max(timing.lateLookbackMs, lagMs);
  if (now < settledAt + lagMs) return { kind: 'wait', until: settledAt + lagMs };
  if (await listed.hasCaughtUp(row, timing)) return null;
  if (now < until) return { kind: 'wait', until: Math.min(until, now + 10 * recheckMs) };
  return (await listed.sweptAfter(until, row.posted_at ?? 0)) ? null : 'sweep';
}

class ListState {
  readonly #tx: Tx;
  readonly #agentId: string;
  #agent: ReturnType<typeof readAgent> | undefined;

  constructor(tx: Tx, agentId: string) {
    this.#tx = tx;
    this.#agentId = agentId;
  }

  async longestLagMs(): Promise<number> {
    return (await this.#read())?.longest_lag_ms ?? 0;
  }

  /** Whether a complete sweep back to the POST began at `at` or later. */
  async sweptAfter(at: number, postedAt: number): Promise<boolean> {
    const agent = await this.#read();
    return (agent?.swept_begun_at ?? 0) >= at && (agent?.swept_from ?? Infinity) <= postedAt;
  }

  /** Whether the list shows a call begun after the last instant at which this one can have rung. */
  async hasCaughtUp(row: AttemptRow, timing: Timing): Promise<boolean> {
    const newest = (await this.#read())?.newest_start ?? 0;
    const bounds = (await readPostBounds(this.#tx, [row.batch_id], timing)).get(row.batch_id);
    return bounds !== undefined && newest > bounds.to + timing.dispatchMarginMs;
  }

  async #read() {
    this.#agent ??= readAgent(this.#tx, this.#agentId);
    return this.#agent;
  }
}

/** Ends rows that only an operator may redial, by recipient: the earlier call counts as placed. */
export async function leaveInDoubt(tx: Tx, at: At, doubtful: ReadonlyMap<string, DoubtAbout>): Promise<void> {
  for (const [recipientId, { earlier, candidates }] of doubtful) {
    const detail = isMadeTwice(earlier) ? carriedOutTwice : notToldApart;
    // Another row's outcome is not decided here.
    if (earlier.recipient_id === recipientId && !isGivenBack(earlier)) {
      const { attempt_id: attemptId } = earlier;
      if (candidates.length > 0) await noteCandidates(tx, attemptId, candidates);
      if (earlier.state === 'released') await updateAttempt(tx, attemptId, { state: 'settled', reason: null, settled_at: at.now });
      await settleAsUnknown(tx, at, { attemptIds: [attemptId], detail });
    }
    const { outcome } = await requireRecipient(tx, recipientId);
    if (outcome === null) await finishRecipients(tx, at, [{ recipientId, outcome: 'unresolved', reason: detail }]);
  }
}
