import { sqlStates } from '../parts.ts';
import { openAttemptStates } from '../../rules/ledger.ts';
import { sql } from 'kysely';
import type { Campaign } from '../rows/campaigns.ts';
import type { CampaignStatus } from '../campaign/campaign-status.ts';
import { acceptedLate, notToldApart } from '../../rules/disposition.ts';
import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import { campaignsWithOutcome } from '../aggregates.ts';
import { countBy, countRows } from '../reads.ts';
import type { Queries } from '../tx.ts';
import { readWordsKept } from '../doubt/shared-words.ts';
import { readDeferrals } from './waiting.ts';

/** Rows that wait or ended because calls are indistinguishable, and other doubts. */
export interface DoubtCounts {
  /** Due but held: by an open call with the same opening words, or by unread records of an earlier call. */
  waitingForWords: number;
  waitingForEvidence: number;
  /** Count limit of `waitingForWords`. */
  mostCounted: number;
  /** Not called before the end: calls with the same words went one at a time. */
  wordsBusy: number;
  /** Unresolved rows by cause: the row's reason if it names one, else the detail of its last call. */
  unresolved: Record<string, number>;
}

const mostCounted = 1000;
const mostDeferrals = 1000;
const causeReasons: readonly (string | null)[] = [notToldApart, acceptedLate, givenUp];

export async function countDoubt(
  db: Queries,
  campaign: Campaign,
  { status: { outcomes, waiting }, now }: { status: Pick<CampaignStatus, 'outcomes' | 'waiting'>; now: number },
): Promise<DoubtCounts> {
  const { campaignId } = campaign;
  const counts: DoubtCounts = { waitingForWords: 0, waitingForEvidence: 0, mostCounted, wordsBusy: 0, unresolved: {} };
  // Ended rows are many: read only if some can match.
  if ((outcomes.unresolved ?? 0) > 0) counts.unresolved = await countUnresolved(db, campaignId);
  const ended = db.selectFrom('recipients').where('campaign_id', '=', campaignId).where('state', '=', 'done');
  if ((outcomes.expired ?? 0) > 0) counts.wordsBusy = await countRows(ended.where('reason', '=', 'words_busy'));
  if (waiting === 0) return counts;
  const deferred = await readDeferrals(db, { campaignId, now }, mostDeferrals);
  const countFor = (rule: string): number => deferred.reduce((sum, { reason, count }) => sum + (reason === rule ? count : 0), 0);
  counts.waitingForEvidence = countFor('evidence');
  counts.waitingForWords = countFor('words');
  if (await readWordsKept(db, campaign)) counts.waitingForWords += await countBehindWords(db, campaign, now);
  return counts;
}

export function countUndecided(unresolved: DoubtCounts['unresolved']): number {
  return Object.entries(unresolved).reduce((sum, [cause, count]) => sum + (cause === givenUp ? 0 : count), 0);
}

/** By campaign; campaigns without any are missing. */
export async function countUndecidedPeople(db: Queries): Promise<ReadonlyMap<string, number>> {
  const campaigns = await campaignsWithOutcome(db, 'unresolved');
  if (campaigns.size === 0) return new Map();
  const undecided = unresolvedRows(db)
    .where('campaign_id', 'in', [...campaigns])
    .where((eb) => eb.or([eb('reason', 'is', null), eb('reason', '!=', givenUp)]));
  return new Map(Object.entries(await countBy(undecided, 'campaign_id')));
}

function unresolvedRows(db: Queries) {
  return db.selectFrom('recipients').where('recipients.state', '=', 'done').where('recipients.outcome', '=', 'unresolved');
}

export async function countUnresolved(db: Queries, campaignId: string): Promise<Record<string, number>> {
  const groups = await unresolvedRows(db)
    .leftJoin('attempts', 'attempts.attempt_id', 'recipients.last_attempt_id')
    .select((eb) => ['recipients.reason', 'attempts.detail', eb.fn.countAll<number>().as('count')])
    .where('recipients.campaign_id', '=', campaignId)
    .groupBy(['recipients.reason', 'attempts.detail'])
    .execute();
  const unresolved: Record<string, number> = {};
  for (const { reason, detail, count } of groups) {
    const cause = (causeReasons.includes(reason) ? reason : detail) ?? reason ?? 'unknown';
    unresolved[cause] = (unresolved[cause] ?? 0) + count;
  }
  return unresolved;
}

/** From the few open calls to the due rows with their opening words. */
async function countBehindWords(db: Queries, { campaignId, rules }: Campaign, now: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select recipients.recipient_id from attempts join recipients on recipients.words_key = attempts.words_key
      where attempts.agent_id = ${rules.agentId} and attempts.state in (${sqlStates(openAttemptStates)})
        and attempts.words_key is not null and recipients.campaign_id = ${campaignId}
        and recipients.state = 'waiting' and recipients.due_at <= ${now}
      limit ${sql.lit(mostCounted)}) behind`.execute(db);
  return rows[0]?.count ?? 0;
}
