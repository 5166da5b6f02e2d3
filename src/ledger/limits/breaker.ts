import type { ExpressionBuilder } from 'kysely';
import { dispositions } from '../../rules/disposition.ts';
import { breakerOpens, failedDispositions } from '../../rules/pacing/breaker.ts';
import { readCallersOut } from './callers.ts';
import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import type { Database } from '../schema.ts';
import type { Tx } from '../tx.ts';

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
