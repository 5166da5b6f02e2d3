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
import { keyHeaders, refusals } from '../schemas/common.ts';
import {
  changedSchedule,
  continuedSchedule,
  deletedSchedule,
  schedule,
  scheduleList,
  scheduleNoteBody,
  scheduleParams,
  triggeredSchedule,
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

  app.post(
    `${path}/:campaign/trigger`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'triggerSchedule',
        tags,
        summary: 'Start a run now, also of a paused schedule',
        description: 'Refused while the campaign of an earlier run has not ended.',
        params: scheduleParams,
        headers: keyHeaders,
        response: { 200: triggeredSchedule, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { campaign: campaignId } = request.params;
      const work = async () => {
        const { scheduledAt, ...fired } = await fireSchedule(context, campaignId);
        return { ...fired, scheduledAt: new Date(scheduledAt).toISOString() };
      };
      const change = { action: 'schedule_triggered', campaignId, sent: {}, work };
      return makeChange(context, { request, reply, ...change });
    },
  );

  app.post(
    `${path}/:campaign/continue`,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'continueSchedule',
        tags,
        summary: 'Go on with the campaign of the last run after its workflow was lost or ended by hand',
        description: 'Harmless if the campaign runs.',
        params: scheduleParams,
        headers: keyHeaders,
        response: { 200: continuedSchedule, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { campaign: campaignId } = request.params;
      const work = () => continueSchedule(context, campaignId);
      const change = { action: 'schedule_continued', campaignId, sent: {}, work };
      return makeChange(context, { request, reply, ...change });
    },
  );

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
