import { requireCampaign } from '../../control/ledger.ts';
import {
  addToDoNotCall,
  checkDoNotCall,
  importDoNotCall,
  readNumbers,
  removeFromDoNotCall,
} from '../../control/suppress.ts';
import { withInstants } from '../../input/with-instants.ts';
import { accountScope, listSuppressions } from '../../ledger/rows/suppressions.ts';
import { holderOf, type Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { serve } from '../core/serve.ts';
import { withoutFolder, withUploads } from '../core/uploads.ts';

const mostBadLines = 20;

/** The do-not-call list. */
export function suppressionRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  serve(app, 'listSuppressions', async ({ query: { campaign, after, limit } }) => {
    const scope = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
    const found = await listSuppressions(store.db, {
      scope,
      after: after === undefined ? null : readCursor(after),
      limit,
    });
    const last = found.length < limit ? undefined : found.at(-1);
    const next = last === undefined ? null : `${last.e164} ${last.scope}`;
    return withInstants({ suppressions: found, next });
  });

  serve(app, 'addSuppressions', async (request, reply) => {
    const { numbers, region, campaign, reason, expiresAt } = request.body;
    const terms = {
      campaign,
      reason,
      expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
      by: holderOf(request).name,
    };
    const work = () => addToDoNotCall(context, readNumbers(numbers, region), terms);
    return makeChange(context, {
      request,
      reply,
      action: 'suppressions_added',
      campaignId: campaign ?? accountScope,
      sent: { body: request.body },
      work,
    });
  });

  serve(app, 'importSuppressions', async (request, reply) =>
    withUploads(request, ['numbers'], async ({ folder, paths, hashes }) => {
      const { region, column, campaign, expires_at: expiresAt } = request.query;
      const terms = { campaign, expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) };
      const work = async () => {
        const badLines: number[] = [];
        const file = {
          path: paths.numbers,
          name: holderOf(request).name,
          region,
          column,
          onBad: (line: number) => void (badLines.length < mostBadLines && badLines.push(line)),
          onProgress: () => {},
        };
        const counts = await importDoNotCall(context, file, terms).catch((error: unknown) => {
          throw withoutFolder(error, folder);
        });
        return { ...counts, badLines };
      };
      return makeChange(context, {
        request,
        reply,
        action: 'suppressions_imported',
        campaignId: campaign ?? accountScope,
        sent: { files: hashes, query: request.query },
        work,
      });
    }),
  );

  serve(app, 'removeSuppressions', async (request, reply) => {
    const { numbers, region, campaign } = request.body;
    const work = async () => {
      if (campaign !== undefined) await requireCampaign(store, campaign);
      const { removed, unknown } = await removeFromDoNotCall(context, readNumbers(numbers, region), campaign);
      return { removed, unknown };
    };
    return makeChange(context, {
      request,
      reply,
      action: 'suppressions_removed',
      campaignId: campaign ?? accountScope,
      sent: { body: request.body },
      work,
    });
  });

  serve(app, 'checkSuppressions', async ({ body }) => {
    const { numbers } = await checkDoNotCall(context, readNumbers(body.numbers, body.region));
    return withInstants({ numbers });
  });
}

function readCursor(text: string): { e164: string; scope: string } {
  const [e164 = '', scope = ''] = text.split(' ');
  return { e164, scope };
}
