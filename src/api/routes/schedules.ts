import {
  continueSchedule,
  deleteSchedule,
  describeSchedule,
  fireSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
} from '../../control/schedules/schedules.ts';
import type { Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { serve } from '../core/serve.ts';
import { createSchedule, previewSchedule, readNewSchedule } from '../../control/schedules/create.ts';
import { readRecurrence } from '../../control/schedules/recurrence.ts';
import type { Taken } from '../../operations/schemas/all.ts';
import { readCampaignText } from '../../input/yaml-text.ts';
import { refuseOwnRules } from '../core/campaign-upload.ts';

const wishes = {
  pause: { change: pauseSchedule, action: 'schedule_paused' },
  resume: { change: resumeSchedule, action: 'schedule_resumed' },
} as const;

/** Under which name the campaign file stands in messages and in the schedule: it lies on no machine. */
const fileName = 'campaign.yaml';

/** Campaigns that recur. */
export function scheduleRoutes(app: Api, context: ApiContext): void {
  serve(app, 'listSchedules', async () => ({ schedules: await listSchedules(context) }));

  serve(app, 'readSchedule', async ({ params }) => describeSchedule(context, params.campaign));

  for (const wish of ['pause', 'resume'] as const) {
    const { change, action } = wishes[wish];
    serve(app, `${wish}Schedule`, async (request, reply) => {
      const { campaign: campaignId } = request.params;
      const work = async () => {
        const { view, wasPaused } = await change(context, campaignId, request.body?.note);
        return { ...view, wasPaused };
      };
      return makeChange(context, { request, reply, action, campaignId, sent: { body: request.body }, work });
    });
  }

  serve(app, 'triggerSchedule', async (request, reply) => {
    const { campaign: campaignId } = request.params;
    const work = async () => {
      const { scheduledAt, ...fired } = await fireSchedule(context, campaignId);
      return { ...fired, scheduledAt: new Date(scheduledAt).toISOString() };
    };
    const change = { action: 'schedule_triggered', campaignId, sent: {}, work };
    return makeChange(context, { request, reply, ...change });
  });

  serve(app, 'continueSchedule', async (request, reply) => {
    const { campaign: campaignId } = request.params;
    const work = () => continueSchedule(context, campaignId);
    const change = { action: 'schedule_continued', campaignId, sent: {}, work };
    return makeChange(context, { request, reply, ...change });
  });

  serve(app, 'deleteSchedule', async (request, reply) => {
    const { campaign: campaignId } = request.params;
    const work = async () => ({ campaignId, ...(await deleteSchedule(context, campaignId)) });
    const change = { action: 'schedule_deleted', campaignId, sent: {}, work };
    return makeChange(context, { request, reply, ...change });
  });

  // Their runs fetch from an address that they are given, as webhooks post to one.
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
