import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sandboxKey } from '../http/authentication.ts';
import { tellCapture, type ToldCapture } from '../judge/captures.ts';
import type { JournalEntry } from '../judge/journal.ts';
import { operationNames, type OperationName } from '../core/operations.ts';
import { notFound } from '../core/service-error.ts';
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
  format: z.enum(['json', 'ndjson']).default('json'),
});

export function controlJournal(app: FastifyInstance, service: Service): void {
  const { journal, settings } = service;
  const secrets = [...new Set([...settings.apiKeys, sandboxKey])];
  const tell = (entry: JournalEntry): ToldCapture | null => {
    const capture = journal.captureOf(entry.sequence);
    return capture === null ? null : tellCapture(capture, secrets);
  };

  serveControl(app, 'GET /_sandbox/journal', {
    says: 'Lists what was asked of the service.',
    query: journalQuery,
    answers: ['application/json', 'application/x-ndjson'],
    answer: ({ query, reply }) => {
      const { since, limit, format, ...filter } = query();
      const found = journal.since(since, limit, filter);
      return format === 'json' ? found : sendLines(reply, found.entries, tell);
    },
  });

  serveControl(app, 'GET /_sandbox/journal/:sequence', {
    says: 'Reads one request with headers and bodies.',
    answer: ({ id }) => {
      const sequence = id();
      const entry = /^\d{1,15}$/.test(sequence) ? journal.get(Number(sequence)) : null;
      if (entry === null) throw notFound('journal entry', sequence);
      return { ...entry, ...(tell(entry) ?? { request: null, reply: null }) };
    },
  });
}

function sendLines(reply: FastifyReply, entries: readonly JournalEntry[], tell: (entry: JournalEntry) => ToldCapture | null): FastifyReply {
  function* lines(): Generator<string> {
    for (const entry of entries) yield `${JSON.stringify({ ...entry, ...tell(entry) })}\n`;
  }
  return reply.type('application/x-ndjson').send(Readable.from(lines()));
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
