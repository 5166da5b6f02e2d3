import {
  continueSchedule,
  deleteSchedule,
  describeSchedule,
  fireSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
} from '../control/schedules/schedules.ts';
import { withInstants } from '../../shared/input/times.ts';
import type { Run, Runs } from './run.ts';

/** The log of a campaign tells of its schedule, whether the database has the campaign or not. */
const log = (_doing: unknown, { campaign }: { campaign: string }) => campaign;

const noted = (action: string, change: typeof pauseSchedule): Pick<Run<'pauseSchedule'>, 'action' | 'log' | 'run'> => ({
  action,
  log,
  run: async (doing, { campaign, body }) => {
    const { view, wasPaused } = await change(doing, campaign, body?.note);
    return { ...view, wasPaused };
  },
});

/** How schedules that are there are read and changed. */
export const scheduleRuns: Runs<
  'listSchedules' | 'readSchedule' | 'pauseSchedule' | 'resumeSchedule' | 'triggerSchedule' | 'continueSchedule' | 'deleteSchedule'
> = {
  listSchedules: { run: async (doing) => ({ schedules: await listSchedules(doing) }) },
  readSchedule: { run: (doing, { campaign }) => describeSchedule(doing, campaign) },
  pauseSchedule: noted('schedule_paused', pauseSchedule),
  resumeSchedule: noted('schedule_resumed', resumeSchedule),
  triggerSchedule: {
    action: 'schedule_triggered',
    log,
    run: async (doing, { campaign }) => withInstants(await fireSchedule(doing, campaign)),
  },
  continueSchedule: {
    action: 'schedule_continued',
    log,
    run: (doing, { campaign }) => continueSchedule(doing, campaign),
  },
  deleteSchedule: {
    action: 'schedule_deleted',
    log,
    run: async (doing, { campaign }) => ({ campaignId: campaign, ...(await deleteSchedule(doing, campaign)) }),
  },
};
