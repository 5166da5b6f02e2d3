import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
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
import type { Answer } from '../../operations/schemas/all.ts';
import { webhookAsJson } from '../../words/webhooks.ts';
import { holderOf, type Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { serve } from '../core/serve.ts';

type Shown = Answer<'readWebhook'>;
type ShownChange = Answer<'addWebhook'>;
interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Which other systems are told of events. */
export function webhookRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  serve(app, 'listWebhooks', async () => ({ webhooks: (await listWebhooks(store.db)).map(show) }));

  serve(app, 'addWebhook', async (request, reply) => {
    const { url, campaign = null, types = null } = request.body;
    const work = async () => {
      const added = { url, campaign, types, webhookId: idOfKey(request), ...byHolder(request) };
      return showChange(await addWebhook(context, added));
    };
    const change = { action: 'webhook_added', sent: { body: request.body }, status: 201, work } as const;
    return makeChange(context, { request, reply, ...change, campaignId: campaign ?? 'account' });
  });

  serve(app, 'readWebhook', async ({ params }) => show(await requireWebhook(context, params.webhook)));

  serve(app, 'removeWebhook', async (request, reply) => {
    const { webhook: id } = request.params;
    return changeOne(context, { request, reply }, { id, action: 'webhook_removed' }, async () =>
      show(await removeWebhook(context, id, byHolder(request))),
    );
  });

  for (const wish of ['pause', 'resume'] as const) {
    serve(app, `${wish}Webhook`, async (request, reply) => {
      const { webhook: id } = request.params;
      return changeOne(context, { request, reply }, { id, action: `webhook_${wish}d` }, async () =>
        showChange(await pauseOrResumeWebhook(context, id, { wish, ...byHolder(request) })),
      );
    });
  }

  serve(app, 'testWebhook', async ({ params }) => {
    const result = await pingWebhook(context, params.webhook);
    return result.delivered ? { delivered: true, status: null, why: null } : result;
  });
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
  return withInstants(webhookAsJson(shown));
}

function showChange({ webhook: changed, notice }: ChangedWebhook): ShownChange {
  return { ...show(changed), notice };
}
