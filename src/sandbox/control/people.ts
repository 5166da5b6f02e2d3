import type { FastifyInstance } from 'fastify';
import { serveControl } from '../http/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import { InvalidRequest } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { doubledNumbers } from '../core/world/read-world.ts';
import { worldSchema } from '../core/world/world-schema.ts';

/** Who is behind the numbers: GET tells it, PUT replaces it whole, for calls dialled from then on. */
export function controlPeople(app: FastifyInstance, { people }: Service): void {
  serveControl(app, 'GET', 'world', { says: 'Tells who is behind the numbers.' }, () => people.world);

  serveControl(
    app,
    'PUT',
    'world',
    { says: 'Replaces who is behind the numbers, for calls that are dialled from now on.', body: worldSchema },
    (request) => {
      const world = validate(worldSchema, 'body', request.body);
      const doubled = doubledNumbers(world);
      if (doubled.length > 0)
        throw new InvalidRequest(doubled.map((msg) => ({ loc: ['body', 'people'], msg, type: 'doubled_number' })));
      people.replace(world);
      return people.world;
    },
  );
}
