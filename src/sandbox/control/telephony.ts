import type { FastifyInstance } from 'fastify';
import { findNumber } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import { refuseField, validate } from '../schemas/validate.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { takeInboundCall } from '../core/telephony/inbound.ts';
import {
  isSignedByProvider,
  telephonySignatureHeader,
  voiceReport,
  voiceWebhookPath,
  writeInstruction,
} from '../core/telephony/webhook.ts';

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
