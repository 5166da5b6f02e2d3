import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { formatConduct } from '../judge/conduct-report.ts';
import { toJUnit } from '../judge/junit.ts';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';

const conductQuery = z.strictObject({ format: z.enum(['json', 'text', 'junit']).default('json') });

/** What the caller did that a good one would not have done. */
export function controlConduct(app: FastifyInstance, { conduct }: Service): void {
  serveControl(app, 'GET /_sandbox/conduct', {
    says: 'Tells whether the caller behaved.',
    query: conductQuery,
    answers: ['application/json', 'text/plain', 'application/xml'],
    answer: ({ query, reply }) => {
      const { format } = query();
      const report = conduct.report();
      if (format === 'json') return report;
      if (format === 'text') return reply.type('text/plain; charset=utf-8').send(formatConduct(report));
      return reply.type('application/xml; charset=utf-8').send(toJUnit(report));
    },
  });
}
