import { resolve } from 'node:path';
import { readCampaignFile, refuseEndedCampaign, type CampaignFile } from '../../campaign-file/file.ts';
import { loadCampaignText } from '../../input/yaml-text.ts';
import { CampaignFileError } from '../../input/errors.ts';
import { readListSource } from '../../list/source.ts';
import { readConfig } from '../../config.ts';
import { longestRecurringId } from '../../domain/hours/firing-time.ts';
import { requireHookSecret } from '../../temporal/hook-secret.ts';
import { putSchedule, removeSchedule, type Schedule } from '../../ledger/campaign/schedules.ts';
import {
  createSchedule,
  describeSchedule,
  ScheduleExistsError,
  ScheduleNeverFiresError,
  scheduleIdOf,
  type Recurrence,
} from '../../temporal/schedules.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { openLedger } from '../../control/ledger.ts';
import { tellMissingWorker } from '../../control/supervision.ts';
import type { Session } from '../../control/temporal.ts';
import { withSchedules } from './access.ts';
import { readRecurrence, type RecurrenceFlags } from './flags.ts';
import { nextTimes, readScheduleView, type ScheduleView } from './view.ts';
import { accountIdOf, readServiceTime } from '../../control/service.ts';

export interface CreateFlags extends RecurrenceFlags {
  list?: string;
  json: boolean;
}

const shownTimes = 3;

/** Makes the schedule of a campaign file. Everything is checked before anything is written; a list is read by a firing alone. */
export async function createScheduleFrom(io: Io, path: string, flags: CreateFlags): Promise<void> {
  const recurrence = readRecurrence(flags, io.now());
  const content = await loadCampaignText(path);
  const file = await readCampaignFile(path, content);
  refuseLongId(file);
  const source = readListSource(flags.list ?? file.settings.list.file);
  const config = readConfig(io.env);
  refuseEndedCampaign(file, await readServiceTime({ config, now: () => io.now() }));
  const { pre_dial: preDial = null, on_completion: onCompletion = null, on_pause: onPause = null } = file.settings;
  requireHookSecret(config, file.id, { preDial, onCompletion, onPause });
  const schedule: Schedule = {
    scheduleId: scheduleIdOf(config.CARILLON_QUEUE_PREFIX, file.id),
    campaignId: file.id,
    filePath: resolve(path),
    content,
    listSource: source.pattern,
    accountId: accountIdOf(config),
    createdAt: Math.round(io.now()),
  };
  await withSchedules(
    io,
    async (session) => {
      await writeSchedule(session, schedule, recurrence);
      const view = await readScheduleView(session, schedule);
      writeAnswer(io, flags.json, { data: view, words: tellCreated(view) });
      const lines = await tellMissingWorker(session);
      if (!flags.json) lines.push('Show it: carillon schedule list');
      io.stderr.write(lines.map((line) => `${line}\n`).join(''));
    },
    openLedger,
  );
}

/** The database first: a firing that finds nothing there would come to nothing. */
async function writeSchedule(
  { store, config, temporal }: Session,
  schedule: Schedule,
  recurrence: Recurrence,
): Promise<void> {
  const { client } = temporal;
  const now = schedule.createdAt;
  if ((await describeSchedule(client, schedule.scheduleId)) !== null)
    throw new ScheduleExistsError(schedule.scheduleId);
  await putSchedule(store, schedule);
  try {
    await createSchedule({ client, config, ledgerId: store.ledgerId, now }, schedule.campaignId, recurrence);
  } catch (error) {
    if (error instanceof ScheduleNeverFiresError) await removeSchedule(store, schedule.scheduleId);
    throw error;
  }
}

function refuseLongId(file: CampaignFile): void {
  if (file.id.length <= longestRecurringId) return;
  const message = `${file.id.length} characters are too many for a campaign that recurs, since each run adds its time; write at most ${longestRecurringId}`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['id']), path: 'id', message }]);
}

function tellCreated(view: ScheduleView): string {
  const times = nextTimes(view, shownTimes);
  return [
    `Schedule of ${view.campaignId} created: ${view.when} (${view.timeZone}).`,
    `Each run reads ${view.list}, and is skipped while the campaign of the run before it has not ended.`,
    `Next runs: ${times}.`,
    '',
  ].join('\n');
}
