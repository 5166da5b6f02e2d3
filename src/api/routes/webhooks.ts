import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import {
  addWebhook,
  pauseOrResumeWebhook,
  pingWebhook,
  removeWebhook,
  requireWebhook,
  type ChangedWebhook,
} from '../../control/webhooks.ts';
import { withInstants } from '../../input/with-instants.ts';
import { findWebhook, listWebhooks, type Webhook } from '../../ledger/webhooks/registry.ts';
import { webhookAsJson } from '../../words/webhooks.ts';
import { holderOf, type Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { keyHeaders, refusals } from '../schemas/common.ts';
import {
  addWebhookBody,
  changedWebhook,
  pingAnswer,
  webhook,
  webhookList,
  webhookParams,
} from '../schemas/webhooks.ts';

const path = '/api/v1/webhooks';
const tags = ['webhooks'];

type Shown = z.input<typeof webhook>;
type ShownChange = z.input<typeof changedWebhook>;
interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Which other systems are told of events. */
export function webhookRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  app.get(
    path,
    {
      config: { role: 'read' },
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: 'List the webhooks and how their deliveries go',
        response: { 200: webhookList, ...refusals() },
      },
    },
    async () => ({ webhooks: (await listWebhooks(store.db)).map(show) }),
  );

  app.post(
    path,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'addWebhook',
        tags,
        summary: 'Tell an address of what happens from now on',
        description: 'Requests are signed (Standard Webhooks), and sent in the order of the log until each is taken.',
        headers: keyHeaders,
        body: addWebhookBody,
        response: { 201: changedWebhook, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { url, campaign = null, types = null } = request.body;
      const work = async () => {
        const added = { url, campaign, types, webhookId: idOfKey(request), ...byHolder(request) };
        return showChange(await addWebhook(context, added));
      };
      const change = { action: 'webhook_added', sent: { body: request.body }, status: 201, work } as const;
      return makeChange(context, { request, reply, ...change, campaignId: campaign ?? 'account' });
    },
  );

  app.get(
    `${path}/:webhook`,
    {
      config: { role: 'read' },
      schema: {
        operationId: 'readWebhook',
        tags,
        summary: 'Read a webhook and how its deliveries go',
        params: webhookParams,
        response: { 200: webhook, ...refusals(404) },
      },
    },
    async ({ params }) => show(await requireWebhook(context, params.webhook)),
  );

  app.delete(
    `${path}/:webhook`,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'removeWebhook',
        tags,
        summary: 'Tell an address of nothing more',
        params: webhookParams,
        headers: keyHeaders,
        response: { 200: webhook, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { webhook: id } = request.params;
      return changeOne(context, { request, reply }, { id, action: 'webhook_removed' }, async () =>
        show(await removeWebhook(context, id, byHolder(request))),
      );
    },
  );

  for (const wish of ['pause', 'resume'] as const) {
    app.post(
      `${path}/:webhook/${wish}`,
      {
        config: { role: 'admin' },
        schema: {
          operationId: `${wish}Webhook`,
          tags,
          summary: wish === 'pause' ? 'Hold events back; none is lost' : 'Send what was held back, at once',
          params: webhookParams,
          headers: keyHeaders,
          response: { 200: changedWebhook, ...refusals(404, 409, 422) },
        },
      },
      async (request, reply) => {
        const { webhook: id } = request.params;
        return changeOne(context, { request, reply }, { id, action: `webhook_${wish}d` }, async () =>
          showChange(await pauseOrResumeWebhook(context, id, { wish, ...byHolder(request) })),
        );
      },
    );
  }

  app.post(
    `${path}/:webhook/test`,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'testWebhook',
        tags,
        summary: 'Send a ping from the server of the API, and say whether it was taken',
        params: webhookParams,
        response: { 200: pingAnswer, ...refusals(404, 422) },
      },
    },
    async ({ params }) => {
      const result = await pingWebhook(context, params.webhook);
      return result.delivered ? { delivered: true, status: null, why: null } : result;
    },
  );
}

/** A change of a webhook that is there, in the log of its campaign. */
async function changeOne<Answer>(
  context: ApiContext,
  exchange: Exchange,
  { id, action }: { id: string; action: string },
  work: () => Promise<Answer>,
): Promise<Answer> {
  const campaignId = (await findWebhook(context.store.db, id))?.campaignId ?? 'account';
  return makeChange(context, {
    ...exchange,
    action,
    campaignId,
    sent: {},
    work,
  });
}

function byHolder(request: FastifyRequest): { by: string } {
  return { by: `person:${holderOf(request).name}` };
}

/** A request that is carried out again after its process died makes no second webhook. */
function idOfKey(request: FastifyRequest): string {
  const key = String(request.headers['idempotency-key'] ?? '');
  return createHash('sha256')
    .update(`${holderOf(request).tokenId} ${key}`)
    .digest('hex')
    .slice(0, 12);
}

function show(shown: Webhook): Shown {
  return withInstants(webhookAsJson(shown)) as Shown;
}

function showChange({ webhook: changed, notice }: ChangedWebhook): ShownChange {
  return { ...show(changed), notice };
}
