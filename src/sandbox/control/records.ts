import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { formatConduct } from '../judge/conduct-report.ts';
import { toJUnit } from '../judge/junit.ts';
import { serveControl } from '../http/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import type { Service } from '../core/service/service.ts';
import { sandboxVersion } from '../core/version.ts';

const conductQuery = z.strictObject({ format: z.enum(['json', 'text', 'junit']).default('json') });

/** What may be read about the sandbox and its caller. */
export function controlRecords(app: FastifyInstance, service: Service): void {
  const { settings, clock } = service;

  serveControl(
    app,
    'GET',
    'health',
    { says: 'Tells, without a token, that this is a sandbox and how its clock runs.', open: true },
    async () => ({
      sandbox: true,
      version: sandboxVersion,
      dialect: settings.dialect,
      clock: { speed: clock.speed, anchorRealMs: clock.anchorRealMs, anchorServiceMs: clock.anchorServiceMs },
    }),
  );

  serveControl(
    app,
    'GET',
    'conduct',
    {
      says: 'Tells whether the caller behaved.',
      query: conductQuery,
      answers: ['application/json', 'text/plain', 'application/xml'],
    },
    async (request, reply) => {
      const { format } = validate(conductQuery, 'query', request.query);
      const report = service.conduct.report();
      if (format === 'json') return report;
      if (format === 'text') return reply.type('text/plain; charset=utf-8').send(formatConduct(report));
      return reply.type('application/xml; charset=utf-8').send(toJUnit(report));
    },
  );
}
