import type { Config } from '../config.ts';
import type { CallService } from '../service/port/call-service.ts';
import type { ServiceList } from '../verify/judge-list.ts';
import { accountIdOf, explainServiceFault } from './service.ts';

/** The service's own list of conversations, as the judge reads it. */
export function serviceList(config: Config, service: CallService): ServiceList {
  return {
    accountId: accountIdOf(config),
    async *list(agentId) {
      try {
        for await (const { direction, ...facts } of service.allRecords({ agentId })) {
          yield { ...facts, inbound: direction === 'inbound' };
        }
      } catch (error) {
        throw explainServiceFault(config, error);
      }
    },
  };
}
