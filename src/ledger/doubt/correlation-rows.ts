import { type Selectable } from 'kysely';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { type CorrelationAttempt } from '../../domain/correlation/evidence.ts';
import type { Queries } from '../open-ledger.ts';
import { readPostBounds, type PostBounds } from './post-bounds.ts';
import type { Database } from '../schema.ts';

export type AttemptRow = Selectable<Database['attempts']>;

export type AgentRow = Selectable<Database['agents']>;

export type Timing = CampaignRules['timing'];

/** An attempt as correlation looks at it. `bounds` of its batch; none: it was never posted. */
export function correlationOf(
  row: AttemptRow,
  bounds: PostBounds,
  more: { serviceBatchId: string | null; template: string | null; supersededAt: number | null; lookAheadMs: number },
  timing: Pick<Timing, 'clockToleranceMs'>,
): CorrelationAttempt {
  const { lookAheadMs, ...others } = more;
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
  tx: Queries,
  attempts: readonly AttemptRow[],
  lookAheadMs: number,
  timing: Timing,
): Promise<CorrelationAttempt[]> {
  const batchIds = [...new Set(attempts.map((row) => row.batch_id))];
  const bounds = await readPostBounds(tx, batchIds, timing);
  const batches = await readBatches(tx, batchIds);
  return attempts.flatMap((row) => {
    const own = bounds.get(row.batch_id);
    const batch = batches.get(row.batch_id);
    return own === undefined || batch === undefined
      ? []
      : [correlationOf(row, own, { ...batch, supersededAt: null, lookAheadMs }, timing)];
  });
}

const valuesPerQuery = 500;

/** Of batches: the service's id, and the template of their opening lines. */
export async function readBatches(
  tx: Queries,
  batchIds: readonly string[],
): Promise<Map<string, { serviceBatchId: string | null; template: string | null }>> {
  const found = new Map<string, { serviceBatchId: string | null; template: string | null }>();
  const templates = new Map<string, string | null>();
  for (let start = 0; start < batchIds.length; start += valuesPerQuery) {
    const rows = await tx
      .selectFrom('batches')
      .select(['batch_id', 'service_batch_id', 'campaign_id'])
      .where('batch_id', 'in', batchIds.slice(start, start + valuesPerQuery))
      .execute();
    for (const row of rows) {
      if (!templates.has(row.campaign_id)) templates.set(row.campaign_id, await readTemplate(tx, row.campaign_id));
      found.set(row.batch_id, {
        serviceBatchId: row.service_batch_id,
        template: templates.get(row.campaign_id) ?? null,
      });
    }
  }
  return found;
}

async function readTemplate(tx: Queries, campaignId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('campaigns')
    .select('rules')
    .where('campaign_id', '=', campaignId)
    .executeTakeFirstOrThrow();
  return (JSON.parse(row.rules) as { firstMessage?: string | null }).firstMessage ?? null;
}
