import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findNumber } from '../routes/phone-numbers.ts';
import { serveControl } from '../http/serve-operation.ts';
import { e164 } from '../schemas/building-blocks.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { notFound } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import type { PhoneNumber } from '../core/state/agent.ts';
import { callIn } from '../core/telephony/call-in.ts';

const inboundBody = z.strictObject({
  phone_number_id: z.string().min(1).optional(),
  number: e164.optional(),
  from: e164,
});
const redeemBody = z.strictObject({ credential: z.string().min(1) });

/** What happens in the world around the service, on request. */
export function controlWorld(app: FastifyInstance, service: Service): void {
  serveControl(app, 'POST', 'reset', { says: 'Puts everything back to its start; the clock goes on.' }, async () => {
    service.reset();
    return { reset: true };
  });

  serveControl(app, 'POST', 'inbound', { says: 'Has somebody call a number.', body: inboundBody }, async (request) => {
    const input = validate(inboundBody, 'body', request.body);
    const number = calledNumber(service, input.phone_number_id, input.number);
    const instruction = await callIn(service, number, input.from);
    return 'connect' in instruction
      ? {
          answered: true,
          conversation_id: instruction.connect.conversationId,
          agent_id: instruction.connect.agentId,
          reason: null,
        }
      : { answered: false, conversation_id: null, agent_id: null, reason: instruction.reject.reason };
  });

  serveControl(
    app,
    'POST',
    'credentials/redeem',
    { says: 'Uses up a signed address or a token.', body: redeemBody },
    async (request) => {
      const { credential } = validate(redeemBody, 'body', request.body);
      const redeemed = service.state.credentials.redeem(credential, service.clock.now());
      return { accepted: redeemed !== null, kind: redeemed?.kind ?? null, agent_id: redeemed?.agentId ?? null };
    },
  );
}

function calledNumber(service: Service, id: string | undefined, number: string | undefined): PhoneNumber {
  if (id !== undefined) return findNumber(service, id);
  if (number === undefined)
    throw refuseField(['body', 'phone_number_id'], 'Give phone_number_id or number: who is called.', 'missing');
  const found = [...service.state.numbers.values()].find((candidate) => candidate.phoneNumber === number);
  if (found === undefined) throw notFound('phone number', number, 'number');
  return found;
}
