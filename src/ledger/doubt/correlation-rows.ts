import { sql } from 'kysely';
import { readRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import type { CorrelationAttempt } from '../../rules/correlation/evidence.ts';
import { reportsRecipients } from '../../rules/service-api.ts';
import { readInParts } from '../parts.ts';
import type { Queries } from '../tx.ts';
import type { AgentRow, AttemptRow } from '../schema.ts';

export type Timing = CampaignRules['timing'];

interface Surroundings {
  serviceBatchId: string | null;
  template: string | null;
  namedOnly: boolean;
  reported: boolean;
  supersededAt: number | null;
  lookAheadMs: number;
  timing: Pick<Timing, 'clockToleranceMs'>;
}

/** `bounds`: of its batch. */
export function correlationOf(row: AttemptRow, bounds: PostBounds, { lookAheadMs, timing, ...others }: Surroundings): CorrelationAttempt {
  return {
    attemptId: row.attempt_id,
    agentId: row.agent_id,
    e164: row.e164,
    postedAt: bounds.from,
    // Without service time, only its absence from the list before the POST supports a record.
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

/** How long after its POST a call may begin, learnt from this agent. */
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

/** No request was or can be carried out: each that may have arrived was looked up and is certainly absent. */
export const isAbsentForCertain = sql<number>`case when
  exists (select 1 from posts where posts.batch_id = batches.batch_id and posts.absent_at is not null)
  and not exists (select 1 from posts where posts.batch_id = batches.batch_id and posts.absent_at is null
    and not (posts.verdict is not null and posts.verdict = 'not_sent' and posts.status is null)) then 1 else 0 end`;

export interface BatchFacts {
  serviceBatchId: string | null;
  /** Template of the opening lines. */
  template: string | null;
  /** No request was carried out: only a record that names its call can belong to it. */
  namedOnly: boolean;
  /** The service reports calls, and finds requests by mark or key. */
  reported: boolean;
}

export async function readBatches(db: Queries, batchIds: readonly string[]): Promise<Map<string, BatchFacts>> {
  const rows = await readInParts(batchIds, (part) =>
    db
      .selectFrom('batches')
      .innerJoin('campaigns', 'campaigns.campaign_id', 'batches.campaign_id')
      .select(['batches.batch_id', 'batches.service_batch_id as serviceBatchId', 'batches.campaign_id', 'campaigns.api'])
      .select(isAbsentForCertain.as('absent'))
      .where('batches.batch_id', 'in', part)
      .execute(),
  );
  const templates = new Map<string, string | null>();
  for (const id of new Set(rows.map((row) => row.campaign_id))) templates.set(id, (await readRulesOf(db, id)).firstMessage);
  return new Map(
    rows.map(({ batch_id: id, campaign_id: campaignId, serviceBatchId, api, absent }) => {
      const template = templates.get(campaignId) ?? null;
      return [id, { serviceBatchId, template, namedOnly: absent === 1, reported: reportsRecipients(api) }];
    }),
  );
}

/** After this many finished records in a row that identify their calls, records are known to do so. */
export const recordsUntilTrusted = 20;

/** Whether the service reliably shows our reference in records of calls sent with it. */
export function keepsReferences(agent: Pick<AgentRow, 'naming_run'> | undefined): boolean {
  return (agent?.naming_run ?? 0) >= recordsUntilTrusted;
}

export async function readRulesOf(db: Queries, campaignId: string): Promise<CampaignRules> {
  const query = db.selectFrom('campaigns').select('rules').where('campaign_id', '=', campaignId);
  return readRules((await query.executeTakeFirstOrThrow()).rules);
}

/** When a request was made by the service's clock, over all POSTs of a batch. */
export interface PostBounds {
  from: number;
  to: number;
  /** That clock was read before each POST. */
  clocked: boolean;
}

/** Without the service's clock the poster's is used, with a margin; without an answer the request may be carried out until `hold_after`. */
export async function readPostBounds(
  db: Queries,
  batchIds: readonly string[],
  { clockToleranceMs }: { clockToleranceMs: number },
): Promise<Map<string, PostBounds>> {
  const rows = await readInParts([...new Set(batchIds)], (part) =>
    db
      .selectFrom('posts')
      .innerJoin('batches', 'batches.batch_id', 'posts.batch_id')
      .select(['posts.batch_id', 'posts.posted_at', 'posts.service_from', 'posts.service_to', 'posts.verdict_at'])
      .select('batches.hold_after')
      .where('posts.batch_id', 'in', part)
      .execute(),
  );
  const bounds = new Map<string, PostBounds>();
  for (const row of rows) {
    const from = row.service_from ?? row.posted_at - clockToleranceMs;
    const to = row.service_to ?? Math.max(row.verdict_at ?? 0, row.hold_after ?? row.posted_at) + clockToleranceMs;
    const known = bounds.get(row.batch_id);
    bounds.set(row.batch_id, {
      from: Math.min(from, known?.from ?? from),
      to: Math.max(to, known?.to ?? to),
      clocked: row.service_from !== null && known?.clocked !== false,
    });
  }
  return bounds;
}
