import { readRules, type CampaignRules } from '../../rules/campaign-rules.ts';
import type { RecordPointers } from '../../rules/conversation-facts.ts';
import type { AttemptState } from '../../rules/ledger.ts';
import type { Queries } from '../tx.ts';

/** What to find in records, combined from the files of all the agent's campaigns under way. */
export interface AgentRecords {
  pointers: RecordPointers;
  optOut: CampaignRules['optOut'];
  /** Several campaigns wait for records: only a read shows whose call is over. */
  isShared: boolean;
}

const awaitedStates: readonly AttemptState[] = ['posting', 'open'];

export async function readAgentRecords(db: Queries, agentId: string): Promise<AgentRecords> {
  const campaigns = await db
    .selectFrom('campaigns')
    .select('rules')
    .where('agent_id', '=', agentId)
    .where('state', 'in', ['running', 'paused', 'draining'])
    .orderBy('campaign_id')
    .execute();
  const all = campaigns.map(({ rules }) => readRules(rules));
  const unique = (lists: (readonly string[])[]): string[] => [...new Set(lists.flat())];
  const pointers = {
    calleeNumber: unique(all.map(({ correlation }) => correlation.calleeNumber)),
    batchId: unique(all.map(({ correlation }) => correlation.batchId)),
    reference: unique(all.map(({ correlation }) => correlation.reference)),
    values: unique(all.map(({ dispositions }) => dispositions.map(({ pointer }) => pointer))),
  };
  return { pointers, optOut: all.flatMap(({ optOut }) => optOut), isShared: await isAgentShared(db, agentId) };
}

/**
 * Service milliseconds between sweeps of an agent's list. Campaigns share sweeps, twice as often as one alone: none waits longer for the
 * others.
 */
export async function pauseBetweenSweeps(
  db: Queries,
  { agentId, timing }: { agentId: string; timing: Pick<CampaignRules['timing'], 'pollMs'> },
): Promise<number> {
  return (await isAgentShared(db, agentId)) ? timing.pollMs / 2 : timing.pollMs;
}

async function isAgentShared(db: Queries, agentId: string): Promise<boolean> {
  const waiting = await db
    .selectFrom('attempts')
    .select('campaign_id')
    .distinct()
    .where('agent_id', '=', agentId)
    .where('state', 'in', awaitedStates)
    .where('conversation_id', 'is', null)
    .limit(2)
    .execute();
  return waiting.length > 1;
}
