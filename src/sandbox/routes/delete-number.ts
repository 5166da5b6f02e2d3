import type { FastifyInstance } from 'fastify';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../core/service/service.ts';
import { wantedNumber } from './phone-numbers.ts';
import { serveKeyed } from '../http/serve-operation.ts';

/** Deleting a number as comparable services have it; the contract has no such operation. Extended dialect only. */
export function serveDeleteNumber(app: FastifyInstance, service: Service): void {
  serveKeyed(app, 'DELETE', '/v1/convai/phone-numbers/:phone_number_id', (request) => {
    validate(service.schemas.noQuery, 'query', request.query);
    service.state.deleteNumber(wantedNumber(service, request).phoneNumberId);
    return {};
  });
}
