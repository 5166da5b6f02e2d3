import { readRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import { type CorrelationAttempt } from '../../rules/correlation/evidence.ts';
import { readInParts } from '../parts.ts';
import type { Queries } from '../tx.ts';
import { readPostBounds, type PostBounds } from './post-bounds.ts';
import type { AgentRow, AttemptRow } from '../schema.ts';

export type Timing = CampaignRules['timing'];

/** What else is known of an attempt's batch, its agent and its campaign. */
interface Surroundings {
  serviceBatchId: string | null;
  template: string | null;
  supersededAt: number | null;
  lookAheadMs: number;
  timing: Pick<Timing, 'clockToleranceMs'>;
}

/** An attempt as correlation looks at it. `bounds` of its batch; none: it was never posted. */
export function correlationOf(row: AttemptRow, bounds: PostBounds, { lookAheadMs, timing, ...others }: Surroundings): CorrelationAttempt {
  return {
    attemptId: row.attempt_id,
    agentId: row.agent_id,
    e164: row.e164,
    postedAt: bounds.from,
    // Where the service tells no time, only that a record was not listed before the POST speaks for it.
    possibleFrom: bounds.clocked ? bounds.from - timing.clockToleranceMs : 0,
    possibleUntil: bounds.to + lookAheadMs,
    reference: row.reference,
    openingLine: row.opening_line,
    open: row.state !== 'settled' && row.state !== 'released',
    conversationId: row.conversation_id,
    rangAt: row.rang_at,
    ...others,
  };
}

/** How long after its POST a call may still begin, as far as this agent has shown. */
export function lookAheadOf(agent: Pick<AgentRow, 'longest_delay_ms'> | undefined, { lateLookbackMs }: Timing): number {
  return Math.max(lateLookbackMs, 2 * (agent?.longest_delay_ms ?? 0));
}

export async function readAgent(db: Queries, agentId: string): Promise<AgentRow | undefined> {
  return db.selectFrom('agents').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
}

export async function toCorrelation(
  db: Queries,
  attempts: readonly AttemptRow[],
  { lookAheadMs, timing }: { lookAheadMs: number; timing: Timing },
): Promise<CorrelationAttempt[]> {
  const batchIds = [...new Set(attempts.map((row) => row.batch_id))];
  const bounds = await readPostBounds(db, batchIds, timing);
  const batches = await readBatches(db, batchIds);
  return attempts.flatMap((row) => {
    const own = bounds.get(row.batch_id);
    const batch = batches.get(row.batch_id);
    return own === undefined || batch === undefined ? [] : [correlationOf(row, own, { ...batch, supersededAt: null, lookAheadMs, timing })];
  });
}

/** Of batches: the service's id, and the template of their opening lines. */
export async function readBatches(
  db: Queries,
  batchIds: readonly string[],
): Promise<Map<string, { serviceBatchId: string | null; template: string | null }>> {
  const rows = await readInParts(batchIds, (part) =>
    db
      .selectFrom('batches')
      .select(['batch_id', 'service_batch_id as serviceBatchId', 'campaign_id'])
      .where('batch_id', 'in', part)
      .execute(),
  );
  const templates = new Map<string, string | null>();
  for (const id of new Set(rows.map((row) => row.campaign_id))) templates.set(id, (await readRulesOf(db, id)).firstMessage);
  return new Map(
    rows.map(({ batch_id: id, campaign_id: campaignId, serviceBatchId }) => {
      return [id, { serviceBatchId, template: templates.get(campaignId) ?? null }];
    }),
  );
}

/** The rules of a campaign as its file had them. */
export async function readRulesOf(db: Queries, campaignId: string): Promise<CampaignRules> {
  const query = db.selectFrom('campaigns').select('rules').where('campaign_id', '=', campaignId);
  return readRules((await query.executeTakeFirstOrThrow()).rules);
}
