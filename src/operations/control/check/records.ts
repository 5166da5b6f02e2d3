import type { Config } from '../../../shared/config.ts';
import type { CallService } from '../../../service/port/call-service.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import type { ConversationFacts } from '../../../rules/conversation-facts.ts';
import { askIfPossible, type NotAsked } from './service.ts';

/** What the agent's records show of whose calls they are. */
export type RecordsState =
  | NotAsked
  | {
      asked: true;
      /** Finished records of outbound calls among the newest of the agent that were read. */
      read: number;
      /** Those that show the number or a reference, and those that may be a talk and show neither that nor words. */
      naming: number;
      silent: number;
    };

/** Records listed, and of those the most that are read. */
const listed = 200;
const mostRead = 20;

type ReadRules = Pick<CampaignRules, 'agentId' | 'correlation' | 'timing'>;

/** Looks at the agent's newest records. */
export function checkRecords(config: Config, rules: ReadRules): Promise<RecordsState> {
  return askIfPossible(config, (service) => readNewest(service, rules));
}

async function readNewest(service: CallService, { agentId, correlation, timing }: ReadRules) {
  const pointers = { ...correlation, values: [] };
  const entries: ConversationFacts[] = [];
  for await (const facts of service.allRecords({ agentId }, pointers)) if (entries.push(facts) === listed) break;
  const newest = entries.filter(({ direction }) => direction !== 'inbound').sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0));
  const found = { read: 0, naming: 0, silent: 0 };
  for (const { conversationId } of newest) {
    if (found.read === mostRead) break;
    const { facts } = await service.record(conversationId, { agentId, pointers });
    if (facts.direction === 'inbound' || (facts.status !== 'done' && facts.status !== 'failed')) continue;
    found.read += 1;
    if (facts.calleeNumber !== null || facts.references.some((text) => ourReference.test(text))) found.naming += 1;
    else if (facts.openingLine === null && mayHideTalk(facts, timing.ringLimitMs)) found.silent += 1;
  }
  return found;
}

/** A result of the carrier, or next to no duration, shows that nobody spoke. */
function mayHideTalk({ callResult, status, durationMs }: ConversationFacts, ringLimitMs: number): boolean {
  if (callResult !== null) return callResult === 'answered';
  return status !== 'failed' && (durationMs === null || durationMs > ringLimitMs);
}

/** `<ledger>:<campaign>/<row>/<number>`, or what a test call sends. */
const ourReference = /^[^:\s]+:[^\s]+\/\d+\/\d+$/;
