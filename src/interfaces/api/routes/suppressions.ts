import { importDoNotCall } from '../../../operations/control/suppress.ts';
import { accountScope } from '../../../ledger/rows/suppressions.ts';
import { holderOf, type Api, type ApiContext } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import { serve } from '../core/serve.ts';
import { withoutFolder, withUploads } from '../core/uploads.ts';

const mostBadLines = 20;

/** Files of numbers that go onto the do-not-call list. */
export function suppressionRoutes(app: Api, context: ApiContext): void {
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
}
