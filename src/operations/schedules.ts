import { z } from 'zod';
import { instant } from './fields.ts';
import { ask, change, read, under } from './operation.ts';

const scheduleParams = z.object({
  campaign: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'Id in the campaign file of the schedule.', examples: ['reminders'] }),
});

const scheduleNoteBody = z
  .object({
    note: z.string().min(1).max(200).optional().describe('Why, kept in Temporal.'),
  })
  .nullish();

/** As for `carillon schedule create`. */
const newScheduleBody = z.object({
  campaign: z.string().min(1).max(500_000).describe('The text of the campaign file.'),
  list: z
    .string()
    .min(1)
    .max(4096)
    .meta({
      description: 'Address of the list of each run, in which {{ date }} and the like stand for its time; or env://CARILLON_URL_….',
      examples: ['https://lists.example/{{ date }}.csv'],
    }),
  cron: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Five fields. One of cron and every.', examples: ['0 9 * * mon-fri'] }),
  every: z
    .string()
    .max(20)
    .optional()
    .meta({ description: 'An interval.', examples: ['1d'] }),
  timezone: z
    .string()
    .min(1)
    .max(100)
    .meta({ examples: ['America/New_York'] }),
  catchUp: z.string().max(20).default('10m').describe('A run that is later than this is left out.'),
  startAt: z
    .string()
    .max(40)
    .optional()
    .meta({ description: 'No run before this time, of its zone.', examples: ['2030-11-30T09:00'] }),
  endAt: z.string().max(40).optional().describe('No run after this time.'),
  keepSkipped: z.boolean().default(false).describe('A run whose local time a clock change skips comes at the next instant that exists.'),
  note: z.string().min(1).max(200).optional().describe('Kept in Temporal.'),
});

const scheduleEditBody = newScheduleBody.omit({ note: true }).extend({
  campaign: newScheduleBody.shape.campaign.optional(),
  list: newScheduleBody.shape.list.optional(),
});

const clockEffects = {
  clockChanges: z
    .array(
      z.object({
        effect: z.enum(['skipped', 'doubled', 'moved']).describe('moved: skipped, and made up for (keepSkipped).'),
        local: z.string().meta({ description: 'Local time of the run.', examples: ['2027-03-14T02:30'] }),
        at: instant.describe('The first instant after a skipped time, or the first of two runs.'),
      }),
    )
    .describe('Runs of the next 400 days that clock changes touch.'),
  untouchedCron: z
    .string()
    .nullable()
    .describe('The nearest hour whose runs none of them touches; null without any, or where cron has several hours.'),
};

const schedulePreview = z.object({
  campaignId: z.string(),
  when: z.string(),
  timeZone: z.string(),
  list: z.string(),
  nextAt: z.array(instant).describe('The first runs, as Temporal reports them.'),
  ...clockEffects,
});

const triggeredSchedule = z.object({
  campaignId: z.string().describe('The campaign that begins.'),
  workflowId: z.string(),
  scheduledAt: instant,
});

const continuedSchedule = z.object({
  campaignId: z.string(),
  result: z.enum(['ended', 'attached', 'started']).describe('attached: it runs already.'),
});

/** With Temporal's state of it. */
const schedule = z
  .object({
    campaignId: z.string().describe('Of the campaign file; each run has its time behind it.'),
    scheduleId: z.string().describe('In Temporal.'),
    state: z.enum(['active', 'paused', 'missing']).describe('`missing`: Temporal does not have it, so it starts no runs.'),
    note: z.string().nullable(),
    when: z
      .string()
      .nullable()
      .meta({ description: 'As it was written.', examples: ['0 9 * * mon-fri', 'every 1d'] }),
    timeZone: z.string().nullable(),
    startAt: instant.nullable(),
    endAt: instant.nullable(),
    catchUpSeconds: z.number().nullable().describe('A run that is later than this is left out.'),
    keepSkipped: z.boolean(),
    ...clockEffects,
    file: z.string(),
    list: z.string().describe('That each run reads; without what stands behind the `?` of a URL.'),
    isRunning: z.boolean().describe('Whether a run is not over: the next one would be skipped.'),
    nextAt: z.array(instant).describe('The next runs; empty while it is paused.'),
    fired: z.int(),
    skipped: z.int().describe('Runs left out because the one before was still running.'),
    missed: z.int().describe('Runs left out because Temporal was not there in time.'),
    last: z
      .object({
        scheduledAt: instant,
        campaignId: z.string(),
        result: z
          .string()
          .describe(
            '`failed`, `beginning`, `callbacks` (nothing but promises is left, and the next run may begin), or the state of its campaign.',
          ),
        reason: z.string().nullable(),
      })
      .nullable()
      .describe('The last run.'),
  })
  .meta({ id: 'Schedule' });

const changedSchedule = schedule.extend({
  wasPaused: z.boolean().describe('Before this change.'),
});

const deletedSchedule = z.object({ campaignId: z.string(), scheduleId: z.string() });

export const scheduleOperations = under('schedules', {
  listSchedules: read('GET /schedules', 'read', 'List the schedules with their next and last runs', {
    answer: z.object({ schedules: z.array(schedule) }),
  }),
  readSchedule: read('GET /schedules/:campaign', 'read', 'Read a schedule with its next runs and its last one', {
    params: scheduleParams,
    answer: schedule,
  }),
  createSchedule: change('POST /schedules', 'admin', 'Create a schedule for a campaign file; each run fetches its list from an address', {
    action: 'schedule_created',
    body: newScheduleBody,
    answer: schedule,
    status: 201,
  }),
  editSchedule: change(
    'POST /schedules/:campaign/edit',
    'admin',
    'Change when a schedule runs, or what its runs read, from the next run on',
    {
      more: 'Its times are replaced whole; list and campaign file stay where they are left out. A pause and the runs so far stay.',
      action: 'schedule_edited',
      params: scheduleParams,
      body: scheduleEditBody,
      answer: schedule,
    },
  ),
  previewSchedule: ask('POST /schedules/preview', 'admin', 'Show when the first runs of a schedule would be; nothing is created', {
    more: 'Runs of an interval without startAt are counted from when the schedule is made.',
    body: newScheduleBody,
    answer: schedulePreview,
    refuses: [409, 422],
  }),
  pauseSchedule: change('POST /schedules/:campaign/pause', 'operate', 'Start no runs until the schedule is resumed', {
    more: 'A running campaign continues. Repeating it changes nothing but a note.',
    action: 'schedule_paused',
    params: scheduleParams,
    body: scheduleNoteBody,
    answer: changedSchedule,
  }),
  resumeSchedule: change('POST /schedules/:campaign/resume', 'operate', 'Start runs again', {
    more: 'Missed runs are not made up. Repeating it changes nothing but a note.',
    action: 'schedule_resumed',
    params: scheduleParams,
    body: scheduleNoteBody,
    answer: changedSchedule,
  }),
  triggerSchedule: change('POST /schedules/:campaign/trigger', 'operate', 'Start a run now, also of a paused schedule', {
    more: 'Refused while the campaign of an earlier run has not ended.',
    action: 'schedule_triggered',
    params: scheduleParams,
    answer: triggeredSchedule,
  }),
  continueSchedule: change(
    'POST /schedules/:campaign/continue',
    'operate',
    'Continue the campaign of the last run after its workflow was lost or ended by hand',
    { more: 'Harmless if the campaign runs.', action: 'schedule_continued', params: scheduleParams, answer: continuedSchedule },
  ),
  deleteSchedule: change('DELETE /schedules/:campaign', 'operate', 'Delete a schedule', {
    more: 'It starts no further runs; campaigns that it has started continue.',
    action: 'schedule_deleted',
    params: scheduleParams,
    answer: deletedSchedule,
  }),
});
