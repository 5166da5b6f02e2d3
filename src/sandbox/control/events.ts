import { PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ServiceEvent } from '../core/clock/service-events.ts';
import { isoTime } from '../core/times.ts';
import { serveControl } from '../http/serve-control.ts';
import type { Service } from '../core/service/service.ts';

/** Real ms between keep-alive comments. */
const heartbeatMs = 15_000;
/** Drops a reader with this many unread bytes; it can resume where it was. */
const mostUnreadBytes = 1024 * 1024;

const wholeNumber = z.coerce.number().int().min(0);
const eventsQuery = z.strictObject({ since: wholeNumber.optional() });

/** After `Last-Event-ID` or `?since=`; events no longer stored are reported as `missed`. */
export function controlEvents(app: FastifyInstance, { events }: Service): void {
  serveControl(app, 'GET /_sandbox/events', {
    says: 'Tells what happens, live, as server-sent events.',
    query: eventsQuery,
    answers: ['text/event-stream'],
    answer: ({ query, request, reply }) => {
      const { since } = query();
      const lastSeen = wholeNumber.safeParse(request.headers['last-event-id'] ?? 'none');
      // Without a starting point, only new events are sent.
      const after = Math.min(events.lastId, lastSeen.data ?? since ?? events.lastId);
      const stream = new PassThrough();
      const send = (text: string): void => {
        stream.write(text);
        if (stream.writableLength + stream.readableLength + reply.raw.writableLength > mostUnreadBytes) {
          stop();
          request.raw.socket.destroy();
        }
      };
      const { events: earlier, missed } = events.since(after);
      stream.write('retry: 1000\n\n');
      if (missed > 0) stream.write(`event: missed\ndata: ${JSON.stringify({ events: missed })}\n\n`);
      for (const event of earlier) stream.write(writeEvent(event));
      const stopListening = events.listen((event) => send(writeEvent(event)));
      const heartbeat = setInterval(() => send(': still here\n\n'), heartbeatMs).unref();
      const stop = (): void => {
        stopListening();
        clearInterval(heartbeat);
      };
      reply.raw.once('close', () => {
        stop();
        stream.destroy();
      });
      return reply
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .type('text/event-stream; charset=utf-8')
        .send(stream);
    },
  });
}

function writeEvent({ id, type, at, data }: ServiceEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ at: isoTime(at), ...data })}\n\n`;
}
