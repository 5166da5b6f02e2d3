import { factsOf } from '../../core/dialects.ts';
import { findAgent, findNumber } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import type { PhoneNumber } from '../../core/state/agent.ts';
import { addNumber, defaultProvider } from '../../core/state/service-state.ts';
import { pageOf } from '../../http/cursor.ts';
import type { Handlers } from '../../http/serve-routes.ts';
import { validate } from '../../schemas/validate.ts';
import { describeNumber } from '../records/agent-record.ts';

/** The contract's operations, plus deletion, single reads and paged lists as in comparable services (gaps A.2). */
export function numberRoutes(service: Service): Partial<Handlers> {
  const facts = factsOf(service.settings);
  const describe = (number: PhoneNumber): Record<string, unknown> =>
    describeNumber(number, service.state.agents.get(number.agentId ?? '') ?? null, facts);
  const requireNumber = (id: (parameter: string) => string): PhoneNumber => {
    const numberId = id('phone_number_id');
    if (service.state.wasNumberDeleted(numberId)) service.conduct.noteDeletedUse('phone number', numberId);
    return findNumber(service, numberId);
  };
  return {
    list_phone_numbers: () => [...service.state.numbers.values()].map(describe),

    import_phone_number: ({ request, body }) => {
      const given = request.body;
      // Uses upstream's field names if the body has them, else the contract's (gaps A.1).
      const isAlias = facts.further && typeof given === 'object' && given !== null && ('sid' in given || 'token' in given);
      const input = isAlias ? validate(service.schemas.importNumberByAlias, 'body', given) : body();
      const { agent_id: agentId = null, provider = defaultProvider } = 'sid' in input ? input : {};
      if (agentId !== null) findAgent(service, agentId, 'agent_id');
      const number = addNumber(service, {
        label: input.label,
        phoneNumber: input.phone_number,
        provider,
        accountSid: 'sid' in input ? input.sid : input.telephony_account_sid,
        agentId,
        type: 'purchased',
        verified: true,
      });
      return { phone_number_id: number.phoneNumberId };
    },

    assign_phone_number: ({ id, body }) => {
      const number = requireNumber(id);
      const { agent_id: agentId } = body();
      findAgent(service, agentId, 'agent_id');
      number.agentId = agentId;
      return describe(number);
    },

    delete_number: ({ id }) => {
      service.state.deleteNumber(requireNumber(id).phoneNumberId);
      return {};
    },

    get_number: ({ id }) => describe(requireNumber(id)),

    list_numbers: ({ query: { cursor: from, page_size: size } }) => {
      const { numbers, numberOrder } = service.state;
      const list = { list: 'phone numbers', generation: service.generation };
      const { items, cursor } = pageOf(
        numberOrder.map((id) => numbers.get(id)),
        { list, cursor: from, size, ascending: true },
      );
      return { phone_numbers: items.map(describe), has_more: cursor !== null, next_cursor: cursor };
    },
  };
}
