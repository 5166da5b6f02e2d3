import { createSchedule, previewSchedule, readNewSchedule } from '../../../operations/control/schedules/create.ts';
import { readRecurrence } from '../../../operations/control/schedules/recurrence.ts';
import { readCampaignText } from '../../../shared/input/yaml-text.ts';
import type { Taken } from '../../../operations/schemas/all.ts';
import type { Api, ApiContext } from '../core/app.ts';
import { refuseOwnRules } from '../core/uploads.ts';
import { makeChange } from '../core/changes.ts';
import { serve } from '../core/serve.ts';

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
