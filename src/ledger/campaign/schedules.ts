import { goingStates, listCampaigns, type Campaign } from '../rows/campaigns.ts';
import type { ScheduledRun } from '../../rules/events.ts';
import { appendEvents, newestEvents, type CampaignEvent } from '../events.ts';
import { hasOnlyCallbacksLeft } from '../rows/promises.ts';
import type { Queries, Store } from '../tx.ts';

/** A recurring campaign. Temporal only knows when it runs; what it dials is stored here. */
export interface Schedule {
  scheduleId: string;
  /** Id in the campaign file; each run is its own campaign, named this id and its time. */
  campaignId: string;
  /** Absolute, as of creation; paths in the file are relative to its folder. */
  filePath: string;
  content: string;
  listSource: string;
  accountId: string;
  createdAt: number;
  /** Older than named encodings: a non-UTF-8 list is read as Windows-1252. */
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

/** Inserts or replaces; only Temporal knows whether it runs. */
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

/** Keeps the campaigns of its runs. */
export async function removeSchedule(store: Store, scheduleId: string): Promise<void> {
  await store.transaction((tx) => tx.deleteFrom('schedules').where('schedule_id', '=', scheduleId).execute());
}

/** Logs a scheduled run under the schedule's campaign id. Idempotent: once per run and result. */
export async function recordScheduledRun(
  store: Store,
  scheduledRun: ScheduledRun,
  { parentId, now }: { parentId: string; now: number },
): Promise<void> {
  await store.transaction(async (tx) => {
    const last = await readLastScheduledRun(tx, parentId, scheduledRun.scheduleId);
    if (last?.campaignId === scheduledRun.campaignId && (last.failure === null) === (scheduledRun.failure === null)) return;
    const type = scheduledRun.failure === null ? 'schedule.fired' : 'schedule.failed';
    await appendEvents(tx, [{ at: now, campaignId: parentId, type, data: scheduledRun }]);
  });
}

/** Newest first, including runs logged as failed: a workflow may be lost after the import. */
export async function listRunCampaigns(
  db: Queries,
  { campaignId: parentId, scheduleId }: Pick<Schedule, 'campaignId' | 'scheduleId'>,
  isIncluded: (campaign: Campaign) => boolean = () => true,
): Promise<Campaign[]> {
  const known = (await listCampaigns(db)).filter((each) => each.campaignId.startsWith(`${parentId}-`) && isIncluded(each));
  // Usually none, which saves reading the log.
  if (known.length === 0) return [];
  const scheduledRuns = await readScheduledRuns(db, parentId, null);
  const ids = new Set(scheduledRuns.filter((scheduledRun) => scheduledRun.scheduleId === scheduleId).map(({ campaignId }) => campaignId));
  const byId = new Map(known.map((campaign) => [campaign.campaignId, campaign]));
  return [...ids].flatMap((id) => byId.get(id) ?? []);
}

/** An earlier run's campaign with recipients left to call, whom the next run would call, too. Open callbacks do not delay it. */
export async function findCallingRunCampaign(
  db: Queries,
  schedule: Pick<Schedule, 'campaignId' | 'scheduleId'>,
): Promise<Campaign | undefined> {
  for (const campaign of await listRunCampaigns(db, schedule, ({ state }) => goingStates.includes(state)))
    if (!(await hasOnlyCallbacksLeft(db, campaign.campaignId))) return campaign;
  return undefined;
}

export async function findActiveRunCampaign(
  db: Queries,
  schedule: Pick<Schedule, 'campaignId' | 'scheduleId'>,
): Promise<Campaign | undefined> {
  return (await listRunCampaigns(db, schedule, ({ state }) => goingStates.includes(state)))[0];
}

export async function readLastScheduledRun(db: Queries, parentId: string, scheduleId: string): Promise<ScheduledRun | undefined> {
  return (await readScheduledRuns(db, parentId, 20)).find((scheduledRun) => scheduledRun.scheduleId === scheduleId);
}

async function readScheduledRuns(db: Queries, parentId: string, limit: number | null): Promise<ScheduledRun[]> {
  const rows = await newestEvents(db, parentId)
    .select('data')
    .where('type', 'in', ['schedule.fired', 'schedule.failed'] satisfies CampaignEvent['type'][])
    .$if(limit !== null, (query) => query.limit(limit ?? 0))
    .execute();
  return rows.map(({ data }) => JSON.parse(data ?? '{}') as ScheduledRun);
}
