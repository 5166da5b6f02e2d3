import type { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { lookAtWorkflow } from '../../control/supervision.ts';
import { withInstants } from '../../input/with-instants.ts';
import { readCampaignBrief, readCampaignView } from '../../ledger/read/campaign-view.ts';
import { countOwnPauses } from '../../ledger/wishes.ts';
import { listCampaigns } from '../../ledger/rows/campaigns.ts';
import { statusAsJson } from '../../words/campaign.ts';
import { standstillText } from '../../words/standstill.ts';
import { viewAsJson } from '../../words/view.ts';
import type { Api } from '../core/app.ts';
import { serviceNow, type ApiContext } from '../core/context.ts';
import { campaignDetail, campaignList } from '../schemas/campaign.ts';
import { campaignParams, refusals } from '../schemas/common.ts';

/** Campaigns as a whole. */
export function campaignRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  app.get(
    '/api/v1/campaigns',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'listCampaigns',
        tags: ['campaigns'],
        summary: 'List all campaigns, newest first',
        response: { 200: campaignList, ...refusals() },
      },
    },
    async () => {
      const campaigns: unknown[] = [];
      const now = await serviceNow(context);
      for (const campaign of await listCampaigns(store.db)) {
        const view = await readCampaignBrief(store.db, campaign, now);
        campaigns.push({ ...statusAsJson(campaign, view.status), needs: view.needs.length });
      }
      return withInstants({ campaigns: campaigns.toReversed() }) as z.input<typeof campaignList>;
    },
  );

  app.get(
    '/api/v1/campaigns/:campaign',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'showCampaign',
        tags: ['campaigns'],
        summary: 'Show how a campaign stands, and why nobody is called now',
        params: campaignParams,
        response: { 200: campaignDetail, ...refusals(404) },
      },
    },
    async ({ params }) => {
      const campaign = await requireCampaign(store, params.campaign);
      const clock = await context.clock();
      const view = await readCampaignView(store.db, campaign, clock);
      const look = await lookAtWorkflow({ ...context, campaign });
      const why = standstillText(campaign, { ...view, look }, { clock, now: context.now() });
      const needs = view.needs.map((need) => ('since' in need ? { kind: need.kind, sinceAt: need.since } : need));
      const pausesSeen = await countOwnPauses(store.db, campaign.campaignId);
      return withInstants({ ...viewAsJson(view), why, needs, pausesSeen }) as z.input<typeof campaignDetail>;
    },
  );
}
