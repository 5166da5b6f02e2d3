import type { FastifyInstance } from 'fastify';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../service.ts';
import { describeOwned } from './phone-numbers.ts';
import { serveKeyed } from './serve-operation.ts';

/** Imported numbers page by page, as upstream's newer list has them (gaps A.2). Extended dialect only. */
export function serveNumberPages(app: FastifyInstance, service: Service): void {
  const list = 'phone numbers';
  serveKeyed(app, 'GET', '/v1/convai/v2/phone-numbers', (request) => {
    const { cursor, page_size: size } = validate(service.schemas.numberPage, 'query', request.query);
    const start = readCursor(cursor, list, service.generation) ?? 0;
    // Numbers are never removed, so a place stays what it is.
    const rest = [...service.state.numbers.values()].slice(start);
    const hasMore = rest.length > size;
    return {
      phone_numbers: rest.slice(0, size).map((number) => describeOwned(service, number)),
      has_more: hasMore,
      next_cursor: hasMore ? writeCursor({ list, generation: service.generation, position: start + size }) : null,
    };
  });
}
