import type { FastifyInstance, FastifyRequest } from 'fastify';
import { furtherRoutes } from '../../core/operations.ts';
import { addNumber, defaultProvider } from '../../core/state/service-state.ts';
import { describeNumber } from '../records/agent-record.ts';
import { validate } from '../../schemas/validate.ts';
import type { Service } from '../../core/service/service.ts';
import type { PhoneNumber } from '../../core/state/agent.ts';
import { findAgent, findNumber } from '../../core/service/found.ts';
import { pathParameter, serveOperation, serveKeyed, readQuery } from '../../http/serve-operation.ts';
import { readCursor, writeCursor } from '../../http/cursor.ts';

export function servePhoneNumbers(app: FastifyInstance, service: Service): void {
  const { schemas } = service;

  serveOperation(app, 'list_phone_numbers', () => {
    return [...service.state.numbers.values()].map((number) => describeOwned(service, number));
  });

  serveOperation(app, 'import_phone_number', (request) => {
    const input = readImport(service, request.body);
    if (input.agentId !== null) findAgent(service, input.agentId, 'agent_id');
    const number = addNumber(service, { ...input, type: 'purchased', verified: true });
    return { phone_number_id: number.phoneNumberId };
  });

  serveOperation(app, 'assign_phone_number', (request) => {
    const number = wantedNumber(service, request);
    const { agent_id: agentId } = validate(schemas.assignNumber, 'body', request.body);
    findAgent(service, agentId, 'agent_id');
    number.agentId = agentId;
    return describeOwned(service, number);
  });

  /** With the contract's field names, or in the extended dialect with upstream's (gaps A.1). */
  function readImport({ settings: { dialect } }: Service, body: unknown) {
    const isAlias = dialect !== 'spec' && typeof body === 'object' && body !== null && ('sid' in body || 'token' in body);
    if (!isAlias) {
      const input = validate(schemas.importNumber, 'body', body);
      return {
        label: input.label,
        phoneNumber: input.phone_number,
        provider: defaultProvider,
        accountSid: input.telephony_account_sid,
        agentId: null,
      };
    }
    const input = validate(schemas.importNumberByAlias, 'body', body);
    return {
      label: input.label,
      phoneNumber: input.phone_number,
      provider: input.provider ?? defaultProvider,
      accountSid: input.sid,
      agentId: input.agent_id ?? null,
    };
  }
}

export function describeOwned({ state, settings }: Service, number: PhoneNumber): Record<string, unknown> {
  return describeNumber(number, state.agents.get(number.agentId ?? '') ?? null, settings.dialect);
}

export function wantedNumber(service: Service, request: FastifyRequest): PhoneNumber {
  const id = pathParameter(request, 'phone_number_id');
  if (service.state.wasNumberDeleted(id)) service.conduct.noteDeletedUse('phone number', id);
  return findNumber(service, id);
}

/** What the contract does not have, as comparable services do: deletion, and a list by pages (gaps A.2). Extended dialect only. */
export function serveFurtherNumbers(app: FastifyInstance, service: Service): void {
  serveKeyed(app, furtherRoutes.delete_number, (request) => {
    readQuery(request, service.schemas.noQuery);
    service.state.deleteNumber(wantedNumber(service, request).phoneNumberId);
    return {};
  });

  serveKeyed(app, furtherRoutes.get_number, (request) => {
    readQuery(request, service.schemas.noQuery);
    return describeOwned(service, wantedNumber(service, request));
  });

  serveKeyed(app, furtherRoutes.list_numbers, (request) => {
    const { cursor, page_size: size } = readQuery(request, service.schemas.numberPage);
    const list = { list: 'phone numbers', generation: service.generation };
    const start = readCursor(cursor, list)?.position ?? 0;
    const { numbers, numberOrder } = service.state;
    const rest = numberOrder
      .map((id, place) => ({ place, number: numbers.get(id) }))
      .slice(start)
      .flatMap(({ place, number }) => (number === undefined ? [] : [{ place, number }]));
    const page = rest.slice(0, size);
    const hasMore = rest.length > page.length;
    const position = (page.at(-1)?.place ?? 0) + 1;
    return {
      phone_numbers: page.map(({ number }) => describeOwned(service, number)),
      has_more: hasMore,
      next_cursor: hasMore ? writeCursor({ ...list, position }) : null,
    };
  });
}
