import type { Config } from '../config.ts';
import type { ConvaiClient } from '../service/convai/client.ts';
import { factsFromListEntry } from '../service/convai/record-facts.ts';
import type { ServiceList } from '../verify/judge-list.ts';
import { accountIdOf, explainServiceFault } from './service.ts';

/** The service's own list of conversations, as the judge reads it. */
export function serviceList(config: Config, client: ConvaiClient): ServiceList {
  return {
    accountId: accountIdOf(config),
    async *list(agentId) {
      try {
        for await (const entry of client.listConversations({ agentId })) {
          const { direction, ...facts } = factsFromListEntry(entry);
          yield { ...facts, inbound: direction === 'inbound' };
        }
      } catch (error) {
        throw explainServiceFault(config, error);
      }
    },
  };
}
