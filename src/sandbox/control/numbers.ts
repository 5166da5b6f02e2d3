import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findAgent } from '../routes/agents.ts';
import { findNumber } from '../routes/phone-numbers.ts';
import { pathParameter, serveControl } from '../http/serve-operation.ts';
import { e164, identifier } from '../schemas/building-blocks.ts';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../core/service/service.ts';
import { addNumber, defaultProvider } from '../core/state/add-number.ts';
import { numberTypes, takesInbound, type PhoneNumber } from '../core/state/agent.ts';
import { voiceWebhookPath } from '../core/telephony/webhook-path.ts';

const numberBody = z.strictObject({
  phone_number: e164,
  label: z.string().min(1, 'Must not be empty.'),
  type: z.enum(numberTypes).default('purchased'),
  verified: z.boolean().default(true),
  agent_id: identifier.nullable().default(null),
});

/** Numbers as the telephony provider has them: which are owned, which only verified, and where the provider reports calls. */
export function controlNumbers(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET', 'numbers', { says: 'Lists the numbers as the telephony provider has them.' }, () => ({
    numbers: [...service.state.numbers.values()].map((number) => describe(service, number)),
  }));

  serveControl(
    app,
    'POST',
    'numbers',
    { says: 'Adds a number, owned or only verified.', body: numberBody },
    (request) => {
      const { phone_number: phoneNumber, agent_id: agentId, ...facts } = validate(numberBody, 'body', request.body);
      if (agentId !== null) findAgent(service, agentId, 'agent_id');
      const outside = { provider: defaultProvider, accountSid: null, sealedToken: null };
      return describe(service, addNumber(service, { ...facts, ...outside, phoneNumber, agentId }));
    },
  );

  for (const [action, verified, says] of [
    ['verify', true, 'Has a number verified.'],
    ['unverify', false, 'Takes back that a number is verified.'],
  ] as const) {
    serveControl(app, 'POST', `numbers/:phone_number_id/${action}`, { says }, (request) => {
      const number = findNumber(service, pathParameter(request, 'phone_number_id'));
      number.verified = verified;
      return { phone_number_id: number.phoneNumberId, verified };
    });
  }
}

function describe({ baseUrl }: Service, number: PhoneNumber): Record<string, unknown> {
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
    webhook_url: takesInbound(number) ? baseUrl + voiceWebhookPath(number.phoneNumberId) : null,
  };
}
