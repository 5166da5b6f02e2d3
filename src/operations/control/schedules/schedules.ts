import { setTimeout as delay } from 'node:timers/promises';
import type { ScheduleHandle } from '@temporalio/client';
import { scheduledCampaignId } from '../../../rules/hours/firing-time.ts';
import {
  findCallingRunCampaign,
  findActiveRunCampaign,
  listRunCampaigns,
  listSchedules as listStored,
  removeSchedule,
  type Schedule,
} from '../../../ledger/campaign/schedules.ts';
import { describeSchedule as describeInTemporal, type ScheduleState } from '../../../temporal/schedules.ts';
import { loadClient } from '../../../temporal/connection.ts';
import { startCampaign } from '../../../temporal/start-campaign.ts';
import { connected, type Control, type Session } from '../control.ts';
import { askTemporal, requireSchedule, requireState, ScheduleMessageError, readScheduleView, type ScheduleView } from './view.ts';
import { readClock } from '../service.ts';

export async function listSchedules(control: Control): Promise<ScheduleView[]> {
  const session = await connected(control);
  const views: ScheduleView[] = [];
  for (const schedule of await listStored(session.store.db)) views.push(await readScheduleView(session, schedule));
  return views;
}

/** Throws UnknownScheduleError, and as `temporal`. */
export async function describeSchedule(control: Control, campaignId: string): Promise<ScheduleView> {
  const session = await connected(control);
  return readScheduleView(session, await requireSchedule(session, campaignId));
}

export interface ScheduleChange {
  view: ScheduleView;
  wasPaused: boolean;
  /** Null unless an operator wrote it. */
  noteBefore: string | null;
}

const automaticNotes = { pause: 'paused by a person', resume: 'resumed by a person' } as const;

/**
 * Stops new runs until resumed; a running campaign continues. Only another note replaces an operator's. Repeating it changes nothing.
 * Throws UnknownScheduleError, ScheduleMessageError, and as `temporal`.
 */
export async function pauseSchedule(control: Control, campaignId: string, note?: string): Promise<ScheduleChange> {
  const session = await connected(control);
  const { schedule, state } = await requireState(session, campaignId);
  const newNote = note ?? writtenNote(state.note) ?? automaticNotes.pause;
  if (!state.paused || newNote !== state.note) await handleOf(session, schedule).pause(newNote);
  return changeOf(session, schedule, state);
}

/** Resumes runs; missed ones are not made up. Repeating it changes nothing but a note. Throws as `pauseSchedule`. */
export async function resumeSchedule(control: Control, campaignId: string, note?: string): Promise<ScheduleChange> {
  const session = await connected(control);
  const { schedule, state } = await requireState(session, campaignId);
  if (state.paused || note !== undefined) await handleOf(session, schedule).unpause(note ?? automaticNotes.resume);
  return changeOf(session, schedule, state);
}

async function changeOf(session: Session, schedule: Schedule, before: ScheduleState): Promise<ScheduleChange> {
  const view = await readScheduleView(session, schedule);
  return { view, wasPaused: before.paused, noteBefore: writtenNote(before.note) };
}

function handleOf({ temporal }: Session, { scheduleId }: Schedule): ScheduleHandle {
  return temporal.client.schedule.getHandle(scheduleId);
}

function writtenNote(note: string | null): string | null {
  return note === null || (Object.values(automaticNotes) as string[]).includes(note) ? null : note;
}

/**
 * Starts a run now, even of a paused schedule; answers its campaign. Not idempotent; throws ScheduleMessageError while an earlier campaign
 * has not ended, since the server would skip it silently. Else throws as `pauseSchedule`.
 */
export async function fireSchedule(
  control: Control,
  campaignId: string,
): Promise<{ campaignId: string; workflowId: string; scheduledAt: number }> {
  const session = await connected(control);
  const { schedule, state: before } = await requireState(session, campaignId);
  if (before.isRunning) {
    const { last } = await readScheduleView(session, schedule);
    throw new ScheduleMessageError(
      `The last run of ${campaignId} has not ended: campaign ${last?.campaignId ?? 'unknown'} is ${last?.result ?? 'running'}. A run now would be skipped, so nothing was done.`,
    );
  }
  await refuseBeside(session, schedule);
  await handleOf(session, schedule).trigger('SKIP');
  const { scheduledAt, workflowId } = await awaitRun(session, schedule, before);
  return { campaignId: scheduledCampaignId(campaignId, scheduledAt, before.timeZone), workflowId, scheduledAt };
}

/** The worker would skip this run. Throws ScheduleMessageError. */
async function refuseBeside({ store }: Session, schedule: Schedule): Promise<void> {
  const going = await findCallingRunCampaign(store.db, schedule);
  if (going === undefined) return;
  const { campaignId, state } = going;
  throw new ScheduleMessageError(
    `Campaign ${campaignId} of an earlier run is ${state}. A run now would be skipped, so nothing was done. ` +
      `If it does not progress: carillon schedule continue ${schedule.campaignId}; to end it: carillon cancel ${campaignId}`,
  );
}

/**
 * Continues the last run's campaign after its workflow was terminated or lost. Harmless if it runs. Throws UnknownScheduleError,
 * ScheduleMessageError, ServiceUnusableError, and as `temporal` and `startCampaign`.
 */
export async function continueSchedule(
  control: Control,
  campaignId: string,
): Promise<{ campaignId: string; result: 'ended' | 'attached' | 'started' }> {
  const session = await connected(control);
  const { config, store, temporal } = session;
  const schedule = await requireSchedule(session, campaignId);
  // A run skipped since has left no campaign.
  const last = (await findActiveRunCampaign(store.db, schedule)) ?? (await listRunCampaigns(store.db, schedule))[0];
  if (last === undefined) {
    throw new ScheduleMessageError(
      `No run of ${campaignId} has left a campaign to continue: carillon schedule describe ${campaignId} shows the last one.`,
    );
  }
  const now = Math.round((await readClock(config)).now());
  const started = await startCampaign({ config, store, client: temporal.client, now }, last.campaignId);
  const result = started === undefined ? 'ended' : started.attached ? 'attached' : 'started';
  return { campaignId: last.campaignId, result };
}

/**
 * Deletes it from Temporal and the database, where present; its campaigns continue. Throws UnknownScheduleError, also when repeated, and as
 * `temporal`.
 */
export async function deleteSchedule(control: Control, campaignId: string): Promise<{ scheduleId: string }> {
  const session = await connected(control);
  const schedule = await requireSchedule(session, campaignId);
  const { scheduleId } = schedule;
  if ((await askTemporal(session, schedule)) !== null) {
    await handleOf(session, schedule)
      .delete()
      .catch(async (error: unknown) => {
        if (!(error instanceof (await loadClient()).ScheduleNotFoundError)) throw error;
      });
  }
  await removeSchedule(session.store, scheduleId);
  return { scheduleId };
}

const beginLimitMs = 30_000;

async function awaitRun(
  { temporal }: Session,
  { scheduleId }: Schedule,
  before: ScheduleState,
): Promise<NonNullable<ScheduleState['last']>> {
  const deadline = Date.now() + beginLimitMs;
  for (;;) {
    const last = (await describeInTemporal(temporal.client, scheduleId))?.last;
    if (last != null && last.workflowId !== before.last?.workflowId) return last;
    if (Date.now() > deadline) {
      throw new ScheduleMessageError(
        `Temporal accepted the request, but has not begun a run within ${beginLimitMs / 1000} s. carillon schedule list shows whether it does.`,
      );
    }
    await delay(100);
  }
}
