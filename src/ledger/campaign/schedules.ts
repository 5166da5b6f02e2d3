import { goingStates, listCampaigns, type Campaign } from '../rows/campaigns.ts';
import type { Firing } from '../../rules/events.ts';
import { appendEvents, newestEvents, type CampaignEvent } from '../events.ts';
import { isLeftToPromises } from '../rows/promises.ts';
import type { Queries, Store } from '../tx.ts';

/** A recurring campaign. When it fires is Temporal's to know; what is dialled then stands here, so that Temporal never sees it. */
export interface Schedule {
  scheduleId: string;
  /** Id of the campaign file; each firing is a campaign of its own, with its time behind this id. */
  campaignId: string;
  /** Absolute path of the campaign file as it was when the schedule was made: paths in it count from its folder. */
  filePath: string;
  content: string;
  listSource: string;
  accountId: string;
  createdAt: number;
  /** Began before encodings were named: a list that is not UTF-8 is read as Windows-1252. */
  unnamedEncoding?: 'western' | null;
}

const columns = [
  'schedule_id as scheduleId',
  'campaign_id as campaignId',
  'file_path as filePath',
  'content',
  'list_source as listSource',
  'account_id as accountId',
  'created_at as createdAt',
  'list_encoding as unnamedEncoding',
] as const;

/** Writes a schedule, or writes it anew: it is Temporal that knows whether one runs. */
export async function putSchedule(store: Store, schedule: Schedule): Promise<void> {
  const { campaignId: campaign_id, filePath: file_path, content, listSource: list_source } = schedule;
  const { accountId: account_id, createdAt: created_at, unnamedEncoding: list_encoding = null } = schedule;
  const values = { campaign_id, file_path, content, list_source, account_id, created_at, list_encoding };
  await store.transaction((tx) =>
    tx
      .insertInto('schedules')
      .values({ schedule_id: schedule.scheduleId, ...values })
      .onConflict((conflict) => conflict.column('schedule_id').doUpdateSet(values))
      .execute(),
  );
}

export async function findSchedule(db: Queries, scheduleId: string): Promise<Schedule | undefined> {
  return db.selectFrom('schedules').select(columns).where('schedule_id', '=', scheduleId).executeTakeFirst();
}

export async function listSchedules(db: Queries): Promise<Schedule[]> {
  return db.selectFrom('schedules').select(columns).orderBy('campaign_id').orderBy('schedule_id').execute();
}

/** Campaigns that its firings have started stay as they are. */
export async function removeSchedule(store: Store, scheduleId: string): Promise<void> {
  await store.transaction((tx) => tx.deleteFrom('schedules').where('schedule_id', '=', scheduleId).execute());
}

/** Adds a firing to the event log, under the schedule's own campaign id. Idempotent: the same end of the same firing is told once. */
export async function noteFiring(store: Store, firing: Firing, { parentId, now }: { parentId: string; now: number }): Promise<void> {
  await store.transaction(async (tx) => {
    const last = await lastFiring(tx, parentId, firing.scheduleId);
    if (last?.campaignId === firing.campaignId && (last.failure === null) === (firing.failure === null)) return;
    const type = firing.failure === null ? 'schedule.fired' : 'schedule.failed';
    await appendEvents(tx, [{ at: now, campaignId: parentId, type, data: firing }]);
  });
}

/** Campaigns of a schedule's firings, newest first; also one that the log tells of as failed: its workflow may be lost after the import. */
export async function firingCampaigns(
  db: Queries,
  { campaignId: parentId, scheduleId }: Pick<Schedule, 'campaignId' | 'scheduleId'>,
  wanted: (campaign: Campaign) => boolean = () => true,
): Promise<Campaign[]> {
  const known = (await listCampaigns(db)).filter((each) => each.campaignId.startsWith(`${parentId}-`) && wanted(each));
  // Most of the time there is none, and the log need not be read.
  if (known.length === 0) return [];
  const firings = await readFirings(db, parentId, null);
  const ids = new Set(firings.filter((firing) => firing.scheduleId === scheduleId).map(({ campaignId }) => campaignId));
  const byId = new Map(known.map((campaign) => [campaign.campaignId, campaign]));
  return [...ids].flatMap((id) => byId.get(id) ?? []);
}

/**
 * A campaign of an earlier firing with people left to call, whom another one would call, too. Promised callbacks do not hold a schedule up.
 */
export async function findCallingFiring(db: Queries, schedule: Pick<Schedule, 'campaignId' | 'scheduleId'>): Promise<Campaign | undefined> {
  for (const campaign of await firingCampaigns(db, schedule, ({ state }) => goingStates.includes(state)))
    if (!(await isLeftToPromises(db, campaign.campaignId))) return campaign;
  return undefined;
}

export async function findGoingFiring(db: Queries, schedule: Pick<Schedule, 'campaignId' | 'scheduleId'>): Promise<Campaign | undefined> {
  return (await firingCampaigns(db, schedule, ({ state }) => goingStates.includes(state)))[0];
}

export async function lastFiring(db: Queries, parentId: string, scheduleId: string): Promise<Firing | undefined> {
  return (await readFirings(db, parentId, 20)).find((firing) => firing.scheduleId === scheduleId);
}

async function readFirings(db: Queries, parentId: string, limit: number | null): Promise<Firing[]> {
  const rows = await newestEvents(db, parentId)
    .select('data')
    .where('type', 'in', ['schedule.fired', 'schedule.failed'] satisfies CampaignEvent['type'][])
    .$if(limit !== null, (query) => query.limit(limit ?? 0))
    .execute();
  return rows.map(({ data }) => JSON.parse(data ?? '{}') as Firing);
}
