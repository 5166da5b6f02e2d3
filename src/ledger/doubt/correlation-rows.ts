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

/** That no request of a batch was carried out, or can be: each that may have arrived was looked up, and is absent for certain. */
export const isAbsentForCertain = sql<number>`case when
  exists (select 1 from posts where posts.batch_id = batches.batch_id and posts.absent_at is not null)
  and not exists (select 1 from posts where posts.batch_id = batches.batch_id and posts.absent_at is null
    and not (posts.verdict is not null and posts.verdict = 'not_sent' and posts.status is null)) then 1 else 0 end`;

export interface BatchFacts {
  serviceBatchId: string | null;
  /** Of the opening lines of its calls. */
  template: string | null;
  /** No request of it was carried out, so that only a record which names a call of it can be of one. */
  namedOnly: boolean;
  /** The service reports its calls, and finds its request by mark or key. */
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

/** So many finished records in a row have shown what tells calls apart: then it is known that records do. */
export const recordsThatTell = 20;

/** Whether the service is known to show our reference in the record of each call that was sent with it. */
export function keepsReferences(agent: Pick<AgentRow, 'naming_run'> | undefined): boolean {
  return (agent?.naming_run ?? 0) >= recordsThatTell;
}

export async function readRulesOf(db: Queries, campaignId: string): Promise<CampaignRules> {
  const query = db.selectFrom('campaigns').select('rules').where('campaign_id', '=', campaignId);
  return readRules((await query.executeTakeFirstOrThrow()).rules);
}

/** Between which instants of the service's clock a request was made, over all POSTs of its batch. */
export interface PostBounds {
  from: number;
  to: number;
  /** Whether the service's clock was read before each of them. */
  clocked: boolean;
}

/**
 * Bounds of posted batches. Without the service's clock that of the poster stands in, with a margin; without an answer the request may be
 * carried out until `hold_after`.
 */
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
