import type { z } from 'zod';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { lastEventSeq } from '../../../ledger/events.ts';
import { EventFeed } from '../../../ledger/read/event-feed.ts';
import { eventAsJson } from '../../../presentation/words/events.ts';
import { holderOf, type Api, type ApiContext } from '../core/app.ts';
import { serve } from '../core/serve.ts';
import { EventStreams } from '../core/event-stream.ts';
import type { ServerLimits } from '../core/http-server.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import type { Answer } from '../../../operations/list.ts';
import type { eventOperations } from '../../../operations/events.ts';

const pageSize = 500;

export function eventRoutes(app: Api, context: ApiContext, limits: Pick<ServerLimits, 'streams'>): void {
  const { store } = context;
  const streams = new EventStreams(context, app.tail, limits);
  app.addHook('preClose', async () => streams.close());
  const pages = new EventFeed(store);
  serve(app, 'listEvents', async ({ query: { campaign, after } }) => {
    const campaignId = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
    const { events, cursor } = await pages.read({ afterSeq: after, campaignId, limit: pageSize });
    return withInstants({ events: events.map(eventAsJson), cursor }) as object as Answer<'listEvents'>;
  });

  serve(app, 'followEvents', async (request, reply) => {
    const { campaign, after } = request.query;
    const campaignId = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
    const lastEvent = request.headers as z.output<typeof eventOperations.followEvents.headers>;
    const cursor = lastEvent['last-event-id'] ?? after ?? (await lastEventSeq(store.db));
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
  });
}
