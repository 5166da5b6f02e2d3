import { readRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import { reportsRecipients } from '../../rules/service-api.ts';
import { readAgent } from './correlation-rows.ts';
import { groupBy } from '../../rules/collections.ts';
import type { Queries, Tx } from '../tx.ts';
import { updateBatch } from '../updates.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** Longer gaps between sweeps (service time) do not count towards the settle deadline. */
const longestPauseMs = 120_000;

/** After a refusal or 429: by then a service that carried out the request shows it. */
export const refusalDoubtMs = 60_000;

/** Between deep sweeps made only for recipients waiting for a redial. */
export const deepSweepPauseMs = 30 * 60_000;

export interface OpenBatch {
  batch: BatchRow;
  rules: CampaignRules;
  reported: boolean;
  /** Open attempts without a conversation. */
  missing: AttemptRow[];
}

export async function findOpenBatches(db: Queries, agentId: string): Promise<OpenBatch[]> {
  const attempts = await db
    .selectFrom('attempts')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('state', '=', 'open')
    .where('conversation_id', 'is', null)
    .orderBy('position')
    .execute();
  const campaigns = new Map<string, Pick<OpenBatch, 'rules' | 'reported'>>();
  const open: OpenBatch[] = [];
  for (const [batchId, missing] of groupBy(attempts, (attempt) => attempt.batch_id)) {
    const batch = await db.selectFrom('batches').selectAll().where('batch_id', '=', batchId).executeTakeFirstOrThrow();
    const campaign = campaigns.get(batch.campaign_id) ?? (await readTerms(db, batch.campaign_id));
    campaigns.set(batch.campaign_id, campaign);
    open.push({ batch, ...campaign, missing });
  }
  return open;
}

async function readTerms(db: Queries, campaignId: string): Promise<Pick<OpenBatch, 'rules' | 'reported'>> {
  const query = db.selectFrom('campaigns').select(['rules', 'api']).where('campaign_id', '=', campaignId);
  const { rules, api } = await query.executeTakeFirstOrThrow();
  return { rules: readRules(rules), reported: reportsRecipients(api) };
}

/** After this a complete sweep may conclude that missing records will not come; null: none. */
export function settleDeadline({ batch, rules, reported }: OpenBatch, longestLagMs: number): number | null {
  // Look-ups decide about such a request, not records.
  if (reported && batch.state !== 'confirmed') return null;
  if (batch.state === 'unknown') return batch.hold_after;
  if (batch.state === 'refused') return (batch.verdict_at ?? 0) + Math.max(refusalDoubtMs, longestLagMs);
  if (batch.state !== 'confirmed' || batch.progress_at === null) return null;
  const settled = batch.progress_at + rules.timing.settleMs;
  // Without a reply a missing record means `unknown`, which an operator may decide at once: not before late delivery is over.
  return batch.accepted_by === 'reply' ? settled : Math.max(settled, batch.hold_after ?? 0);
}

/** Since when a sweep must read every record before a negative conclusion; null: none is due. Counts from a batch's first POST. */
export async function conclusionDueSince(db: Queries, agentId: string, now: number): Promise<number | null> {
  const agent = await readAgent(db, agentId);
  const open = await findOpenBatches(db, agentId);
  const since = open
    .filter((entry) => (settleDeadline(entry, agent?.longest_lag_ms ?? 0) ?? Infinity) < now)
    .map(({ batch, rules }) => (batch.first_posted_at ?? 0) - rules.timing.clockToleranceMs);
  const { back } = await db
    .selectFrom('campaigns')
    .select((eb) => eb.fn.min('sweep_back_to').as('back'))
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow();
  const isRecent = (agent?.swept_begun_at ?? 0) > now - deepSweepPauseMs && (agent?.swept_from ?? Infinity) <= (back ?? 0);
  if (back !== null && !isRecent) since.push(back);
  // A missed look-up also needs a sweep since then.
  const missed = open.filter(
    ({ batch }) => batch.state !== 'confirmed' && batch.not_found_at !== null && (agent?.swept_begun_at ?? 0) <= batch.not_found_at,
  );
  since.push(...missed.map(({ batch, rules }) => (batch.first_posted_at ?? 0) - rules.timing.clockToleranceMs));
  return since.length === 0 ? null : Math.min(...since);
}

/** Sweeps back to `backTo`, past known records. */
export async function wantSweep(tx: Tx, campaignId: string, backTo: number): Promise<void> {
  await tx
    .updateTable('campaigns')
    .set({ sweep_back_to: backTo })
    .where('campaign_id', '=', campaignId)
    .where((eb) => eb.or([eb('sweep_back_to', 'is', null), eb('sweep_back_to', '>', backTo)]))
    .execute();
}

/** Time without sweeps does not count towards the settle deadline; a sweep's own duration does. */
export async function skipGap(
  tx: Tx,
  open: OpenBatch[],
  { lastCompleteAt, begunAt }: { lastCompleteAt: number | null; begunAt: number },
): Promise<void> {
  for (const entry of open) {
    const { batch, rules, reported } = entry;
    // Its calls are reported without the list.
    if (reported || batch.state !== 'confirmed' || batch.progress_at === null) continue;
    const gap = begunAt - Math.max(lastCompleteAt ?? 0, batch.progress_at);
    if (gap <= Math.max(longestPauseMs, 5 * rules.timing.pollMs)) continue;
    const progressAt = batch.progress_at + gap;
    await updateBatch(tx, batch.batch_id, { progress_at: progressAt });
    entry.batch = { ...batch, progress_at: progressAt };
  }
}
