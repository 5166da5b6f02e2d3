import { runs } from '../../operations/runs/all.ts';
import type { Run } from '../../operations/runs/run.ts';
import type { Taken } from '../../operations/schemas/all.ts';
import type { Api } from '../core/app.ts';
import { changeCampaign } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { serve } from '../core/serve.ts';

/** Changes of campaigns that are carried out as anywhere else; the shapes of one stand for those of all. */
export function runRoutes(app: Api, context: ApiContext): void {
  for (const [id, { action, run }] of Object.entries(runs) as [keyof typeof runs, Run<'resolveRow'>][])
    serve(app, id, async (request, reply) => {
      const input = { ...request.params, query: request.query, body: request.body } as Taken<'resolveRow'>;
      return changeCampaign(context, {
        request,
        reply,
        action: typeof action === 'function' ? action(input) : action,
        work: (campaign) => run(context, { ...input, campaign }),
      });
    });
}
