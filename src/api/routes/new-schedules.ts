import type { z } from 'zod';
import { createSchedule, previewSchedule, readNewSchedule } from '../../control/schedules/create.ts';
import { readRecurrence } from '../../control/schedules/recurrence.ts';
import { readCampaignText } from '../../input/yaml-text.ts';
import type { Api } from '../core/app.ts';
import { refuseOwnRules } from '../core/campaign-upload.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { keyHeaders, refusals } from '../schemas/common.ts';
import { newScheduleBody, schedule, schedulePreview } from '../schemas/schedules.ts';

const path = '/api/v1/schedules';
const tags = ['schedules'];
/** Under which name the campaign file stands in messages and in the schedule: it lies on no machine. */
const fileName = 'campaign.yaml';

/** Schedules that are made from what was sent. Their runs fetch from an address that they are given, as webhooks post to one. */
export function newScheduleRoutes(app: Api, context: ApiContext): void {
  app.post(
    path,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'createSchedule',
        tags,
        summary: 'Make a schedule for a campaign file, whose runs fetch their lists from an address',
        headers: keyHeaders,
        body: newScheduleBody,
        response: { 201: schedule, ...refusals(409, 422) },
      },
    },
    async (request, reply) => {
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
    },
  );

  app.post(
    `${path}/preview`,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'previewSchedule',
        tags,
        summary: 'Tell when the first runs of a schedule would be; nothing is made',
        description: 'Runs of an interval without startAt are counted from when the schedule is made.',
        body: newScheduleBody,
        response: { 200: schedulePreview, ...refusals(409, 422) },
      },
    },
    async (request) => {
      const { made, recurrence } = await readBody(context, request.body);
      return previewSchedule(context, made, recurrence);
    },
  );
}

/** Everything is checked before anything is written. Throws ProblemError, and as `readNewSchedule` and `readRecurrence`. */
async function readBody(context: ApiContext, { campaign: text, list, ...written }: z.output<typeof newScheduleBody>) {
  const recurrence = readRecurrence(written, context.now(), String);
  refuseOwnRules((await readCampaignText(fileName, text)).content);
  return { made: await readNewSchedule(context, { path: fileName, text, list }), recurrence };
}
