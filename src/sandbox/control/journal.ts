import type { FastifyInstance } from 'fastify';
import { operationNames, type OperationName } from '../core/operations.ts';
import { z } from 'zod';
import { formatConduct } from '../judge/conduct-report.ts';
import { toJUnit } from '../judge/junit.ts';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';

const journalQuery = z.strictObject({
  since: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).optional(),
  operation: z
    .enum(operationNames as [OperationName, ...OperationName[]], { error: `Must be one of ${operationNames.join(', ')}.` })
    .optional(),
  status: z
    .string()
    .regex(/^[1-5](\d\d|xx)$/, 'Must be a status such as 404, or a class such as 4xx.')
    .optional(),
  unmatched: z.stringbool({ error: 'Must be true or false.' }).optional(),
});

export function controlJournal(app: FastifyInstance, { journal }: Service): void {
  serveControl(app, 'GET /_sandbox/journal', {
    says: 'Lists what was asked of the service.',
    query: journalQuery,
    answer: ({ query }) => {
      const { since, limit, ...filter } = query();
      return journal.since(since, limit, filter);
    },
  });
}

const conductQuery = z.strictObject({ format: z.enum(['json', 'text', 'junit']).default('json') });

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
