import { foreseen } from '../../../shared/input/errors.ts';
import { readListSource, showSource } from '../../../list/source.ts';
import { scheduledCampaignId } from '../../../rules/hours/firing-time.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { hasOnlyCallbacksLeft } from '../../../ledger/rows/promises.ts';
import { readLastScheduledRun, type Schedule, findSchedule, listSchedules } from '../../../ledger/campaign/schedules.ts';
import { type ScheduleState, describeSchedule, scheduleIdOf } from '../../../temporal/schedules.ts';
import type { Session } from '../control.ts';
import { describeCronFault } from '../../../temporal/cron-expression.ts';
import { clockEffects } from './recurrence.ts';
import { didYouMean } from '../../../rules/nearest-name.ts';
import { campaignQueues } from '../../../rules/ids.ts';
import type { LedgerAccess } from '../ledger.ts';
import type { Store } from '../../../ledger/tx.ts';

export interface LastRun {
  scheduledAt: string;
  /** The campaign that the run started, or was to start. */
  campaignId: string;
  /** `failed`, `beginning`, `callbacks` (only those are left, and the next run may begin), or the campaign's state. */
  result: string;
  reason: string | null;
}

export type ScheduleView = Awaited<ReturnType<typeof readScheduleView>>;

/** Instants are ISO 8601 in UTC. */
export async function readScheduleView(session: Session, schedule: Schedule) {
  const state = await askTemporal(session, schedule);
  return {
    campaignId: schedule.campaignId,
    scheduleId: schedule.scheduleId,
    /** `missing`: not in Temporal, so it never runs. */
    state: state === null ? ('missing' as const) : state.paused ? ('paused' as const) : ('active' as const),
    note: state?.note ?? null,
    when: state?.when ?? null,
    timeZone: state?.timeZone ?? null,
    startAt: state?.startAt == null ? null : iso(state.startAt),
    endAt: state?.endAt == null ? null : iso(state.endAt),
    catchUpSeconds: state === null ? null : state.catchUpMs / 1000,
    file: schedule.filePath,
    /** Without the URL's query string. */
    list: showSource(readListSource(schedule.listSource)),
    keepSkipped: state?.keepSkipped ?? false,
    ...clockEffects(recurrenceOf(state), Date.now()),
    /** While a run goes on, the next one is skipped. */
    isRunning: state?.isRunning ?? false,
    nextAt: (state?.paused === false ? state.next : []).map(iso),
    fired: state?.fired ?? 0,
    /** Runs skipped because the one before was still running. */
    skipped: state?.skipped ?? 0,
    /** Runs missed because Temporal was away. */
    missed: state?.missed ?? 0,
    last: await readLast(session.store, schedule, state),
  };
}

function recurrenceOf(state: ScheduleState | null): Parameters<typeof clockEffects>[0] {
  const { when = null, timeZone = 'UTC', keepSkipped = false } = state ?? {};
  return { cron: when === null || describeCronFault(when) !== null ? null : when, timeZone, keepSkipped };
}

/** The database has results while they are kept; only Temporal knows a run that no worker has taken. */
async function readLast(store: Store, schedule: Schedule, state: ScheduleState | null): Promise<LastRun | null> {
  const timeZone = state?.timeZone ?? 'UTC';
  const lastRun = await readLastScheduledRun(store.db, schedule.campaignId, schedule.scheduleId);
  const begunAt = state?.last == null ? null : Math.floor(state.last.scheduledAt / 1000) * 1000;
  if (state?.last != null && begunAt !== null && begunAt > (lastRun?.scheduledAt ?? 0)) {
    return {
      scheduledAt: iso(begunAt),
      campaignId: scheduledCampaignId(schedule.campaignId, begunAt, timeZone),
      result: state.isRunning ? 'beginning' : 'failed',
      reason: state.isRunning
        ? 'no worker has taken it yet, or its list is being imported'
        : `its workflow ${state.last.workflowId} has ended: Temporal shows how`,
    };
  }
  if (lastRun === undefined) return null;
  const { campaignId, failure } = lastRun;
  const scheduledAt = iso(lastRun.scheduledAt);
  if (failure !== null) return { scheduledAt, campaignId, result: 'failed', reason: failure };
  const campaign = await findCampaign(store.db, campaignId);
  const reason = campaign?.stateReason ?? null;
  if (campaign?.state === 'running' && (await hasOnlyCallbacksLeft(store.db, campaignId)))
    return { scheduledAt, campaignId, result: 'callbacks', reason };
  return { scheduledAt, campaignId, result: campaign?.state ?? 'gone', reason };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Thrown for an unknown schedule; its message lists the known ones. */
class UnknownScheduleError extends foreseen('UnknownScheduleError', true) {}

/** Thrown when a schedule cannot carry out a command. */
export class ScheduleMessageError extends foreseen('ScheduleMessageError', false) {}

/** Throws UnknownScheduleError. */
export async function requireSchedule({ config, store }: LedgerAccess, campaignId: string): Promise<Schedule> {
  const schedule = await findSchedule(store.db, scheduleIdOf(config.CARILLON_QUEUE_PREFIX, campaignId));
  if (schedule !== undefined) return schedule;
  const ids = (await listSchedules(store.db)).map((known) => known.campaignId);
  const guess = didYouMean(campaignId, ids, String);
  const known = ids.length === 0 ? 'It has none: carillon schedule create makes one.' : `It has ${ids.join(', ')}.`;
  throw new UnknownScheduleError(`The database has no schedule of ${JSON.stringify(campaignId)}.${guess} ${known}`);
}

/** Null when Temporal has no such schedule for this database. */
export async function askTemporal(session: Session, schedule: Schedule): Promise<ScheduleState | null> {
  const state = await describeSchedule(session.temporal.client, schedule.scheduleId);
  const { config, store } = session;
  return state?.taskQueue === campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign ? state : null;
}

/** Throws UnknownScheduleError and ScheduleMessageError. */
export async function requireState(session: Session, campaignId: string): Promise<{ schedule: Schedule; state: ScheduleState }> {
  const schedule = await requireSchedule(session, campaignId);
  const state = await askTemporal(session, schedule);
  if (state !== null) return { schedule, state };
  throw new ScheduleMessageError(notInTemporal(session, schedule));
}

export function notInTemporal({ temporal }: Session, { campaignId, filePath }: Pick<Schedule, 'campaignId' | 'filePath'>): string {
  return `Temporal at ${temporal.address} does not have the schedule of ${campaignId}, so it starts no runs. Is it another server, or a new one? carillon schedule create with ${filePath} creates it again.`;
}
