import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { withInstants } from '../../input/with-instants.ts';
import { lastEventSeq } from '../../ledger/events.ts';
import { EventFeed } from '../../ledger/read/event-feed.ts';
import { eventAsJson } from '../../words/event-line.ts';
import type { Api } from '../core/app.ts';
import type { ApiContext } from '../core/context.ts';
import { refusals } from '../schemas/common.ts';
import { eventPage, eventQuery } from '../schemas/events.ts';

const pageSize = 500;
const everyMs = 500;
/** So that nobody between takes the connection for dead. */
const beatMs = 15_000;

/** The log: page by page, and as it grows. */
export function eventRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  const pages = new EventFeed(store);
  app.get(
    '/api/v1/events',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'listEvents',
        tags: ['events'],
        summary: 'Read the event log from a cursor on, oldest first',
        querystring: eventQuery,
        response: { 200: eventPage, ...refusals(404) },
      },
    },
    async ({ query: { campaign, after } }) => {
      const campaignId = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
      const { events, cursor } = await pages.read({ afterSeq: after, campaignId, limit: pageSize });
      return withInstants({ events: events.map(eventAsJson), cursor }) as z.input<typeof eventPage>;
    },
  );

  app.get(
    '/api/v1/events/stream',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'followEvents',
        tags: ['events'],
        summary: 'Follow the event log as server-sent events',
        description:
          'The id of each event is its `seq`; a client that connects again sends it as `Last-Event-ID` and misses nothing. ' +
          'Without one, and without `after`, the stream begins with what is added from now on.',
        querystring: eventQuery.extend({ after: eventQuery.shape.after.unwrap().optional() }),
        produces: ['text/event-stream'],
        response: { 200: z.string().meta({ description: 'The stream.' }), ...refusals(404) },
      },
    },
    async (request, reply) => {
      const { campaign, after } = request.query;
      const campaignId = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
      const feed = new EventFeed(store);
      const lastId = Number(request.headers['last-event-id'] ?? Number.NaN);
      const start = Number.isInteger(lastId) ? lastId : after;
      let cursor = start ?? (await lastEventSeq(store.db));
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(':\n\n');
      const left = new AbortController();
      raw.on('close', () => left.abort());
      const signal = AbortSignal.any([left.signal, stopping.signal]);
      let saidAt = performance.now();
      while (!signal.aborted) {
        const page = await feed.read({ afterSeq: cursor, campaignId, limit: pageSize });
        ({ cursor } = page);
        for (const event of page.events)
          raw.write(
            `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(withInstants(eventAsJson(event)))}\n\n`,
          );
        if (page.events.length > 0) saidAt = performance.now();
        else if (performance.now() - saidAt >= beatMs) {
          raw.write(':\n\n');
          saidAt = performance.now();
        }
        if (page.events.length < pageSize) await pause(everyMs, undefined, { signal }).catch(() => {});
      }
      raw.end();
    },
  );
}
