import { randomUUID } from 'node:crypto';
import { DateTime } from 'luxon';
import type { Client, ScheduleDescription, ScheduleHandle, ScheduleSpec } from '@temporalio/client';
import { campaignQueues } from '../rules/ids.ts';
import type { ScheduledCampaignInput } from '../../workflows/messages.ts';
import type { scheduledCampaign } from '../../workflows/scheduled-campaign.ts';
import type { Config } from '../shared/config.ts';
import { loadClient } from './connection.ts';
import { campaignTimeouts } from './timeouts.ts';
import { timeZone as tableZone } from '../rules/hours/time-zone.ts';
import { touchedRuns } from './clock-changes.ts';

export interface Recurrence {
  /** Exactly one of `cron` and `everyMs`. */
  cron: string | null;
  everyMs: number | null;
  /** In words, since the server does not keep what was written. */
  when: string;
  timeZone: string;
  startAt: number | null;
  endAt: number | null;
  /** A run later than this is skipped. */
  catchUpMs: number;
  /** A run skipped by a clock change comes at the next existing instant; else it is dropped. */
  keepSkipped: boolean;
  note: string | null;
}

export interface ScheduleState extends Omit<Recurrence, 'cron' | 'everyMs'> {
  paused: boolean;
  /** Epoch ms. */
  next: number[];
  fired: number;
  /** Runs skipped because the previous campaign was still running. */
  skipped: number;
  /** Runs missed because Temporal was away. */
  missed: number;
  last: { scheduledAt: number; workflowId: string } | null;
  isRunning: boolean;
  /** Contains the id of its workers' database. */
  taskQueue: string;
}

export class ScheduleExistsError extends Error {
  override readonly name = 'ScheduleExistsError' as const;
  readonly isBadInput = true;

  constructor(scheduleId: string) {
    super(`Temporal already has a schedule ${scheduleId}. Delete it first, or give this campaign another id.`);
  }
}

/** Thrown when there is no future run; none was created. */
export class ScheduleNeverFiresError extends Error {
  override readonly name = 'ScheduleNeverFiresError' as const;
  readonly isBadInput = true;
}

/** One schedule per campaign file and queue prefix; its name contains nothing of the list. */
export function scheduleIdOf(prefix: string, campaignId: string): string {
  return `carillon/${prefix}/${campaignId}`;
}

/** The payload is ids and limits only; overlaps are skipped. Throws ScheduleExistsError, ScheduleNeverFiresError. */
export async function createSchedule(making: ScheduleMaking, campaignId: string, recurrence: Recurrence): Promise<ScheduleState> {
  const handle = await makeSchedule(making, campaignId, recurrence);
  const state = readState(await handle.describe());
  if (state.next.length > 0) return state;
  await handle.delete();
  throw new ScheduleNeverFiresError(neverFires);
}

const neverFires =
  'There is no time at which this schedule would start a run. Check its cron expression, its start and its end; no schedule was made.';

interface ScheduleMaking {
  client: Client;
  config: Config;
  ledgerId: string;
  now: number;
}

/** Reads the first runs from a paused schedule that is deleted again. Throws as `createSchedule`. */
export async function previewSchedule(making: ScheduleMaking, campaignId: string, recurrence: Recurrence): Promise<number[]> {
  const handle = await makeSchedule(making, campaignId, recurrence, `preview/${randomUUID()}`);
  try {
    const { next } = readState(await handle.describe());
    if (next.length > 0) return next;
    throw new ScheduleNeverFiresError(neverFires);
  } finally {
    await handle.delete();
  }
}

/** `preview`: id prefix of a schedule created paused. */
async function makeSchedule(
  { client, config, ledgerId, now }: ScheduleMaking,
  campaignId: string,
  recurrence: Recurrence,
  preview: string | null = null,
): Promise<ScheduleHandle> {
  const { when, timeZone, catchUpMs, keepSkipped, note } = recurrence;
  const prefix = config.CARILLON_QUEUE_PREFIX;
  const scheduleId = preview === null ? scheduleIdOf(prefix, campaignId) : `${preview}/${scheduleIdOf(prefix, campaignId)}`;
  const queues = campaignQueues(prefix, ledgerId);
  const input: ScheduledCampaignInput = {
    scheduleId,
    timeZone,
    catchUpMs,
    queues,
    timeouts: campaignTimeouts(config),
  };
  return client.schedule
    .create({
      scheduleId,
      spec: specOf(recurrence, now),
      action: {
        type: 'startWorkflow',
        workflowType: 'scheduledCampaign',
        // The server appends the run's time.
        workflowId: scheduleId,
        taskQueue: queues.campaign,
        args: [input] satisfies Parameters<typeof scheduledCampaign>,
        staticSummary: `a run of ${campaignId}`.slice(0, 200),
      },
      policies: { overlap: 'SKIP', catchupWindow: catchUpMs },
      memo: { when, ...(keepSkipped ? { keepSkipped } : {}) },
      state: { ...(note === null ? {} : { note }), paused: preview !== null },
    })
    .catch(async (error: unknown) => {
      throw error instanceof (await loadClient()).ScheduleAlreadyRunning ? new ScheduleExistsError(scheduleId) : error;
    });
}

/**
 * Changes future runs; past runs, a pause and its note stay. An interval keeps its beat while `when` and zone stay. Throws
 * ScheduleNeverFiresError, changing nothing.
 */
export async function changeSchedule(making: ScheduleMaking, campaignId: string, recurrence: Recurrence): Promise<void> {
  await previewSchedule(making, campaignId, recurrence);
  const { when, timeZone, everyMs, catchUpMs, keepSkipped, startAt, endAt } = recurrence;
  const handle = making.client.schedule.getHandle(scheduleIdOf(making.config.CARILLON_QUEUE_PREFIX, campaignId));
  await handle.update((before) => {
    const { startAt: _start, endAt: _end, ...beat } = before.spec;
    const keeps = everyMs !== null && startAt === null && whenOf(before) === when && (before.spec.timezone ?? 'UTC') === timeZone;
    const spec = keeps ? { ...beat, ...(endAt === null ? {} : { endAt: new Date(endAt) }) } : specOf(recurrence, making.now);
    // A schedule's own memo is immutable; its action's can change.
    return {
      ...before,
      spec,
      action: { ...before.action, memo: { ...before.action.memo, when, keepSkipped } },
      policies: { ...before.policies, catchupWindow: catchUpMs },
    };
  });
}

/** Null when Temporal has none of that id. */
export async function describeSchedule(client: Client, scheduleId: string): Promise<ScheduleState | null> {
  try {
    return readState(await client.schedule.getHandle(scheduleId).describe());
  } catch (error) {
    if (error instanceof (await loadClient()).ScheduleNotFoundError) return null;
    throw error;
  }
}

/** The expanded clock table ends in 2037. */
const keptForMs = 10 * 366 * 86_400_000;

function specOf({ cron, everyMs, timeZone, startAt, endAt, keepSkipped }: Recurrence, now: number): ScheduleSpec {
  const kept = keepSkipped ? touchedRuns(cron, timeZone, startAt ?? now, keptForMs).filter(({ effect }) => effect === 'skipped') : [];
  return {
    ...(cron === null ? {} : { cronExpressions: [cron, ...kept.map(({ at }) => onceAt(at, timeZone))] }),
    // The server counts from 1970.
    ...(everyMs === null ? {} : { intervals: [{ every: everyMs, offset: wholeSeconds(startAt ?? now) % everyMs }] }),
    ...(startAt === null ? {} : { startAt: new Date(startAt) }),
    ...(endAt === null ? {} : { endAt: new Date(endAt) }),
    timezone: timeZone,
  };
}

/** Writes one instant; the sixth field is the year. */
function onceAt(at: number, timeZone: string): string {
  return DateTime.fromMillis(at, { zone: tableZone(timeZone) }).toFormat("m H d M '*' yyyy");
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function keepsSkipped({ action, memo }: ScheduleDescription): boolean {
  return (action.memo?.['keepSkipped'] ?? memo?.['keepSkipped']) === true;
}

function whenOf({ action, memo }: ScheduleDescription): string {
  const when = action.memo?.['when'] ?? memo?.['when'];
  return typeof when === 'string' ? when : '';
}

function readState(description: ScheduleDescription): ScheduleState {
  const { spec, action, policies, state, info } = description;
  const last = info.recentActions.at(-1);
  return {
    when: whenOf(description),
    timeZone: spec.timezone ?? 'UTC',
    startAt: spec.startAt?.getTime() ?? null,
    endAt: spec.endAt?.getTime() ?? null,
    catchUpMs: policies.catchupWindow,
    keepSkipped: keepsSkipped(description),
    paused: state.paused,
    note: state.note === undefined || state.note === '' ? null : state.note,
    next: info.nextActionTimes.map((time) => time.getTime()),
    fired: info.numActionsTaken,
    skipped: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
    last: last === undefined ? null : { scheduledAt: last.scheduledAt.getTime(), workflowId: last.action.workflow.workflowId },
    isRunning: info.runningActions.length > 0,
    taskQueue: action.taskQueue,
  };
}
