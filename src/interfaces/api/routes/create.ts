import { checkAsJson, checkCampaign, refuseUnstartable } from '../../../operations/control/check/check.ts';
import { checkedLedger } from '../../../operations/control/check/ledger.ts';
import { tellToLook } from '../../../operations/control/campaign-message.ts';
import { freeCampaignId, readToStart, startFromFile } from '../../../operations/control/start.ts';
import { UpdateCounts } from '../../../operations/control/update-rows.ts';
import { applyUpdate, openUpdate } from '../../../operations/control/update.ts';
import { readCampaign } from '../../../campaign/preflight/import-list.ts';
import { CampaignFileError } from '../../../shared/input/errors.ts';
import { withInstants } from '../../../shared/input/times.ts';
import type { Answer } from '../../../operations/schemas/all.ts';
import { usualAssumptions } from '../../../campaign/preflight/campaign-forecast.ts';
import { type Api, serviceNow, type ApiContext } from '../core/app.ts';
import { ProblemError } from '../core/problem.ts';
import { withCampaignUpload, withExample, withoutFolder, withUploads } from '../core/uploads.ts';
import { changeCampaign, makeChange } from '../core/changes.ts';
import { serve } from '../core/serve.ts';

export function createRoutes(app: Api, context: ApiContext): void {
  serve(app, 'createCampaign', async (request, reply) =>
    withCampaignUpload(request, async ({ file, hashes }) => {
      const work = () => startRead(context, file, request.query.allow_partial);
      return makeChange(context, {
        request,
        reply,
        action: 'start',
        campaignId: file.id,
        sent: { files: hashes, query: request.query },
        status: 201,
        work,
      });
    }),
  );

  serve(app, 'startExample', async (request, reply) => {
    const { quickenSandbox } = context;
    if (quickenSandbox === undefined)
      throw new ProblemError(409, 'no_sandbox', 'This server has no sandbox, so the example was not started. carillon dev has one.');
    const campaignId = await freeCampaignId(context, 'example');
    const work = async () => {
      quickenSandbox();
      return withExample(campaignId, (file) => startRead(context, file, false));
    };
    return makeChange(context, { request, reply, action: 'start', campaignId, sent: {}, status: 201, work });
  });

  serve(app, 'checkCampaign', async (request) =>
    withCampaignUpload(request, async ({ file }) => {
      const result = await checkCampaign({
        config: context.config,
        now: context.now(),
        file,
        assumptions: usualAssumptions,
        openLedger: (campaign) => checkedLedger(context, campaign),
      });
      const { campaign, ...told } = checkAsJson(result) as { campaign: Record<string, unknown> };
      // Where the files lie here is nobody's business.
      const { path: _path, list: _list, ...named } = campaign;
      return withInstants({
        ...told,
        campaign: named,
        refusal: refusalOf(result),
        warnings: result.warnings,
      }) as object as Answer<'checkCampaign'>;
    }),
  );

  serve(app, 'updateList', async (request, reply) =>
    withUploads(request, ['list'], async ({ folder, paths, hashes }) => {
      const { dry_run: dryRun, add, restore, encoding } = request.query;
      const change = async (campaignId: string) => {
        const update = await openUpdate(context, { campaignId, path: paths.list, encoding });
        const counts = new UpdateCounts();
        for await (const rows of applyUpdate(context, update, { dryRun, add, restore })) counts.add(rows);
        const summary = counts.summary();
        const hasChanged = !dryRun && summary.accepted + summary.corrected > 0;
        const notice = hasChanged ? await tellToLook(context, campaignId) : ({ told: true } as const);
        return { campaignId, dryRun, ...summary, notice: notice.told ? null : notice.why };
      };
      const work = (campaignId: string) =>
        change(campaignId).catch((error: unknown) => {
          throw withoutFolder(error, folder);
        });
      const sent = { files: hashes, query: request.query };
      return changeCampaign(context, { request, reply, action: dryRun ? null : 'update', sent, work });
    }),
  );
}

async function startRead(
  context: ApiContext,
  file: Parameters<typeof readCampaign>[0],
  allowPartial: boolean,
): Promise<Answer<'createCampaign'>> {
  const [notes, warnings]: [string[], string[]] = [[], []];
  const read = await readToStart(context, file, await serviceNow(context));
  const result = await startFromFile(context, read, {
    check: true,
    allowPartial,
    onNote: (note) => notes.push(note),
    onWarnings: (told) => warnings.push(...told),
  });
  const { campaignId, state, rowsTotal, rowsRejected } = result.campaign;
  const [imported, round] = result.kind === 'ended' ? [false, null] : [result.imported, result.round.round];
  return { campaignId, result: result.kind, imported, state, round, rowsTotal, rowsRejected, notes, warnings };
}

/** Why a start would be refused; null: it would not. */
function refusalOf(result: Parameters<typeof refuseUnstartable>[0]): string | null {
  const { service } = result.report;
  try {
    refuseUnstartable(result);
    return service.asked ? service.refusal : null;
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`).join('\n');
  }
}
