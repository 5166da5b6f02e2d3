import { picked } from '../../../rules/collections.ts';
import { serviceNow } from '../../../operations/runs/run.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { readWhy, readWhys } from '../../../operations/control/why.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { campaignFileText } from '../../../shared/input/yaml-text.ts';
import { readCampaignBrief, readCampaignView } from '../../../ledger/read/campaign-view.ts';
import { countOwnPauses } from '../../../ledger/control-requests.ts';
import { listCampaigns, readFileOf } from '../../../ledger/rows/campaigns.ts';
import type { Answer } from '../../../operations/list.ts';
import { statusAsJson, viewAsJson } from '../../../presentation/words/campaign.ts';
import { notYetKnown, readingAsJson, readingOf } from '../../../presentation/words/why.ts';
import { type Api, type ApiContext } from '../core/app.ts';
import { serve } from '../core/serve.ts';
import { reportedTimelineFields, readFunnel } from '../../../ledger/read/campaign-report.ts';

/** Maximum age of the status sentences in a list. */
const oldestWhysMs = 1_000;

export function campaignRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  serve(app, 'listCampaigns', async () => {
    const all = await listCampaigns(store.db);
    const clock = await context.clock();
    const whys = await context.cache.read('whys', () => readWhys(context, all, clock), oldestWhysMs);
    const campaigns: unknown[] = [];
    for (const campaign of all) {
      const { status, needs } = await readCampaignBrief(store.db, campaign, Math.round(clock.now()));
      const reading = readingOf(whys.get(campaign.campaignId) ?? notYetKnown(campaign), { clock, now: context.now() });
      campaigns.push({ ...statusAsJson(campaign, status), needs: needs.length, ...readingAsJson(reading) });
    }
    return withInstants({ campaigns: campaigns.toReversed() }) as Answer<'listCampaigns'>;
  });

  serve(app, 'showCampaign', async ({ params }) => {
    const campaign = await requireCampaign(store, params.campaign);
    const clock = await context.clock();
    const why = await readWhy({ ...context, campaign }, clock);
    const view = await readCampaignView(store.db, campaign, Math.round(clock.now()));
    const needs = view.needs.map((need) => ('since' in need ? { kind: need.kind, sinceAt: need.since } : need));
    const pausesSeen = await countOwnPauses(store.db, campaign.campaignId);
    const answer = viewAsJson(view, why, { clock, now: context.now() });
    return withInstants({ ...answer, needs, pausesSeen }) as Answer<'showCampaign'>;
  });

  serve(app, 'readCampaignFile', async ({ params }) => {
    const file = await readFileOf(store.db, (await requireCampaign(store, params.campaign)).campaignId);
    return { file, yaml: file === null ? null : campaignFileText(file) };
  });

  serve(app, 'showWaiting', async ({ params }) => {
    const campaign = await requireCampaign(store, params.campaign);
    const groups = await context.aside.read('waiting', campaign, await serviceNow(context));
    const waiting = groups.map(({ rule, rows, from, to }) => ({ rule, rows, fromAt: from, toAt: to }));
    return withInstants({ waiting });
  });

  serve(app, 'showFunnel', async ({ params }) => readFunnel(store.db, await requireCampaign(store, params.campaign)));

  serve(app, 'showCourse', async ({ params }) => {
    const campaign = await requireCampaign(store, params.campaign);
    const found = await context.aside.read('course', campaign, await serviceNow(context));
    const course = found === null ? { stepMs: 0, points: [], pauses: [] } : picked(found, reportedTimelineFields);
    return withInstants(course);
  });
}
