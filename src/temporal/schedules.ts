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
  /** One of the two. */
  cron: string | null;
  everyMs: number | null;
  /** The same in words, for people: the server does not keep what was written. */
  when: string;
  timeZone: string;
  startAt: number | null;
  endAt: number | null;
  /** A firing that is later than this is left out. */
  catchUpMs: number;
  /** A run whose local time a clock change skips comes at the next instant that exists; else it is left out. */
  keepSkipped: boolean;
  note: string | null;
}

export interface ScheduleState extends Omit<Recurrence, 'cron' | 'everyMs'> {
  paused: boolean;
  /** Epoch milliseconds. */
  next: number[];
  fired: number;
  /** Firings that were left out because the last one's campaign was still running. */
  skipped: number;
  /** Firings that were left out because Temporal was not there in time. */
  missed: number;
  last: { scheduledAt: number; workflowId: string } | null;
  isRunning: boolean;
  /** Queue of its workers; it carries the id of their database. */
  taskQueue: string;
}

export class ScheduleExistsError extends Error {
  override readonly name = 'ScheduleExistsError' as const;
  readonly isBadInput = true;

  constructor(scheduleId: string) {
    super(`Temporal already has a schedule ${scheduleId}. Delete it first, or give this campaign another id.`);
  }
}

/** Thrown when a schedule has no time left at which it could fire; none was made. */
export class ScheduleNeverFiresError extends Error {
  override readonly name = 'ScheduleNeverFiresError' as const;
  readonly isBadInput = true;
}

/** One schedule per campaign file and queue prefix, and nothing of the list in its name. */
export function scheduleIdOf(prefix: string, campaignId: string): string {
  return `carillon/${prefix}/${campaignId}`;
}

/** Creates the schedule, its payload id and limits alone; overlaps are skipped. Throws ScheduleExistsError, ScheduleNeverFiresError. */
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

/** The first runs as the server tells them, from a paused schedule that is deleted again. Throws as `createSchedule`. */
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

/** `preview`: what stands before its id, which is paused then. */
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
        // The server puts the time of the firing behind it.
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
 * Runs at other times from now on; runs so far, a pause and its note stay. `when` and zone that stay keep the beat of an interval. Throws
 * ScheduleNeverFiresError, and nothing was changed then.
 */
export async function changeSchedule(making: ScheduleMaking, campaignId: string, recurrence: Recurrence): Promise<void> {
  await previewSchedule(making, campaignId, recurrence);
  const { when, timeZone, everyMs, catchUpMs, keepSkipped, startAt, endAt } = recurrence;
  const handle = making.client.schedule.getHandle(scheduleIdOf(making.config.CARILLON_QUEUE_PREFIX, campaignId));
  await handle.update((before) => {
    const { startAt: _start, endAt: _end, ...beat } = before.spec;
    const keeps = everyMs !== null && startAt === null && whenOf(before) === when && (before.spec.timezone ?? 'UTC') === timeZone;
    const spec = keeps ? { ...beat, ...(endAt === null ? {} : { endAt: new Date(endAt) }) } : specOf(recurrence, making.now);
    // The memo of a schedule stays as it was made with; that of its action may be changed.
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

/** The clock table is written out until 2037. */
const keptForMs = 10 * 366 * 86_400_000;

function specOf({ cron, everyMs, timeZone, startAt, endAt, keepSkipped }: Recurrence, now: number): ScheduleSpec {
  const kept = keepSkipped ? touchedRuns(cron, timeZone, startAt ?? now, keptForMs).filter(({ effect }) => effect === 'skipped') : [];
  return {
    ...(cron === null ? {} : { cronExpressions: [cron, ...kept.map(({ at }) => onceAt(at, timeZone))] }),
    // Counted from the start, or from now: the server counts from 1970.
    ...(everyMs === null ? {} : { intervals: [{ every: everyMs, offset: wholeSeconds(startAt ?? now) % everyMs }] }),
    ...(startAt === null ? {} : { startAt: new Date(startAt) }),
    ...(endAt === null ? {} : { endAt: new Date(endAt) }),
    timezone: timeZone,
  };
}

/** With a sixth field, the year. */
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
