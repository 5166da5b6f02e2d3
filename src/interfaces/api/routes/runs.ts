import { createHash } from 'node:crypto';
import { operations } from '../../../operations/list.ts';
import { runs } from '../../../operations/runs/all.ts';
import type { Run } from '../../../operations/runs/run.ts';
import { shapes, type Taken, type Shape } from '../../../operations/schemas/all.ts';
import { holderOf, type Api, type ApiContext } from '../core/app.ts';
import { changeCampaign, makeChange } from '../core/changes.ts';
import { serve } from '../core/serve.ts';
import { createSchedule, editSchedule, previewSchedule, readNewSchedule } from '../../../operations/control/schedules/create.ts';
import { readRecurrence } from '../../../operations/control/schedules/recurrence.ts';
import { readCampaignText } from '../../../shared/input/yaml-text.ts';
import { refuseOwnRules, withoutFolder, withUploads } from '../core/uploads.ts';
import { importDoNotCall } from '../../../operations/control/suppress.ts';
import { accountScope } from '../../../ledger/rows/suppressions.ts';

/** Operations that are carried out here as anywhere else; the types of one stand for those of all. */
export function runRoutes(app: Api, context: ApiContext): void {
  for (const [id, entry] of Object.entries(runs) as [keyof typeof runs, Run<'resolveRow'>][]) {
    const { action, log, run, kept } = entry;
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
      const change = { request, reply, action: called, kept, ...(status === undefined ? {} : { status }) };
      if (log === undefined && route.includes('/campaigns/:campaign'))
        return changeCampaign(context, { ...change, work: (campaign) => run(doing, { ...input, campaign }) });
      const campaignId = (await log?.(doing, input)) ?? 'account';
      return makeChange(context, { ...change, campaignId, sent: { body }, work: () => run(doing, input) });
    });
  }
}

/** Under which name the campaign file stands in messages and in the schedule: it lies on no machine. */
const fileName = 'campaign.yaml';

/** Schedules that are made from what was sent. Their runs fetch from an address that they are given, as webhooks post to one. */
export function scheduleRoutes(app: Api, context: ApiContext): void {
  serve(app, 'createSchedule', async (request, reply) => {
    const { made, recurrence } = await readBody(context, request.body);
    const work = () => createSchedule(context, made, recurrence);
    const { campaignId } = made;
    const change = {
      action: 'schedule_created',
      campaignId,
      sent: { body: request.body },
      status: 201,
      work,
    } as const;
    return makeChange(context, { request, reply, ...change });
  });

  serve(app, 'editSchedule', async (request, reply) => {
    const { body, params } = request;
    const { campaign: text, list, ...written } = body;
    const work = async () => {
      if (text !== undefined) refuseOwnRules((await readCampaignText(fileName, text)).content);
      return editSchedule(context, params.campaign, { text, list, recurrence: readRecurrence(written, context.now(), String) });
    };
    return makeChange(context, { request, reply, action: 'schedule_edited', campaignId: params.campaign, sent: { body }, work });
  });

  serve(app, 'previewSchedule', async (request) => {
    const { made, recurrence } = await readBody(context, request.body);
    return previewSchedule(context, made, recurrence);
  });
}

/** Everything is checked before anything is written. Throws ProblemError, and as `readNewSchedule` and `readRecurrence`. */
async function readBody(context: ApiContext, { campaign: text, list, ...written }: Taken<'createSchedule'>['body']) {
  const recurrence = readRecurrence(written, context.now(), String);
  refuseOwnRules((await readCampaignText(fileName, text)).content);
  return { made: await readNewSchedule(context, { path: fileName, text, list }), recurrence };
}

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
