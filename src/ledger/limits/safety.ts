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

/** Calls that may be made before the service has shown one record of the campaign. */
const canaryCalls = 20;
/** Between two looks at a list that has not been readable since a batch became unknown; the collector tells of one that is. */
const readPauseMs = 30_000;
const firstBackoffMs = 30_000;
const longestBackoffMs = 15 * 60_000;

/** Back-off after the nth batch in a row whose fate is unknown: 30 s, doubling, at most 15 min. */
export function unknownBackoffMs(streak: number): number {
  return Math.min(firstBackoffMs * 2 ** Math.max(0, streak - 1), longestBackoffMs);
}

/**
 * The instant before which no POST may begin, or null: the service's Retry-After, or, after an unknown batch, until a read has succeeded
 * and the back-off is over.
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
 * Calls left before the service has shown one record of this campaign, or null when it has: until then a missing record proves nothing.
 * Where nobody vouches for the caller number, one batch must show a conversation before a second begins.
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

/** Pauses a campaign whose first calls have all ended without one conversation. Answers false while some are still open. */
export async function pauseUnproven(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  if ((await countOpen(tx, campaign.campaignId)) > 0) return false;
  const reason = campaign.callerProven
    ? 'The service shows no record of the first calls, so it is unknown who was reached. Check its list of conversations, then resume; each resume allows 20 more calls.'
    : 'None of the first calls led to a conversation. Check with the service that the caller number is verified, then resume.';
  return changeCampaignState(tx, { campaignId: campaign.campaignId, now }, { to: 'paused', reason });
}

/** Of a request that was never begun: Temporal did not take it down. */
export const unwitnessedWords = 'not begun: Temporal did not take it down';
const unwitnessedBeforePause = 3;

/** Pauses a campaign when the last requests of a batch all were never begun because Temporal did not take them down. */
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

/** Answers whether it paused the campaign. Only calls that ended since it last began to dial count: a person has looked at the others. */
export async function openBreaker(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  const { breaker } = campaign.rules;
  if (breaker === null) return false;
  // A number that has been taken out has nothing to say of the others.
  const out = await readCallersOut(tx, campaign);
  const recent = tx
    .selectFrom('attempts')
    .where('campaign_id', '=', campaign.campaignId)
    .where('settled_at', '>', Math.max(now - breaker.windowMs, campaign.dialsSince))
    .$if(out.length > 0, (query) =>
      query.where((eb) =>
        eb.not(
          eb.exists(
            // Asked of each call in the window: a long campaign has far more batches.
            batchOfAttempt(eb).where('batches.caller', 'in', out),
          ),
        ),
      ),
    );
  const failures = await recent
    .where('disposition', 'in', failedDispositions)
    .select((eb) => [
      'disposition',
      // Of a call that is unknown since its request had no answer: its batch.
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
  // Where too few failed for any number of calls, which is nearly always, the others need not be counted.
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
