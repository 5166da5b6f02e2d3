import { resolve } from 'node:path';
import { readCampaignFile, refuseEndedCampaign } from '../../../campaign/file/file.ts';
import { refuseOpenConsent } from '../../../campaign/preflight/consent-columns.ts';
import { longestRecurringId } from '../../../rules/hours/firing-time.ts';
import { CampaignFileError, UsageError } from '../../../shared/input/errors.ts';
import { loadCampaignText } from '../../../shared/input/yaml-text.ts';
import { putSchedule, removeSchedule, type Schedule } from '../../../ledger/campaign/schedules.ts';
import { ListSourceError, readListSource, showSource, type ListSource } from '../../../list/source.ts';
import { requireHookSecret } from '../../../temporal/start-campaign.ts';
import {
  changeSchedule as changeInTemporal,
  createSchedule as createInTemporal,
  describeSchedule,
  previewSchedule as previewInTemporal,
  ScheduleExistsError,
  ScheduleNeverFiresError,
  scheduleIdOf,
  type Recurrence,
} from '../../../temporal/schedules.ts';
import { connected, type Control } from '../control.ts';
import { clockEffects } from './recurrence.ts';
import { readScheduleView, requireState, type ScheduleView } from './view.ts';
import { accountIdOf, readServiceTime } from '../service.ts';
import type { CampaignFile } from '../../../campaign/file/campaign-file.ts';

/**
 * Reads a schedule's campaign file, stored as it is now; only a run reads the list. `list`: replaces the file's own. `text`: an uploaded
 * file, only named by `path`, whose list must be a URL, since an uploader must not read workers' files. Writes nothing. Throws
 * CampaignFileError, ListSourceError and ConfigError.
 */
export async function readNewSchedule(
  { config, now }: Pick<Control, 'config' | 'now'>,
  { path, text, list }: { path: string; text?: string; list?: string | undefined },
): Promise<Schedule> {
  const content = text ?? (await loadCampaignText(path));
  const file = await readCampaignFile(path, content);
  refuseLongId(file);
  refuseOpenEnd(file);
  refuseOpenConsent(file, file.settings, null);
  const source = readListSource(list ?? file.settings.list.file);
  if (text !== undefined) refuseLocalList(source);
  refuseEndedCampaign(file, await readServiceTime({ config, now }));
  const { pre_dial: preDial = null, on_completion: onCompletion = null, on_pause: onPause = null } = file.settings;
  requireHookSecret(config, file.id, { preDial, onCompletion, onPause });
  return {
    scheduleId: scheduleIdOf(config.CARILLON_QUEUE_PREFIX, file.id),
    campaignId: file.id,
    filePath: text === undefined ? resolve(path) : path,
    content,
    listSource: source.pattern,
    accountId: accountIdOf(config),
    createdAt: Math.round(now()),
  };
}

/** Repeat it after an error. Throws, creating nothing, ScheduleExistsError, ScheduleNeverFiresError, and as `temporal`. */
export async function createSchedule(control: Control, schedule: Schedule, recurrence: Recurrence): Promise<ScheduleView> {
  const session = await connected(control);
  const { store, config } = session;
  const { client } = session.temporal;
  if ((await describeSchedule(client, schedule.scheduleId)) !== null) throw new ScheduleExistsError(schedule.scheduleId);
  // Database first: a run needs its row there.
  await putSchedule(store, schedule);
  try {
    const of = { client, config, ledgerId: store.ledgerId, now: schedule.createdAt };
    await createInTemporal(of, schedule.campaignId, recurrence);
  } catch (error) {
    if (error instanceof ScheduleNeverFiresError) await removeSchedule(store, schedule.scheduleId);
    throw error;
  }
  return readScheduleView(session, schedule);
}

/** Temporal's first runs; nothing is kept. Throws ScheduleExistsError, ScheduleNeverFiresError, and as `temporal`. */
export async function previewSchedule(
  control: Control,
  { scheduleId, campaignId, listSource, createdAt: now }: Schedule,
  recurrence: Recurrence,
): Promise<Pick<ScheduleView, 'campaignId' | 'list' | 'nextAt' | 'clockChanges' | 'untouchedCron'> & { when: string; timeZone: string }> {
  const { config, store, temporal } = await connected(control);
  const { client } = temporal;
  if ((await describeSchedule(client, scheduleId)) !== null) throw new ScheduleExistsError(scheduleId);
  const next = await previewInTemporal({ client, config, ledgerId: store.ledgerId, now }, campaignId, recurrence);
  const { when, timeZone } = recurrence;
  const nextAt = next.map((at) => new Date(at).toISOString());
  const effects = clockEffects(recurrence, now);
  return { campaignId, when, timeZone, list: showSource(readListSource(listSource)), nextAt, ...effects };
}

/** Omitted fields stay. */
interface ScheduleEdit {
  recurrence: Recurrence;
  /** The campaign file's text, with the same id. */
  text?: string | undefined;
  list?: string | undefined;
}

/**
 * Changes times, list and campaign file from the next run on; repeat it after an error midway. Throws UnknownScheduleError,
 * ScheduleMessageError, ScheduleNeverFiresError, UsageError for another id, and as `readNewSchedule` and `temporal`.
 */
export async function editSchedule(control: Control, campaignId: string, { recurrence, text, list }: ScheduleEdit): Promise<ScheduleView> {
  const session = await connected(control);
  const { schedule: before } = await requireState(session, campaignId);
  const { scheduleId, filePath: path, createdAt, unnamedEncoding = null, listSource } = before;
  const isSame = text === undefined && list === undefined;
  const sent = { path, text: text ?? before.content, list: list ?? listSource };
  const after = isSame ? before : { ...(await readNewSchedule(control, sent)), createdAt, unnamedEncoding };
  if (after.scheduleId !== scheduleId)
    throw new UsageError(`The campaign file has the id ${after.campaignId}; write ${campaignId}, since a schedule keeps its campaign.`);
  const { config, store, temporal } = session;
  await changeInTemporal(
    { client: temporal.client, config, ledgerId: store.ledgerId, now: Math.round(control.now()) },
    campaignId,
    recurrence,
  );
  if (!isSame) await putSchedule(store, after);
  return readScheduleView(session, after);
}

function refuseLocalList({ kind, pattern }: ListSource): void {
  if (kind === 'url' || (kind === 'kept' && /^env:/i.test(pattern))) return;
  throw new ListSourceError(
    'list is no address; write https://… or env://CARILLON_URL_…. Lists in files are for carillon schedule create.',
  );
}

/** A run that waits for added rows would block all later runs. */
function refuseOpenEnd(file: CampaignFile): void {
  if (file.settings.stays_open === undefined) return;
  const message = 'keeps a campaign open, so that no later run would begin; leave it out, or start the campaign once with carillon start';
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['stays_open']), path: 'stays_open', message }]);
}

function refuseLongId(file: CampaignFile): void {
  if (file.id.length <= longestRecurringId) return;
  const message = `${file.id.length} characters are too many for a campaign that recurs, since each run adds its time; write at most ${longestRecurringId}`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['id']), path: 'id', message }]);
}
