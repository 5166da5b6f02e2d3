import { didYouMean } from '../../../rules/nearest-name.ts';
import { findSchedule, listSchedules, type Schedule } from '../../../ledger/campaign/schedules.ts';
import { describeSchedule, scheduleIdOf, type ScheduleState } from '../../../temporal/schedules.ts';
import { campaignQueues } from '../../../rules/ids.ts';
import type { LedgerAccess } from '../ledger.ts';
import type { Session } from '../temporal.ts';

/** Thrown when a command names a schedule that the database does not have; its message names those it has. */
export class UnknownScheduleError extends Error {
  override readonly name = 'UnknownScheduleError' as const;
  readonly isBadInput = true;
}

/** Thrown when a schedule cannot do what it was told; says what is known. */
export class ScheduleMessageError extends Error {
  override readonly name = 'ScheduleMessageError' as const;
  readonly isBadInput = false;
}

/** The schedule of a campaign file's id. Throws UnknownScheduleError. */
export async function requireSchedule({ config, store }: LedgerAccess, campaignId: string): Promise<Schedule> {
  const schedule = await findSchedule(store.db, scheduleIdOf(config.CARILLON_QUEUE_PREFIX, campaignId));
  if (schedule !== undefined) return schedule;
  const ids = (await listSchedules(store.db)).map((known) => known.campaignId);
  const guess = didYouMean(campaignId, ids, String);
  const known = ids.length === 0 ? 'It has none: carillon schedule create makes one.' : `It has ${ids.join(', ')}.`;
  throw new UnknownScheduleError(`The database has no schedule of ${JSON.stringify(campaignId)}.${guess} ${known}`);
}

/** What Temporal knows of it; null when it has no schedule of that id that works on this database. */
export async function askTemporal(session: Session, schedule: Schedule): Promise<ScheduleState | null> {
  const state = await describeSchedule(session.temporal.client, schedule.scheduleId);
  const { config, store } = session;
  return state?.taskQueue === campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign ? state : null;
}

/** A schedule with what Temporal knows of it, for a command that needs both. Throws UnknownScheduleError and ScheduleMessageError. */
export async function requireState(session: Session, campaignId: string): Promise<{ schedule: Schedule; state: ScheduleState }> {
  const schedule = await requireSchedule(session, campaignId);
  const state = await askTemporal(session, schedule);
  if (state !== null) return { schedule, state };
  throw new ScheduleMessageError(notInTemporal(session, schedule));
}

/** What to say of a schedule that the database has and Temporal has not. */
export function notInTemporal({ temporal }: Session, { campaignId, filePath }: Pick<Schedule, 'campaignId' | 'filePath'>): string {
  return `Temporal at ${temporal.address} does not have the schedule of ${campaignId}, so it starts no runs. Is it another server, or a new one? carillon schedule create with ${filePath} creates it again.`;
}
