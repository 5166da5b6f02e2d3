import type { FastifyInstance } from 'fastify';
import { readCursor, writeCursor } from '../http/cursor.ts';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../core/service/service.ts';
import { describeOwned } from './phone-numbers.ts';
import { serveKeyed } from '../http/serve-operation.ts';

/** Imported numbers page by page, as upstream's newer list has them (gaps A.2). Extended dialect only. */
export function serveNumberPages(app: FastifyInstance, service: Service): void {
  const list = 'phone numbers';
  serveKeyed(app, 'GET', '/v1/convai/v2/phone-numbers', (request) => {
    const { cursor, page_size: size } = validate(service.schemas.numberPage, 'query', request.query);
    const start = readCursor(cursor, list, service.generation) ?? 0;
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
      next_cursor: hasMore ? writeCursor({ list, generation: service.generation, position }) : null,
    };
  });
}
