import type { z } from 'zod';
import { checkAsJson, checkCampaign, refuseUnstartable } from '../../control/check/check.ts';
import { checkedLedger } from '../../control/check/ledger.ts';
import { tellToLook } from '../../control/campaign-message.ts';
import { startFromFile } from '../../control/start.ts';
import { UpdateCounts } from '../../control/update-counts.ts';
import { applyUpdate, openUpdate } from '../../control/update.ts';
import { readCampaign } from '../../import/import-list.ts';
import { CampaignFileError } from '../../input/errors.ts';
import { withInstants } from '../../input/with-instants.ts';
import { usualAssumptions } from '../../preflight/campaign-forecast.ts';
import type { Api } from '../core/app.ts';
import { withCampaignUpload } from '../core/campaign-upload.ts';
import { changeCampaign, makeChange } from '../core/changes.ts';
import { serviceNow, type ApiContext } from '../core/context.ts';
import { withoutFolder, withUploads } from '../core/uploads.ts';
import { campaignParams, keyHeaders, refusals } from '../schemas/common.ts';
import { checked, createQuery, created, updateQuery, updated } from '../schemas/create.ts';

const tags = ['campaigns'];

/** Campaigns and lists that are sent. */
export function createRoutes(app: Api, context: ApiContext): void {
  app.post(
    '/api/v1/campaigns',
    {
      config: { role: 'operate', files: ['campaign', 'list'] },
      schema: {
        operationId: 'createCampaign',
        tags,
        summary: 'Import a campaign and start it',
        description:
          'As carillon start: refuses what that refuses, and attaches to a campaign that the database has from the same file and list.',
        consumes: ['multipart/form-data'],
        headers: keyHeaders,
        querystring: createQuery,
        response: { 201: created, ...refusals(409, 413, 415, 422) },
      },
    },
    async (request, reply) =>
      withCampaignUpload(request, async ({ file, hashes }) => {
        const allowPartial = request.query.allow_partial;
        const work = async () => {
          const [notes, warnings]: [string[], string[]] = [[], []];
          const read = await readCampaign(file, await serviceNow(context));
          const result = await startFromFile(context, read, {
            check: true,
            allowPartial,
            onNote: (note) => notes.push(note),
            onProgress: () => {},
            onWarnings: (told) => warnings.push(...told),
          });
          const { campaignId, state, rowsTotal, rowsRejected } = result.campaign;
          const [imported, round] = result.kind === 'ended' ? [false, null] : [result.imported, result.round.round];
          return { campaignId, result: result.kind, imported, state, round, rowsTotal, rowsRejected, notes, warnings };
        };
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

  app.post(
    '/api/v1/campaigns/check',
    {
      config: { role: 'read', files: ['campaign', 'list'] },
      schema: {
        operationId: 'checkCampaign',
        tags,
        summary: 'Check a campaign and its list without placing a call; changes nothing',
        consumes: ['multipart/form-data'],
        response: { 200: checked, ...refusals(413, 415, 422) },
      },
    },
    async (request) =>
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
        }) as z.input<typeof checked>;
      }),
  );

  app.post(
    '/api/v1/campaigns/:campaign/update',
    {
      config: { role: 'operate', files: ['list'] },
      schema: {
        operationId: 'updateList',
        tags: ['rows'],
        summary: 'Add and correct rows of a campaign that has not ended',
        description: 'Rows are matched by the id column. Rows that fail leave those of the campaign as they were.',
        consumes: ['multipart/form-data'],
        params: campaignParams,
        querystring: updateQuery,
        headers: keyHeaders,
        response: { 200: updated, ...refusals(404, 409, 413, 415, 422) },
      },
    },
    async (request, reply) =>
      withUploads(request, ['list'], async ({ folder, paths, hashes }) => {
        const { dry_run: dryRun, add, restore } = request.query;
        const change = async (campaignId: string) => {
          const update = await openUpdate(context, { campaignId, path: paths.list });
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

/** Why a start would be refused; null: it would not. */
function refusalOf(result: Parameters<typeof refuseUnstartable>[0]): string | null {
  try {
    refuseUnstartable(result);
    return null;
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`).join('\n');
  }
}
