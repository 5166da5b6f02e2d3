import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findNumber } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import { e164 } from '../schemas/building-blocks.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { existing, InvalidRequest, ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import type { PhoneNumber } from '../core/state/agent.ts';
import {
  callIn,
  isSignedByProvider,
  telephonySignatureHeader,
  voiceReport,
  voiceWebhookPath,
  writeInstruction,
} from '../core/telephony/webhook.ts';
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
    answer: async ({ body }) => {
      const { phone_number_id: id, number: called, from } = body();
      const instruction = await callIn(service, calledNumber(service, id, called), from);
      if ('reject' in instruction) return { answered: false, conversation_id: null, agent_id: null, reason: instruction.reject.reason };
      const { conversationId, agentId } = instruction.connect;
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

/** The webhook that import configures for a number: the provider reports a call, and is told to connect or to reject it. */
export function controlTelephony(app: FastifyInstance, service: Service): void {
  void app.register(async (scope) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
      done(null, body);
    });
    serveControl(scope, 'POST /_sandbox/telephony/:phone_number_id/voice', {
      says: 'Takes a report of the telephony provider that somebody calls, which is signed.',
      body: voiceReport,
      takes: 'application/x-www-form-urlencoded',
      answers: ['text/xml'],
      open: true,
      answer: ({ id, request, reply }) => {
        const form = typeof request.body === 'string' ? request.body : '';
        const number = findNumber(service, id());
        const address = service.baseUrl + voiceWebhookPath(number.phoneNumberId);
        if (!isSignedByProvider(address, form, request.headers[telephonySignatureHeader])) throw notTheProvider();
        const { To, From } = validate(voiceReport, 'body', Object.fromEntries(new URLSearchParams(form)));
        if (To !== number.phoneNumber) {
          const message = `Must be the number of this webhook, ${number.phoneNumber}.`;
          throw refuseField(['body', 'To'], message, 'wrong_number', To);
        }
        const instruction = takeInboundCall(service, number, From);
        return reply.type('text/xml; charset=utf-8').send(writeInstruction(instruction));
      },
    });
  });
}

function notTheProvider(): ServiceError {
  const message = `Only the telephony provider reports calls here, and signs them (${telephonySignatureHeader}). Use POST /_sandbox/inbound to have somebody call.`;
  return new ServiceError(403, message, { code: 'invalid_telephony_signature' });
}
