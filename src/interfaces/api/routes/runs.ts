import { runs } from '../../../operations/runs/all.ts';
import { perform, type RunId } from '../../../operations/runs/perform.ts';
import { operationOf } from '../../../operations/list.ts';
import { holderOf, type Api, type ApiContext } from '../core/app.ts';
import { serve } from '../core/serve.ts';
import { receiveFiles, withFolder } from '../core/uploads.ts';

/** The types of one operation serve for all. */
export function runRoutes(app: Api, context: ApiContext): void {
  for (const id of Object.keys(runs) as RunId[]) {
    const { files: names } = operationOf(id);
    serve(app, id as 'resolveRow', async (request, reply) => {
      const { params, query, body, headers } = request;
      const sent = { params, query, body, key: headers['idempotency-key'] as string | undefined };
      const done = (files = {}) => perform(context, id as 'resolveRow', { ...sent, ...files }, holderOf(request));
      const performed = names === undefined ? done() : withFolder((folder) => done({ files: () => receiveFiles(request, folder, names) }));
      const { answer, status, replayed } = await performed;
      if (replayed) void reply.header('idempotent-replayed', 'true');
      void reply.code(status);
      return answer;
    });
  }
}
