import type { ServiceClock } from '../src/convai/service-clock.ts';
import { readRulesOf } from '../src/ledger/doubt/open-batches.ts';
import { findDeniedBatch } from '../src/ledger/dial/denied-calls.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { sweepAgent } from './sweep.ts';

/**
 * Reads the agent's list before a batch is sent again that the service answered, and is said not to have taken (429): a record of one
 * of its calls shows that it did. A list that cannot be read holds nobody up: what is stored is asked in any case.
 */
export async function lookBeforeRepost(
  deps: ActivityDependencies,
  clock: ServiceClock,
  batchId: string,
  onProgress: () => void,
): Promise<void> {
  const denied = await findDeniedBatch(deps.store.db, batchId);
  if (denied === undefined) return;
  const { agentId, timing } = await readRulesOf(deps.store.db, denied.campaign_id);
  await sweepAgent(deps, clock, agentId, timing, onProgress);
}
