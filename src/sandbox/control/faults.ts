import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { serveControl } from '../routes/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import { notFound } from '../service-error.ts';
import type { Service } from '../service.ts';

const ruleQuery = z.strictObject({ id: z.string().min(1).optional() });

/** Fault rules: GET lists them, POST adds one or an array, DELETE removes all, or the one named by `?id=`. */
export function controlFaults(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET', 'faults', async () => ({ faults: service.faults.list() }));

  serveControl(app, 'POST', 'faults', async (request) => ({ faults: service.faults.add(request.body) }));

  serveControl(app, 'DELETE', 'faults', async (request) => {
    const { id } = validate(ruleQuery, 'query', request.query);
    if (id === undefined) service.faults.clear();
    else if (!service.faults.remove(id)) throw notFound('fault rule', id);
    return { faults: service.faults.list() };
  });
}
