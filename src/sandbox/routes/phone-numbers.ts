import type { FastifyInstance } from 'fastify';
import { deriveId } from '../random.ts';
import { describeNumber } from '../records/agent-record.ts';
import { validate } from '../schemas/validate.ts';
import { notFound, ServiceError } from '../service-error.ts';
import type { Service } from '../service.ts';
import type { PhoneNumber } from '../state/agent.ts';
import { sealToken } from '../state/sealed-token.ts';
import { findAgent } from './agents.ts';
import { pathParameter, serveOperation } from './serve-operation.ts';

export function servePhoneNumbers(app: FastifyInstance, service: Service): void {
  const { schemas, settings } = service;
  const describe = (number: PhoneNumber): Record<string, unknown> =>
    describeNumber(number, service.state.agents.get(number.agentId ?? '') ?? null, settings.dialect);

  serveOperation(app, 'list_phone_numbers', () => {
    return [...service.state.numbers.values()].map(describe);
  });

  serveOperation(app, 'import_phone_number', (request) => {
    const input = validate(schemas.importNumber, 'body', request.body);
    const { state } = service;
    const known = [...state.numbers.values()].find((number) => number.phoneNumber === input.phone_number);
    if (known !== undefined) {
      const message = `${input.phone_number} is already imported, as ${known.phoneNumberId}.`;
      throw new ServiceError(409, message, {
        type: 'conflict',
        code: 'phone_number_already_imported',
        param: 'phone_number',
      });
    }
    const phoneNumberId = deriveId('pn', settings.seed, state.count('numbers'));
    state.numbers.set(phoneNumberId, {
      phoneNumberId,
      phoneNumber: input.phone_number,
      label: input.label,
      agentId: null,
      verified: true,
      sealedToken: sealToken(input.telephony_auth_token),
    });
    return { phone_number_id: phoneNumberId };
  });

  serveOperation(app, 'assign_phone_number', (request) => {
    const number = findNumber(service, pathParameter(request, 'phone_number_id'));
    const { agent_id: agentId } = validate(schemas.assignNumber, 'body', request.body);
    findAgent(service, agentId, 'agent_id');
    number.agentId = agentId;
    return describe(number);
  });
}

export function findNumber(service: Service, id: string): PhoneNumber {
  const number = service.state.numbers.get(id);
  if (number === undefined) throw notFound('phone number', id);
  return number;
}
