import { readRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import { reportsRecipients } from '../../rules/service-api.ts';
import { readAgent } from './correlation-rows.ts';
import { groupBy } from '../../rules/collections.ts';
import type { Queries, Tx } from '../tx.ts';
import { updateBatch } from '../updates.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** Sweeps further apart than this (service time) leave a gap in which the settle deadline does not run. */
const longestPauseMs = 120_000;

/** After a refusal, or a 429: a service that carried the request out all the same shows it by then. */
export const refusalDoubtMs = 60_000;

/** Between two sweeps that read far back only because somebody waits to be dialled again. */
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

/** The instant after which a complete sweep may conclude that a batch's missing records will not come. */
export function settleDeadline({ batch, rules, reported }: OpenBatch, longestLagMs: number): number | null {
  // A request that can be looked up is not concluded about from records.
  if (reported && batch.state !== 'confirmed') return null;
  if (batch.state === 'unknown') return batch.hold_after;
  if (batch.state === 'refused') return (batch.verdict_at ?? 0) + Math.max(refusalDoubtMs, longestLagMs);
  if (batch.state !== 'confirmed' || batch.progress_at === null) return null;
  const settled = batch.progress_at + rules.timing.settleMs;
  // Without a reply, who has no record becomes `unknown`, which a person may decide about at once: not before the late delivery is over.
  return batch.accepted_by === 'reply' ? settled : Math.max(settled, batch.hold_after ?? 0);
}

/**
 * Since when a sweep must have looked into every record, because something negative would be concluded; null: nothing would. A batch that
 * was posted again may have records since its first POST.
 */
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
  // Nothing is known of a request that no look-up finds before the list was read since then, too.
  const missed = open.filter(
    ({ batch }) => batch.state !== 'confirmed' && batch.not_found_at !== null && (agent?.swept_begun_at ?? 0) <= batch.not_found_at,
  );
  since.push(...missed.map(({ batch, rules }) => (batch.first_posted_at ?? 0) - rules.timing.clockToleranceMs));
  return since.length === 0 ? null : Math.min(...since);
}

/** Has the list read back to `backTo`, however much of it is known. */
export async function wantSweep(tx: Tx, campaignId: string, backTo: number): Promise<void> {
  await tx
    .updateTable('campaigns')
    .set({ sweep_back_to: backTo })
    .where('campaign_id', '=', campaignId)
    .where((eb) => eb.or([eb('sweep_back_to', 'is', null), eb('sweep_back_to', '>', backTo)]))
    .execute();
}

/** Time in which nobody looked does not count towards the settle deadline; the time that a sweep takes is time in which somebody does. */
export async function skipGap(
  tx: Tx,
  open: OpenBatch[],
  { lastCompleteAt, begunAt }: { lastCompleteAt: number | null; begunAt: number },
): Promise<void> {
  for (const entry of open) {
    const { batch, rules, reported } = entry;
    // Its calls are asked about without the list.
    if (reported || batch.state !== 'confirmed' || batch.progress_at === null) continue;
    const gap = begunAt - Math.max(lastCompleteAt ?? 0, batch.progress_at);
    if (gap <= Math.max(longestPauseMs, 5 * rules.timing.pollMs)) continue;
    const progressAt = batch.progress_at + gap;
    await updateBatch(tx, batch.batch_id, { progress_at: progressAt });
    entry.batch = { ...batch, progress_at: progressAt };
  }
}
