import {
  deleteSchedule,
  describeSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
} from '../../control/schedules/schedules.ts';
import type { Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { keyHeaders, refusals } from '../schemas/common.ts';
import {
  changedSchedule,
  deletedSchedule,
  schedule,
  scheduleList,
  scheduleNoteBody,
  scheduleParams,
} from '../schemas/schedules.ts';

const path = '/api/v1/schedules';
const tags = ['schedules'];

const wishes = {
  pause: {
    change: pauseSchedule,
    action: 'schedule_paused',
    summary: 'Start no runs until the schedule is resumed',
    description: 'A running campaign continues. Repeating it changes nothing but a note.',
  },
  resume: {
    change: resumeSchedule,
    action: 'schedule_resumed',
    summary: 'Start runs again',
    description: 'Missed runs are not made up. Repeating it changes nothing but a note.',
  },
} as const;

/** Campaigns that recur. */
export function scheduleRoutes(app: Api, context: ApiContext): void {
  app.get(
    path,
    {
      config: { role: 'read' },
      schema: {
        operationId: 'listSchedules',
        tags,
        summary: 'List the schedules with their next and last runs',
        response: { 200: scheduleList, ...refusals() },
      },
    },
    async () => ({ schedules: await listSchedules(context) }),
  );

  app.get(
    `${path}/:campaign`,
    {
      config: { role: 'read' },
      schema: {
        operationId: 'readSchedule',
        tags,
        summary: 'Read a schedule with its next runs and its last one',
        params: scheduleParams,
        response: { 200: schedule, ...refusals(404) },
      },
    },
    async ({ params }) => describeSchedule(context, params.campaign),
  );

  for (const wish of ['pause', 'resume'] as const) {
    const { change, action, summary, description } = wishes[wish];
    app.post(
      `${path}/:campaign/${wish}`,
      {
        config: { role: 'operate' },
        schema: {
          operationId: `${wish}Schedule`,
          tags,
          summary,
          description,
          params: scheduleParams,
          headers: keyHeaders,
          body: scheduleNoteBody,
          response: { 200: changedSchedule, ...refusals(404, 409, 422) },
        },
      },
      async (request, reply) => {
        const { campaign: campaignId } = request.params;
        const work = async () => {
          const { view, wasPaused } = await change(context, campaignId, request.body?.note);
          return { ...view, wasPaused };
        };
        return makeChange(context, { request, reply, action, campaignId, sent: { body: request.body }, work });
      },
    );
  }

  app.delete(
    `${path}/:campaign`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'deleteSchedule',
        tags,
        summary: 'Delete a schedule',
        description: 'It starts no further runs; campaigns that it has started continue.',
        params: scheduleParams,
        headers: keyHeaders,
        response: { 200: deletedSchedule, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { campaign: campaignId } = request.params;
      const work = async () => ({ campaignId, ...(await deleteSchedule(context, campaignId)) });
      const change = { action: 'schedule_deleted', campaignId, sent: {}, work };
      return makeChange(context, { request, reply, ...change });
    },
  );
}
