import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { formatConduct } from '../judge/conduct-report.ts';
import { tellCall } from '../records/call-truth.ts';
import { serveControl } from '../routes/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../service.ts';
import { sandboxVersion } from '../version.ts';

const journalQuery = z.strictObject({
  since: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).optional(),
});
const conductQuery = z.strictObject({ format: z.enum(['json', 'text']).default('json') });

/** What may be read about the sandbox and its caller. */
export function controlRecords(app: FastifyInstance, service: Service): void {
  const { settings, clock } = service;

  serveControl(app, 'GET', 'health', async () => ({
    sandbox: true,
    version: sandboxVersion,
    dialect: settings.dialect,
    clock: { speed: clock.speed, anchorRealMs: clock.anchorRealMs, anchorServiceMs: clock.anchorServiceMs },
  }));

  serveControl(app, 'GET', 'calls', async () => ({
    calls: service.state.calls.map((call) => tellCall(settings.seed, call, clock.now())),
  }));

  serveControl(app, 'GET', 'journal', async (request) => {
    const { since, limit } = validate(journalQuery, 'query', request.query);
    return service.journal.since(since, limit);
  });

  serveControl(app, 'GET', 'conduct', async (request, reply) => {
    const { format } = validate(conductQuery, 'query', request.query);
    const report = service.conduct.report();
    return format === 'json' ? report : reply.type('text/plain; charset=utf-8').send(formatConduct(report));
  });
}
