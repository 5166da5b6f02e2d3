import type { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { withInstants } from '../../input/with-instants.ts';
import { reportedCourse } from '../../ledger/read/campaign-report.ts';
import { readCourse } from '../../ledger/read/course.ts';
import { readFunnel } from '../../ledger/read/funnel.ts';
import { readWaiting } from '../../ledger/read/waiting.ts';
import type { Api } from '../core/app.ts';
import { serviceNow, type ApiContext } from '../core/context.ts';
import { course, funnel, waitingGroups } from '../schemas/campaign.ts';
import { campaignParams, refusals } from '../schemas/common.ts';

/** What a campaign has come to. */
export function insightRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  const tags = ['insight'];
  app.get(
    '/api/v1/campaigns/:campaign/waiting',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'showWaiting',
        tags,
        summary: 'Count waiting rows by the rule that keeps them',
        params: campaignParams,
        response: { 200: waitingGroups, ...refusals(404) },
      },
    },
    async ({ params }) => {
      const campaign = await requireCampaign(store, params.campaign);
      const groups = await readWaiting(store.db, campaign, await serviceNow(context));
      const waiting = groups.map(({ rule, rows, from, to }) => ({ rule, rows, fromAt: from, toAt: to }));
      return withInstants({ waiting }) as z.input<typeof waitingGroups>;
    },
  );

  app.get(
    '/api/v1/campaigns/:campaign/funnel',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'showFunnel',
        tags,
        summary: 'Count how many rows came how far',
        params: campaignParams,
        response: { 200: funnel, ...refusals(404) },
      },
    },
    async ({ params }) => readFunnel(store.db, await requireCampaign(store, params.campaign)),
  );

  app.get(
    '/api/v1/campaigns/:campaign/course',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'showCourse',
        tags,
        summary: 'Show calls, limits and pauses over time',
        params: campaignParams,
        response: { 200: course, ...refusals(404) },
      },
    },
    async ({ params }) => {
      const campaign = await requireCampaign(store, params.campaign);
      const found = await readCourse(store.db, campaign, await serviceNow(context));
      const told = found === null ? { stepMs: 0, points: [], pauses: [] } : reportedCourse(found);
      return withInstants(told) as z.input<typeof course>;
    },
  );
}
