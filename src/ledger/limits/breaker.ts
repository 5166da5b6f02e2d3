import { dispositions, type Disposition } from '../../domain/disposition.ts';
import { breakerOpens, failedDispositions } from '../../domain/pacing/breaker.ts';
import { readCallersOut } from './callers.ts';
import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import type { Tx } from '../tx.ts';

/**
 * Pauses a campaign of whose latest calls too many failed; answers whether it did. Only calls that ended since it last began to dial
 * count: a person has looked at those before.
 */
export async function openBreaker(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  const { breaker } = campaign.rules;
  if (breaker === null) return false;
  // A number that has been taken out has nothing to say of the others.
  const out = await readCallersOut(tx, campaign);
  const endedAs = (among: readonly Disposition[]) =>
    tx
      .selectFrom('attempts')
      .select((eb) => ['disposition', eb.fn.countAll<number>().as('count')])
      .where('campaign_id', '=', campaign.campaignId)
      .where('disposition', 'in', among)
      .where('settled_at', '>', Math.max(now - breaker.windowMs, campaign.dialsSince))
      .$if(out.length > 0, (query) =>
        query.where((eb) =>
          eb.not(
            eb.exists(
              // Asked of each call in the window: a long campaign has far more batches.
              eb
                .selectFrom('batches')
                .select('batches.batch_id')
                .whereRef('batches.batch_id', '=', 'attempts.batch_id')
                .where('batches.caller', 'in', out),
            ),
          ),
        ),
      )
      .groupBy('disposition')
      .execute();
  const failures = await endedAs(failedDispositions);
  // Where too few failed for any number of calls, which is nearly always, the others need not be counted.
  if (countOf(failures) < breaker.failureShare * breaker.minCalls) return false;
  const ended = countOf(await endedAs(dispositions));
  const failed = Object.fromEntries(failures.map(({ disposition, count }) => [disposition, count]));
  const evidence = breakerOpens(breaker, { ended, failed });
  if (evidence === null) return false;
  const next =
    breaker.coolDownMs === null ? 'Find the cause, then resume.' : 'It resumes by itself after its cool-down.';
  const resumeAt = breaker.coolDownMs === null ? null : now + breaker.coolDownMs;
  return changeCampaignState(
    tx,
    { campaignId: campaign.campaignId, now },
    { to: 'paused', reason: `${evidence}. ${next}`, resumeAt },
  );
}

function countOf(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
