import { attemptNamedBy } from '../../rules/ids.ts';
import { carriedOutTwice } from '../../rules/disposition.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { readInParts } from '../parts.ts';
import { changeCampaignState } from '../rows/campaigns.ts';
import type { Tx } from '../tx.ts';
import { updateBatch } from '../updates.ts';

/** A batch of ours, and the names of all that the service has made of its request. */
export interface MadeTwice {
  batchId: string;
  serviceBatchIds: string[];
}

/**
 * Pauses a campaign once for each batch of which the service has made another: a record names a call of ours under another batch. See
 * `judgeOne`.
 */
export async function findMadeTwice(tx: Tx, agentId: string, { since, now }: { since: number; now: number }): Promise<MadeTwice[]> {
  const rows = await tx
    .selectFrom('conversations')
    .select('facts')
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('reads', '>', 0)
    .where('gone', '=', 0)
    .where((eb) => eb.or([eb('started_at', 'is', null), eb('started_at', '>=', since)]))
    .execute();
  const others = new Map<string, string>();
  for (const row of rows) {
    const { batchId, references } = JSON.parse(row.facts) as ConversationFacts;
    const named = references.filter((reference) => attemptNamedBy(reference) !== null);
    // A record that a report has taken for another's names both.
    if (batchId !== null && named.length === 1) others.set(named[0] ?? '', batchId);
  }
  const attemptIds = [...others.keys()].flatMap((reference) => attemptNamedBy(reference) ?? []);
  const attempts = await readInParts(attemptIds, (part) =>
    tx
      .selectFrom('attempts')
      .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
      .select(['attempts.reference', 'batches.batch_id', 'batches.service_batch_id', 'batches.campaign_id', 'batches.n'])
      .where('attempts.attempt_id', 'in', part)
      .where('batches.service_batch_id', 'is not', null)
      .where((eb) => eb.or([eb('batches.reason', 'is', null), eb('batches.reason', '!=', carriedOutTwice)]))
      .execute(),
  );
  const twice = new Map<string, MadeTwice>();
  for (const { reference, batch_id: batchId, service_batch_id: own, campaign_id: campaignId, n } of attempts) {
    const other = others.get(reference ?? '');
    if (other === undefined || own === null || other === own) continue;
    const known = twice.get(batchId);
    if (known !== undefined) {
      if (!known.serviceBatchIds.includes(other)) known.serviceBatchIds.push(other);
      continue;
    }
    twice.set(batchId, { batchId, serviceBatchIds: [own, other] });
    await updateBatch(tx, batchId, { reason: carriedOutTwice });
    await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason: twiceReason(n) });
  }
  return [...twice.values()];
}

export function twiceReason(n: number): string {
  return `The service has the request for batch ${n} more than once. Look there which of its calls were made, decide about its rows, then resume.`;
}
