import { adjustLimits } from '../../control/adjust.ts';
import type { Notice, Wish } from '../../control/campaign-message.ts';
import { recoverCampaign } from '../../control/recover.ts';
import { retryRows } from '../../control/retry.ts';
import { pause, steer } from '../../control/steer.ts';
import { withdraw } from '../../control/withdraw.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Api } from '../core/app.ts';
import { changeCampaign } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { campaignParams, keyHeaders, refusals } from '../schemas/common.ts';
import {
  adjustBody,
  adjusted,
  recovered,
  retried,
  retryBody,
  steered,
  wishBody,
  withdrawBody,
  withdrawn,
} from '../schemas/steer.ts';

const wishes: Readonly<Record<Wish, { operationId: string; summary: string; description: string }>> = {
  pause: {
    operationId: 'pauseCampaign',
    summary: 'Place no further calls; open ones are still collected',
    description: 'Holds when it is answered: Temporal, worker and service may be down.',
  },
  resume: {
    operationId: 'resumeCampaign',
    summary: 'Continue a paused campaign',
    description: 'If it paused by itself, mend what its reason names first, or it pauses again.',
  },
  drain: {
    operationId: 'drainCampaign',
    summary: 'Finish open calls, call no waiting recipients, and complete the campaign',
    description: 'Waiting rows end as cancelled. This cannot be undone.',
  },
  cancel: {
    operationId: 'cancelCampaign',
    summary: 'End a campaign; waiting recipients are not called',
    description: 'Open calls are still collected. This cannot be undone.',
  },
};

const tags = ['campaigns'];
const path = '/api/v1/campaigns/:campaign';

/** What an operator does to a campaign and its rows. */
export function steerRoutes(app: Api, context: ApiContext): void {
  for (const [wish, says] of Object.entries(wishes) as [Wish, (typeof wishes)[Wish]][]) {
    app.post(
      `${path}/${wish}`,
      {
        config: { role: 'operate' },
        schema: {
          ...says,
          tags,
          params: campaignParams,
          headers: keyHeaders,
          body: wishBody,
          response: { 200: steered, ...refusals(404, 409, 422) },
        },
      },
      async (request, reply) =>
        changeCampaign(context, {
          request,
          reply,
          action: wish,
          work: async (campaignId) => {
            const seen = definedOnly(request.body ?? {});
            if (wish !== 'pause')
              return steeredAsJson(await steer(context, { campaignId, wish, ...seen }), { told: true });
            const { campaign, notice } = await pause(context, { campaignId, ...seen });
            return steeredAsJson(campaign, notice);
          },
        }),
    );
  }

  app.post(
    `${path}/adjust`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'adjustCampaign',
        tags,
        summary: 'Change the limits of a campaign from its next batch on',
        params: campaignParams,
        headers: keyHeaders,
        body: adjustBody,
        response: { 200: adjusted, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) =>
      changeCampaign(context, {
        request,
        reply,
        action: 'adjust',
        work: async (campaignId) => {
          const { reset, ...wish } = request.body;
          const { limits, notice } = await adjustLimits(context, { campaignId, wish: definedOnly(wish), reset });
          return { campaignId, limits: limits.now, file: limits.file, notice: noticeText(notice) };
        },
      }),
  );

  app.post(
    `${path}/withdraw`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'withdrawRows',
        tags: ['rows'],
        summary: 'Remove waiting rows from a campaign',
        description: 'Planned and open calls continue, and rows with an outcome keep it.',
        params: campaignParams,
        headers: keyHeaders,
        body: withdrawBody,
        response: { 200: withdrawn, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { ids = [], rows, reason: note = null, dryRun } = request.body;
      const work = async (campaignId: string) => {
        const named = rows === undefined ? { ids } : { rows };
        const { results, notice } = await withdraw(context, { campaignId, named, note, dryRun });
        const left = results.flatMap(({ key, campaignRow, result }) =>
          result === 'withdrawn' ? [] : [{ key, row: campaignRow, why: result }],
        );
        return { campaignId, dryRun, withdrawn: results.length - left.length, left, notice: noticeText(notice) };
      };
      return changeCampaign(context, { request, reply, action: dryRun ? null : 'withdraw', work });
    },
  );

  app.post(
    `${path}/retry`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'retryRows',
        tags: ['rows'],
        summary: 'Call rows of an ended campaign again in a new round',
        description: 'Unresolved rows may have been called already: they are then called twice.',
        params: campaignParams,
        headers: keyHeaders,
        body: retryBody,
        response: { 200: retried, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) =>
      changeCampaign(context, {
        request,
        reply,
        action: 'retry',
        work: async (campaignId) => ({
          campaignId,
          ...(await retryRows(context, { campaignId, outcomes: request.body.outcomes })),
        }),
      }),
  );

  app.post(
    `${path}/recover`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'recoverCampaign',
        tags,
        summary: 'Start a campaign anew from the database after Temporal has lost its data',
        description:
          'Nothing is sent again. The conversations of the service are read first: if it knows calls that the database does not, ' +
          'nothing is started.',
        params: campaignParams,
        headers: keyHeaders,
        response: { 200: recovered, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const work = async (campaignId: string) => {
        const { campaign, workflowId } = await recoverCampaign(context, { campaignId });
        const { state, stateReason, round } = campaign;
        return { campaignId, state, stateReason, round, workflowId };
      };
      return changeCampaign(context, { request, reply, action: 'recover', work });
    },
  );
}

function noticeText(notice: Notice): string | null {
  return notice.told ? null : notice.why;
}

function steeredAsJson({ campaignId, state, stateReason, round }: Campaign, notice: Notice) {
  return { campaignId, state, stateReason, round, notice: noticeText(notice) };
}

/** What was not said is no wish. */
function definedOnly<Wishes extends object>(
  wishes: Wishes,
): { [Key in keyof Wishes]?: Exclude<Wishes[Key], undefined> } {
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined)) as never;
}
