import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { readCampaignFile } from '../src/campaign/file/file.ts';
import { CampaignFileError, ListEncodingError, ListFileError, codeOf } from '../src/shared/input/errors.ts';
import { downloadList, listDownloadLimits, ListDownloadError } from '../src/list/download.ts';
import { KeptUrlError } from '../src/shared/input/kept-url.ts';
import { openListSource, placeOfList, readListSource, type ListPlace, type OpenListSource } from '../src/list/source.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import { scheduledCampaignId } from '../src/rules/hours/firing-time.ts';
import { isSameService } from '../src/rules/service-api.ts';
import { findCampaign } from '../src/ledger/rows/campaigns.ts';
import { ConsentOpenError } from '../src/campaign/preflight/consent-columns.ts';
import { importList, ListChangedError, readCampaign } from '../src/campaign/preflight/import-list.ts';
import { openRound } from '../src/ledger/campaign/rounds.ts';
import { findCallingRunCampaign, findSchedule, recordScheduledRun, type Schedule } from '../src/ledger/campaign/schedules.ts';
import { instantForLog, serviceNow, type ActivityDependencies } from './dependencies.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { CampaignFile } from '../src/campaign/file/campaign-file.ts';

export interface FireScheduleInput {
  scheduleId: string;
  /** Real time when the run was due. */
  scheduledAt: number;
  timeZone: string;
  catchUpMs: number;
}

export interface FiredSchedule {
  campaignId: string;
  /** Null when every recipient has an outcome already. */
  round: { number: number; workflowId: string } | null;
}

/**
 * Imports the list of a scheduled run as a campaign and opens its first round. Idempotent. Throws a non-retryable failure without a list to
 * dial.
 */
export async function fireSchedule(deps: ActivityDependencies, input: FireScheduleInput): Promise<FiredSchedule> {
  const context = Context.current();
  // The download is the longest step, and ends at its own limit.
  const limits = { everyMs: deps.limits.heartbeatEveryMs, longestStepMs: listDownloadLimits.totalTimeoutMs };
  const heartbeat = startHeartbeat(() => context.heartbeat(), limits);
  const signal = AbortSignal.any([context.cancellationSignal, deps.stopping]);
  try {
    return await fire(deps, { ...input, onRows: heartbeat.step, signal });
  } catch (error) {
    if (context.cancellationSignal.aborted) throw context.cancellationSignal.reason;
    throw error;
  } finally {
    heartbeat.stop();
  }
}

/** Records in the event log why a scheduled run failed. Idempotent. */
export async function noteFiringFailure(deps: ActivityDependencies, input: FireScheduleInput & { reason: string }): Promise<void> {
  const { scheduleId, scheduledAt, timeZone, reason } = input;
  const schedule = await findSchedule(deps.store.db, scheduleId);
  if (schedule === undefined) return;
  const campaignId = scheduledCampaignId(schedule.campaignId, scheduledAt, timeZone);
  const scheduledRun = { scheduleId, campaignId, scheduledAt, failure: reason };
  await recordScheduledRun(deps.store, scheduledRun, { parentId: schedule.campaignId, now: await instantForLog(deps) });
}

type WatchedRun = FireScheduleInput & { onRows: () => void; signal: AbortSignal };

async function fire(deps: ActivityDependencies, input: WatchedRun): Promise<FiredSchedule> {
  const { scheduleId, scheduledAt, timeZone } = input;
  const schedule = await findSchedule(deps.store.db, scheduleId);
  if (schedule === undefined) throw comesToNothing(`The database has no schedule ${scheduleId}: it was deleted.`);
  requireItsService(deps, schedule);
  const campaignId = scheduledCampaignId(schedule.campaignId, scheduledAt, timeZone);
  if ((await findCampaign(deps.store.db, campaignId)) === undefined) {
    refuseLate(deps, input);
    await refuseBeside(deps, schedule);
    await importScheduledRun(deps, { schedule, campaignId, ...input });
  }
  const now = serviceNow(await deps.serviceClock());
  const round = await openRound(deps.store, campaignId, now);
  await recordScheduledRun(deps.store, { scheduleId, campaignId, scheduledAt, failure: null }, { parentId: schedule.campaignId, now });
  return { campaignId, round: round === undefined ? null : { number: round.round, workflowId: round.workflowId } };
}

/** Another service's worker, such as a sandbox, would take the list from its real recipients. */
function requireItsService(deps: ActivityDependencies, { campaignId, accountId }: Schedule): void {
  if (isSameService(accountId, deps.accountId)) return;
  throw comesToNothing(
    `The schedule of ${campaignId} was made for the service at ${accountId}, and SVC_BASE_URL of the worker is ${deps.accountId}: set it to that service, and restart the worker.`,
    true,
  );
}

/** Skips a late run: the morning's calls must not happen at night. */
function refuseLate(deps: ActivityDependencies, { scheduledAt, catchUpMs }: FireScheduleInput): void {
  if (deps.nowReal() - scheduledAt <= catchUpMs) return;
  const limit = `${Math.round(catchUpMs / 1000)} s (--catch-up)`;
  throw comesToNothing(`The run could not begin within ${limit} of its time and was skipped. Is a worker running?`);
}

/** Temporal skips overlaps only while its workflow exists, which may be gone; and an ended campaign may be retried. */
async function refuseBeside(deps: ActivityDependencies, schedule: Schedule): Promise<void> {
  const going = await findCallingRunCampaign(deps.store.db, schedule);
  if (going === undefined) return;
  const { campaignId, state } = going;
  throw comesToNothing(
    `Skipped: campaign ${campaignId} of an earlier run is ${state}. If it does not progress, continue it from the schedule.`,
  );
}

type ScheduledRun = WatchedRun & { schedule: Schedule; campaignId: string };

async function importScheduledRun(deps: ActivityDependencies, scheduledRun: ScheduledRun): Promise<void> {
  const { schedule, signal } = scheduledRun;
  const place = placeOfList(await openSource(deps, schedule), {
    campaignPath: schedule.filePath,
    scheduledAtMs: scheduledRun.scheduledAt,
    timeZone: scheduledRun.timeZone,
  });
  const kept = await readKeptFile(schedule);
  if (place.kind === 'path') {
    await importFrom(deps, scheduledRun, { kept, place, listPath: place.path });
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'carillon-list-'));
  try {
    const target = join(folder, 'list');
    await fetchList({ url: place.url, target, signal, proxies: deps.proxies });
    await importFrom(deps, scheduledRun, { kept, place, listPath: target });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openSource(deps: ActivityDependencies, { listSource }: Schedule): Promise<OpenListSource> {
  try {
    return await openListSource(readListSource(listSource), deps.readVariable ?? (() => undefined));
  } catch (error) {
    if (!(error instanceof KeptUrlError)) throw error;
    throw comesToNothing(`The address of the list cannot be read: ${error.message}.`, true);
  }
}

async function readKeptFile({ filePath, content }: Schedule): Promise<CampaignFile> {
  try {
    return await readCampaignFile(filePath, content);
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    throw comesToNothing(`The campaign file of the schedule cannot be used any more: a check of ${filePath} says why.`);
  }
}

async function fetchList(list: Parameters<typeof downloadList>[0]): Promise<void> {
  try {
    await downloadList(list);
  } catch (error) {
    if (!(error instanceof ListDownloadError)) throw error;
    throw comesToNothing(error.message, error.retryable);
  }
}

async function importFrom(
  deps: ActivityDependencies,
  { schedule, campaignId, onRows, signal }: ScheduledRun,
  { kept, place, listPath }: { kept: CampaignFile; place: ListPlace; listPath: string },
): Promise<void> {
  const list = { ...kept.settings.list, file: place.name };
  const { unnamedEncoding } = schedule;
  const file = { ...kept, id: campaignId, listPath, settings: { ...kept.settings, list }, unnamedEncoding: unnamedEncoding ?? undefined };
  const { store, accountId, api } = deps;
  const now = serviceNow(await deps.serviceClock());
  if ((file.settings.ends_at ?? Infinity) <= now)
    throw comesToNothing('The end of the campaign (ends_at) has passed: delete the schedule.');
  const read = await readCampaign(file, now).catch((error: unknown) => {
    throw explainListFault(error, place);
  });
  try {
    // Runs even if only some can be called in time: no operator is there to decide.
    const input = { store, read, accountId, api, now, allowPartial: true, onProgress: onRows, signal };
    const warnings = await importList(input);
    for (const warning of warnings) deps.logger.warn({ campaignId: file.id }, warning);
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw explainListFault(error, place);
    if (error instanceof ConsentOpenError) throw await pauseToAsk(schedule.scheduleId, error);
    throw comesToNothing(error.problems.map(({ path, message }) => `${path}: ${message}.`).join('\n'));
  }
}

/** Each later run would end the same way until the operator answers. */
async function pauseToAsk(scheduleId: string, { summary }: ConsentOpenError): Promise<ApplicationFailure> {
  const fix = 'Run a check of it with this list, change the campaign file of the schedule, then resume the schedule.';
  await Context.current().client.schedule.getHandle(scheduleId).pause(`Paused by Carillon: ${summary} ${fix}`);
  return comesToNothing(`${summary} The schedule is paused. ${fix}`);
}

/** Hides the list's own message, since one about a header may quote a number. */
function explainListFault(error: unknown, place: ListPlace): unknown {
  if (error instanceof ListChangedError) return comesToNothing(`The list ${place.name} was changed while it was read.`, true);
  if (error instanceof ListFileError && ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? ''))
    return comesToNothing(`There is no list ${place.name}.`);
  if (error instanceof ListEncodingError) {
    const fix = `write list.encoding into the campaign file of the schedule; a check with this list shows the likely readings`;
    return comesToNothing(`The encoding of the list ${place.name} is not certain: ${fix}.`);
  }
  if (error instanceof ListFileError || error instanceof CampaignFileError) {
    const how = 'a check with this list in the campaign file says what is wrong';
    return comesToNothing(`The list ${place.name} cannot be used with this campaign file: ${how}.`);
  }
  return error;
}

/** `message` must hold no phone number: it stays in a workflow's history. */
function comesToNothing(message: string, retryable = false): ApplicationFailure {
  return ApplicationFailure.create({ type: failureTypes.firing, message, nonRetryable: !retryable });
}
