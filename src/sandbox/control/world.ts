import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findNumber } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import { e164 } from '../schemas/building-blocks.ts';
import { refuseField } from '../schemas/validate.ts';
import { existing, InvalidRequest } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import type { PhoneNumber } from '../core/state/agent.ts';
import { doubledNumbers } from '../core/world/read-world.ts';
import { worldSchema } from '../core/world/schema.ts';
import { takeInboundCall } from '../core/telephony/inbound.ts';

const inboundBody = z.strictObject({ phone_number_id: z.string().min(1).optional(), number: e164.optional(), from: e164 });
const redeemBody = z.strictObject({ credential: z.string().min(1) });

export function controlWorld(app: FastifyInstance, service: Service): void {
  const { people } = service;

  serveControl(app, 'GET /_sandbox/world', { says: 'Tells who is behind the numbers.', answer: () => people.world });

  serveControl(app, 'PUT /_sandbox/world', {
    says: 'Replaces who is behind the numbers, for calls that are dialled from now on.',
    body: worldSchema,
    answer: ({ body }) => {
      const world = body();
      const doubled = doubledNumbers(world);
      if (doubled.length > 0) throw new InvalidRequest(doubled.map((msg) => ({ loc: ['body', 'people'], msg, type: 'doubled_number' })));
      people.replace(world);
      return people.world;
    },
  });

  serveControl(app, 'POST /_sandbox/reset', {
    says: 'Puts everything back to its start; the clock goes on.',
    answer: () => {
      service.reset();
      return { reset: true };
    },
  });

  serveControl(app, 'POST /_sandbox/inbound', {
    says: 'Has somebody call a number.',
    body: inboundBody,
    answer: ({ body }) => {
      const { phone_number_id: id, number: called, from } = body();
      const reception = takeInboundCall(service, calledNumber(service, id, called), from);
      if ('reason' in reception) return { answered: false, conversation_id: null, agent_id: null, reason: reception.reason };
      const { conversationId, agentId } = reception;
      return { answered: true, conversation_id: conversationId, agent_id: agentId, reason: null };
    },
  });

  serveControl(app, 'POST /_sandbox/credentials/redeem', {
    says: 'Uses up a signed address or a token.',
    body: redeemBody,
    answer: ({ body }) => {
      const redeemed = service.state.credentials.redeem(body().credential, service.clock.now());
      return { accepted: redeemed !== null, kind: redeemed?.kind ?? null, agent_id: redeemed?.agentId ?? null };
    },
  });
}

function calledNumber(service: Service, id: string | undefined, number: string | undefined): PhoneNumber {
  if (id !== undefined) return findNumber(service, id);
  if (number === undefined) throw refuseField(['body', 'phone_number_id'], 'Give phone_number_id or number: who is called.', 'missing');
  const found = [...service.state.numbers.values()].find((candidate) => candidate.phoneNumber === number);
  return existing(found, 'phone number', number, 'number');
}
