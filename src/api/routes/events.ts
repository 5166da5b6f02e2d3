import { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { withInstants } from '../../input/with-instants.ts';
import { lastEventSeq } from '../../ledger/events.ts';
import { EventFeed } from '../../ledger/read/event-feed.ts';
import { eventAsJson } from '../../words/event-line.ts';
import { holderOf, type Api } from '../core/app.ts';
import type { ApiContext } from '../core/context.ts';
import { EventStreams } from '../core/event-streams.ts';
import type { ServerLimits } from '../core/http-server.ts';
import { ProblemError } from '../core/problem.ts';
import { refusals } from '../schemas/common.ts';
import { eventPage, eventQuery, streamHeaders, streamQuery } from '../schemas/events.ts';

const pageSize = 500;

/** The log: page by page, and as it grows. */
export function eventRoutes(app: Api, context: ApiContext, limits: Pick<ServerLimits, 'streams'>): void {
  const { store } = context;
  const streams = new EventStreams(context, app.tail, limits);
  app.addHook('preClose', async () => streams.close());
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
        querystring: streamQuery,
        headers: streamHeaders,
        produces: ['text/event-stream'],
        response: { 200: z.string().meta({ description: 'The stream.' }), ...refusals(404) },
      },
    },
    async (request, reply) => {
      const { campaign, after } = request.query;
      const campaignId = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
      const cursor = request.headers['last-event-id'] ?? after ?? (await lastEventSeq(store.db));
      if (streams.isFull) {
        void reply.header('retry-after', '10');
        throw new ProblemError(
          503,
          'too_many_streams',
          'This server has as many open streams as it takes. End some, ask again later, or ask another carillon serve of this database.',
        );
      }
      reply.hijack();
      streams.begin(reply.raw, holderOf(request), { campaignId, cursor });
    },
  );
}
