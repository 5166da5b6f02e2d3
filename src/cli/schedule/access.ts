import { nearestName } from '../../input/nearest-name.ts';
import { readConfig, type Config } from '../../config.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { findSchedule, listSchedules, type Schedule } from '../../ledger/campaign/schedules.ts';
import { countWorkers } from '../../temporal/queue-pollers.ts';
import { describeSchedule, scheduleIdOf, type ScheduleState } from '../../temporal/schedules.ts';
import { campaignQueues } from '../../domain/ids.ts';
import type { Io } from '../terminal/io.ts';
import { openExistingLedger } from '../access/ledger.ts';
import { noWorkerLines } from '../access/supervision.ts';
import { openTemporal, type TemporalAccess } from '../access/temporal.ts';

/** Thrown when a command names a schedule that the database does not have; its message names those it has. */
export class UnknownScheduleError extends Error {
  override readonly name = 'UnknownScheduleError' as const;
  readonly exitCode = 2;
}

/** Thrown when a schedule cannot do what it was told; says what is known. */
export class ScheduleMessageError extends Error {
  override readonly name = 'ScheduleMessageError' as const;
  readonly exitCode = 1;
}

export interface ScheduleSession {
  config: Config;
  store: Store;
  temporal: TemporalAccess;
}

/** Opens database and Temporal by the settings of `io` for one command, and closes both. */
export async function withSchedules<Result>(
  io: Io,
  work: (session: ScheduleSession) => Promise<Result>,
  open: (config: Config) => Promise<Store> = openExistingLedger,
): Promise<Result> {
  const config = readConfig(io.env);
  const store = await open(config);
  try {
    const temporal = await openTemporal(io, config);
    try {
      return await work({ config, store, temporal });
    } finally {
      await temporal.connection.close();
    }
  } finally {
    await store.close();
  }
}

/** The schedule of a campaign file's id. Throws UnknownScheduleError. */
export async function requireSchedule({ config, store }: ScheduleSession, campaignId: string): Promise<Schedule> {
  const schedule = await findSchedule(store.db, scheduleIdOf(config.CARILLON_QUEUE_PREFIX, campaignId));
  if (schedule !== undefined) return schedule;
  const ids = (await listSchedules(store.db)).map((known) => known.campaignId);
  const nearest = nearestName(campaignId, ids);
  const guess = nearest === null ? '' : ` Did you mean ${nearest}?`;
  const known = ids.length === 0 ? 'It has none: carillon schedule create makes one.' : `It has ${ids.join(', ')}.`;
  throw new UnknownScheduleError(`The database has no schedule of ${JSON.stringify(campaignId)}.${guess} ${known}`);
}

/** What Temporal knows of it; null when it has no schedule of that id that works on this database. */
export async function askTemporal(session: ScheduleSession, schedule: Schedule): Promise<ScheduleState | null> {
  const state = await describeSchedule(session.temporal.client, schedule.scheduleId);
  return state?.taskQueue === ownQueue(session) ? state : null;
}

/** The same, for a command that needs it. Throws ScheduleMessageError. */
export async function requireState(session: ScheduleSession, schedule: Schedule): Promise<ScheduleState> {
  const state = await askTemporal(session, schedule);
  if (state !== null) return state;
  throw new ScheduleMessageError(
    `Temporal at ${session.temporal.address} does not have the schedule of ${schedule.campaignId}, so it does not fire: is it another server, or a new one? carillon schedule create with ${schedule.filePath} makes it again.`,
  );
}

/** What to say when nobody would do the work of a firing. */
export async function describeWorkers(session: ScheduleSession, now: number): Promise<string[]> {
  const { config, temporal } = session;
  const queue = { namespace: temporal.namespace, name: ownQueue(session), limitMs: 3_000, now };
  return (await countWorkers(temporal.connection, queue)) > 0 ? [] : noWorkerLines(config);
}

function ownQueue({ config, store }: ScheduleSession): string {
  return campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign;
}
