import { readRules } from '../domain/campaign-rules.ts';
import type { RecordPointers } from '../domain/conversation-facts.ts';
import type { Queries } from './open-store.ts';

/** Where the records of an agent are to be looked into: what the campaign files of all its campaigns under way say, together. */
export async function readPointers(db: Queries, agentId: string): Promise<RecordPointers> {
  const campaigns = await db
    .selectFrom('campaigns')
    .select('rules')
    .where('agent_id', '=', agentId)
    .where('state', 'in', ['running', 'paused', 'draining'])
    .orderBy('campaign_id')
    .execute();
  const all = campaigns.map(({ rules }) => readRules(rules));
  const unique = (lists: (readonly string[])[]): string[] => [...new Set(lists.flat())];
  return {
    calleeNumber: unique(all.map(({ correlation }) => correlation.calleeNumber)),
    batchId: unique(all.map(({ correlation }) => correlation.batchId)),
    reference: unique(all.map(({ correlation }) => correlation.reference)),
    values: unique(all.map(({ dispositions }) => dispositions.map(({ pointer }) => pointer))),
  };
}
