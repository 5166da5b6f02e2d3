import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import { readAgent } from '../doubt/correlation-rows.ts';
import { readAccount } from './account-pace.ts';
import { countOpen } from './counters.ts';
import { countRows } from '../reads.ts';
import type { Queries, Tx } from '../tx.ts';
import type { ExpressionBuilder } from 'kysely';
import { dispositions } from '../../rules/disposition.ts';
import { breakerOpens, failedDispositions } from '../../rules/pacing/breaker.ts';
import { readCallersOut } from './callers.ts';
import type { Database } from '../schema.ts';

/** Calls allowed before the service has shown one record of the campaign. */
const canaryCalls = 20;
/** Check interval while the list is unreadable since a batch became unknown; the collector reports a readable one. */
const readPauseMs = 30_000;
const firstBackoffMs = 30_000;
const longestBackoffMs = 15 * 60_000;

/** After the nth unknown batch in a row: 30 s, doubling, at most 15 min. */
export function unknownBackoffMs(streak: number): number {
  return Math.min(firstBackoffMs * 2 ** Math.max(0, streak - 1), longestBackoffMs);
}

/**
 * No POST may begin before; null: now. Set by the service's Retry-After, or by an unknown batch until a read succeeds and the back-off
 * ends.
 */
export async function blockedUntil(db: Queries, campaign: Campaign, now: number): Promise<number | null> {
  const { notBefore } = await readAccount(db, campaign.accountId);
  const unknown = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.max('unknown_since').as('since'))
    .where('campaign_id', '=', campaign.campaignId)
    .where('state', '=', 'unknown')
    .executeTakeFirst();
  let until = notBefore;
  if (unknown?.since != null) {
    const round = await db
      .selectFrom('rounds')
      .select('blocked_until')
      .where('campaign_id', '=', campaign.campaignId)
      .where('round', '=', campaign.round)
      .executeTakeFirst();
    const agent = await readAgent(db, campaign.rules.agentId);
    until = Math.max(until, round?.blocked_until ?? 0);
    if ((agent?.read_ok_at ?? 0) <= unknown.since) until = Math.max(until, now + readPauseMs);
  }
  return until > now ? until : null;
}

/**
 * Calls left until the service shows a record of the campaign (before, a missing record proves nothing); null: it has. With an unproven
 * caller number, one batch must show a conversation before the next.
 */
export async function canaryAllowance(db: Queries, campaign: Campaign): Promise<number | null> {
  if (campaign.recordShown) return null;
  const made = await countRows(
    db
      .selectFrom('attempts')
      .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
      .where('batches.campaign_id', '=', campaign.campaignId)
      .where('batches.round', '=', campaign.round)
      .where('batches.n', '>', campaign.canaryFrom)
      .where('attempts.state', '!=', 'released'),
  );
  if (!campaign.callerProven && made > 0 && (await countOpen(db, campaign.campaignId)) > 0) return 0;
  return Math.max(0, canaryCalls - made);
}

/** For first calls that all ended without a conversation. False: some are still open. */
export async function pauseUnproven(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  if ((await countOpen(tx, campaign.campaignId)) > 0) return false;
  const reason = campaign.callerProven
    ? 'The service shows no record of the first calls, so it is unknown who was reached. Check its list of conversations, then resume; each resume allows 20 more calls.'
    : 'None of the first calls led to a conversation. Check with the service that the caller number is verified, then resume.';
  return changeCampaignState(tx, { campaignId: campaign.campaignId, now }, { to: 'paused', reason });
}

/** Message of a request that never began because Temporal did not record it. */
export const unwitnessedWords = 'not begun: Temporal did not take it down';
const unwitnessedBeforePause = 3;

/** Pauses when the last requests of a batch never began because Temporal did not record them. */
export async function pauseUnwitnessed(tx: Tx, batch: { batch_id: string; campaign_id: string }, now: number): Promise<void> {
  const last = await tx
    .selectFrom('posts')
    .select('message')
    .where('batch_id', '=', batch.batch_id)
    .orderBy('k', 'desc')
    .limit(unwitnessedBeforePause)
    .execute();
  if (last.length < unwitnessedBeforePause || last.some(({ message }) => message !== unwitnessedWords)) return;
  const reason = `Temporal did not record ${unwitnessedBeforePause} requests in a row, so they were not sent. Check that it is up and that the worker can send heartbeats, then resume.`;
  await changeCampaignState(tx, { campaignId: batch.campaign_id, now }, { to: 'paused', reason });
}

/** Returns whether it paused the campaign. Counts calls that ended since dialling last began: the operator has reviewed earlier ones. */
export async function openBreaker(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  const { breaker } = campaign.rules;
  if (breaker === null) return false;
  // Calls of a number out of use prove nothing about the others.
  const out = await readCallersOut(tx, campaign);
  const recent = tx
    .selectFrom('attempts')
    .where('campaign_id', '=', campaign.campaignId)
    .where('settled_at', '>', Math.max(now - breaker.windowMs, campaign.dialsSince))
    .$if(out.length > 0, (query) =>
      query.where((eb) =>
        eb.not(
          eb.exists(
            // Per call in the window: a long campaign has far more batches.
            batchOfAttempt(eb).where('batches.caller', 'in', out),
          ),
        ),
      ),
    );
  const failures = await recent
    .where('disposition', 'in', failedDispositions)
    .select((eb) => [
      'disposition',
      // For a call that is unknown since its request got no answer: its batch.
      eb
        .case()
        .when('disposition', '=', 'unknown')
        .then(batchOfAttempt(eb).where((batch) => batch.or([batch('accepted_by', 'is', null), batch('accepted_by', '=', 'evidence')])))
        .end()
        .as('lost_batch'),
      eb.fn.countAll<number>().as('count'),
    ])
    .groupBy(['disposition', 'lost_batch'])
    .execute();
  // The usual case: too few failures for any number of calls.
  if (countOf(failures) < breaker.failureShare * breaker.minCalls) return false;
  const all = recent.where('disposition', 'in', dispositions).select((eb) => eb.fn.countAll<number>().as('count'));
  const lost = failures.filter(({ lost_batch: batch }) => batch !== null);
  const evidence = breakerOpens(breaker, {
    ended: countOf(await all.execute()),
    failed: Object.fromEntries(
      failedDispositions.map((each) => [each, countOf(failures.filter(({ disposition }) => disposition === each))]),
    ),
    lost: { batches: lost.length, calls: countOf(lost) },
  });
  if (evidence === null) return false;
  const next = breaker.coolDownMs === null ? 'Find the cause, then resume.' : 'It resumes by itself after its cool-down.';
  const resumeAt = breaker.coolDownMs === null ? null : now + breaker.coolDownMs;
  return changeCampaignState(tx, { campaignId: campaign.campaignId, now }, { to: 'paused', reason: `${evidence}. ${next}`, resumeAt });
}

function batchOfAttempt(eb: ExpressionBuilder<Database, 'attempts'>) {
  return eb.selectFrom('batches').select('batches.batch_id').whereRef('batches.batch_id', '=', 'attempts.batch_id');
}

function countOf(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
