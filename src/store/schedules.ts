import type { Selectable } from 'kysely';
import { appendEvents, type CampaignEvent } from './events.ts';
import type { Queries, Store } from './open-store.ts';
import type { Database } from './schema.ts';

/** A recurring campaign. When it fires is Temporal's to know; what is dialled then stands here, so that Temporal never sees it. */
export interface Schedule {
  scheduleId: string;
  /** Id of the campaign file; each firing is a campaign of its own, with its time behind this id. */
  campaignId: string;
  /** Absolute path of the campaign file as it was when the schedule was made: paths in it count from its folder. */
  filePath: string;
  /** The campaign file's text as of then. */
  content: string;
  listSource: string;
  createdAt: number;
}

function toSchedule(row: Selectable<Database['schedules']>): Schedule {
  return {
    scheduleId: row.schedule_id,
    campaignId: row.campaign_id,
    filePath: row.file_path,
    content: row.content,
    listSource: row.list_source,
    createdAt: row.created_at,
  };
}

/** Writes a schedule, or writes it anew: it is Temporal that knows whether one runs. */
export async function putSchedule(store: Store, schedule: Schedule): Promise<void> {
  const { campaignId: campaign_id, filePath: file_path, content, listSource: list_source } = schedule;
  const values = { campaign_id, file_path, content, list_source, created_at: schedule.createdAt };
  await store.db
    .insertInto('schedules')
    .values({ schedule_id: schedule.scheduleId, ...values })
    .onConflict((conflict) => conflict.column('schedule_id').doUpdateSet(values))
    .execute();
}

export async function findSchedule(db: Queries, scheduleId: string): Promise<Schedule | undefined> {
  const row = await db.selectFrom('schedules').selectAll().where('schedule_id', '=', scheduleId).executeTakeFirst();
  return row === undefined ? undefined : toSchedule(row);
}

export async function listSchedules(db: Queries): Promise<Schedule[]> {
  const rows = await db.selectFrom('schedules').selectAll().orderBy('campaign_id').orderBy('schedule_id').execute();
  return rows.map(toSchedule);
}

/** Campaigns that its firings have started stay as they are. */
export async function removeSchedule(store: Store, scheduleId: string): Promise<void> {
  await store.db.deleteFrom('schedules').where('schedule_id', '=', scheduleId).execute();
}

/** What came of one firing: a campaign of its own, or the reason why there is none. */
export interface Firing {
  scheduleId: string;
  /** The campaign that it is to start. */
  campaignId: string;
  /** Real time at which it was due. */
  scheduledAt: number;
  /** Null when the campaign was started. Holds no number and no cell of a list. */
  failure: string | null;
}

/** Adds a firing to the event log, under the schedule's own campaign id. Idempotent: the same end of the same firing is told once. */
export async function noteFiring(store: Store, parentId: string, firing: Firing, now: number): Promise<void> {
  await store.transaction(async (tx) => {
    const last = await lastFiring(tx, parentId, firing.scheduleId);
    if (last?.campaignId === firing.campaignId && (last.failure === null) === (firing.failure === null)) return;
    const type = firing.failure === null ? 'schedule.fired' : 'schedule.failed';
    await appendEvents(tx, [{ at: now, campaignId: parentId, type, data: { ...firing } }]);
  });
}

/** The firing that the log tells of last. */
export async function lastFiring(db: Queries, parentId: string, scheduleId: string): Promise<Firing | undefined> {
  const rows = await db
    .selectFrom('events')
    .select('data')
    .where('campaign_id', '=', parentId)
    .where('type', 'in', ['schedule.fired', 'schedule.failed'] satisfies CampaignEvent['type'][])
    .orderBy('seq', 'desc')
    .limit(20)
    .execute();
  const firings = rows.map(({ data }) => JSON.parse(data ?? '{}') as Firing);
  return firings.find((firing) => firing.scheduleId === scheduleId);
}
