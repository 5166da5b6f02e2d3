import type { FastifyInstance } from 'fastify';
import { numberInput } from '../fixture/check-fixture.ts';
import { findAgent, findNumber } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';
import { addNumber, defaultProvider } from '../core/state/service-state.ts';
import { takesInbound, type PhoneNumber } from '../core/state/agent.ts';

export function controlNumbers(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET /_sandbox/numbers', {
    says: 'Lists the numbers as the telephony provider has them.',
    answer: () => ({ numbers: [...service.state.numbers.values()].map(describe) }),
  });

  serveControl(app, 'POST /_sandbox/numbers', {
    says: 'Adds a number, owned or only verified.',
    body: numberInput,
    answer: ({ body }) => {
      const { phone_number: phoneNumber, agent_id: agentId, ...facts } = body();
      if (agentId !== null) findAgent(service, agentId, 'agent_id');
      const outside = { provider: defaultProvider, accountSid: null };
      return describe(addNumber(service, { ...facts, ...outside, phoneNumber, agentId }));
    },
  });

  for (const [action, verified, says] of [
    ['verify', true, 'Has a number verified.'],
    ['unverify', false, 'Takes back that a number is verified.'],
  ] as const) {
    serveControl(app, `POST /_sandbox/numbers/:phone_number_id/${action}`, {
      says,
      answer: ({ id }) => {
        const number = findNumber(service, id());
        number.verified = verified;
        return { phone_number_id: number.phoneNumberId, verified };
      },
    });
  }
}

function describe(number: PhoneNumber): Record<string, unknown> {
  return {
    phone_number_id: number.phoneNumberId,
    phone_number: number.phoneNumber,
    label: number.label,
    type: number.type,
    provider: number.provider,
    account_sid: number.accountSid,
    agent_id: number.agentId,
    verified: number.verified,
    supports_inbound: takesInbound(number),
    supports_outbound: true,
  };
}
