import { createHash } from 'node:crypto';
import { operations } from '../../../operations/list.ts';
import { runs } from '../../../operations/runs/all.ts';
import type { Run } from '../../../operations/runs/run.ts';
import { shapes, type Taken, type Shape } from '../../../operations/schemas/all.ts';
import { holderOf, type Api, type ApiContext } from '../core/app.ts';
import { changeCampaign, makeChange } from '../core/changes.ts';
import { serve } from '../core/serve.ts';

/** Operations that are carried out here as anywhere else; the types of one stand for those of all. */
export function runRoutes(app: Api, context: ApiContext): void {
  for (const [id, entry] of Object.entries(runs) as [keyof typeof runs, Run<'resolveRow'>][]) {
    const { action, log, run } = entry;
    const { kind, route } = operations[id];
    const { status }: Shape = shapes[id];
    serve(app, id as 'resolveRow', async (request, reply) => {
      const { query, body, headers } = request;
      const input: Taken<'resolveRow'> = { ...request.params, query, body };
      const { tokenId, name: by } = holderOf(request);
      if (kind !== 'change') return run({ ...context, by }, input);
      const once = createHash('sha256').update(`${tokenId} ${String(headers['idempotency-key'])}`);
      const doing = { ...context, by, onceId: once.digest('hex').slice(0, 12) };
      const called = (typeof action === 'function' ? action(input) : action) ?? null;
      const change = { request, reply, action: called, ...(status === undefined ? {} : { status }) };
      if (log === undefined && route.includes('/campaigns/:campaign'))
        return changeCampaign(context, { ...change, work: (campaign) => run(doing, { ...input, campaign }) });
      const campaignId = (await log?.(doing, input)) ?? 'account';
      return makeChange(context, { ...change, campaignId, sent: { body }, work: () => run(doing, input) });
    });
  }
}
