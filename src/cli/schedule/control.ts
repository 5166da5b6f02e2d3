import { setTimeout as delay } from 'node:timers/promises';
import { ScheduleNotFoundError, ScheduleOverlapPolicy, type ScheduleHandle } from '@temporalio/client';
import { firingCampaignId } from '../../domain/hours/firing-time.ts';
import { findGoingFiring, firingCampaigns, removeSchedule, type Schedule } from '../../ledger/campaign/schedules.ts';
import { describeSchedule, type ScheduleState } from '../../temporal/schedules.ts';
import { startCampaign } from '../../temporal/start-campaign.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { withInstants, writeAnswer } from '../terminal/json-output.ts';
import { printable } from '../../input/printable.ts';
import { askTemporal, requireSchedule, requireState, ScheduleMessageError, withSchedules } from './access.ts';
import { readScheduleView } from './view.ts';
import { readClock } from '../../control/service.ts';
import { tellMissingWorker } from '../../control/supervision.ts';
import type { Session } from '../../control/temporal.ts';

const automaticNotes = { pause: 'paused by a person', resume: 'resumed by a person' } as const;

interface NoteFlags {
  note?: string;
  json: boolean;
}

/** A note that a person has written is replaced by another one alone, and then shown once more. */
export async function pauseSchedule(io: Io, campaignId: string, flags: NoteFlags): Promise<void> {
  await withSchedules(io, async (session) => {
    const { schedule, state } = await requireState(session, campaignId);
    const { paused, note } = state;
    const wanted = flags.note ?? writtenNote(note) ?? automaticNotes.pause;
    if (!paused || wanted !== note) await handleOf(session, schedule).pause(wanted);
    const what = paused ? 'was paused already' : 'is paused';
    const why = wanted === note ? tellNote(note) : tellReplaced(note);
    writeAnswer(io, flags.json, {
      data: await readScheduleView(session, schedule),
      words: `Schedule of ${campaignId} ${what}${why}: it starts no runs. A running campaign continues. Resume it: carillon schedule resume ${campaignId}\n`,
    });
  });
}

export async function resumeSchedule(io: Io, campaignId: string, flags: NoteFlags): Promise<void> {
  await withSchedules(io, async (session) => {
    const { schedule, state } = await requireState(session, campaignId);
    const { paused, note } = state;
    const isUnchanged = !paused && flags.note === undefined;
    if (!isUnchanged) await handleOf(session, schedule).unpause(flags.note ?? automaticNotes.resume);
    const before = paused ? `; it was paused${tellNote(note)}` : '';
    const words = isUnchanged
      ? `Schedule of ${campaignId} was not paused. Show its next run: carillon schedule list\n`
      : `Schedule of ${campaignId} is active again${before}. Show its next run: carillon schedule list\n`;
    writeAnswer(io, flags.json, { data: await readScheduleView(session, schedule), words });
  });
}

function handleOf({ temporal }: Session, { scheduleId }: Schedule): ScheduleHandle {
  return temporal.client.schedule.getHandle(scheduleId);
}

function writtenNote(note: string | null): string | null {
  return note === null || (Object.values(automaticNotes) as string[]).includes(note) ? null : note;
}

function tellNote(note: string | null): string {
  return writtenNote(note) === null ? '' : ` (${printable(note ?? '')})`;
}

function tellReplaced(note: string | null): string {
  return writtenNote(note) === null ? '' : `, with a new note instead of${tellNote(note)}`;
}

/** Fires once now. Throws ScheduleMessageError while the campaign of the last firing runs: the server would skip it without a word. */
export async function triggerSchedule(io: Io, campaignId: string, flags: { json: boolean }): Promise<void> {
  await withSchedules(io, async (session) => {
    const { schedule, state: before } = await requireState(session, campaignId);
    if (before.isRunning) {
      const { last } = await readScheduleView(session, schedule);
      throw new ScheduleMessageError(
        `The last run of ${campaignId} has not ended: campaign ${last?.campaignId ?? 'unknown'} is ${last?.result ?? 'running'}. A run now would be skipped, so nothing was done.`,
      );
    }
    await refuseBeside(session, schedule);
    await handleOf(session, schedule).trigger(ScheduleOverlapPolicy.SKIP);
    const { scheduledAt, workflowId } = await awaitFiring(session, schedule, before);
    const id = firingCampaignId(campaignId, scheduledAt, before.timeZone);
    writeAnswer(io, flags.json, {
      data: withInstants({ campaignId: id, workflowId, scheduledAt }),
      words: `Triggered: campaign ${id} begins. Show its progress: carillon status ${id}   Show the run: carillon schedule describe ${campaignId}\n`,
    });
    for (const line of await tellMissingWorker(session)) io.stderr.write(`${line}\n`);
  });
}

/** The firing would be skipped by the worker that takes it. Throws ScheduleMessageError. */
async function refuseBeside({ store }: Session, schedule: Schedule): Promise<void> {
  const going = await findGoingFiring(store.db, schedule);
  if (going === undefined) return;
  const { campaignId, state } = going;
  throw new ScheduleMessageError(
    `Campaign ${campaignId} of an earlier run is ${state}. A run now would be skipped, so nothing was done. ` +
      `If it does not progress: carillon schedule continue ${schedule.campaignId}; to end it: carillon cancel ${campaignId}`,
  );
}

/**
 * Goes on with the campaign of the last firing whose workflow was ended by hand or lost with its server, as `carillon start` does for a
 * campaign with a file of its own. Harmless if the campaign is running. Throws ScheduleMessageError.
 */
export async function continueSchedule(io: Io, campaignId: string, flags: { json: boolean }): Promise<void> {
  await withSchedules(io, async (session) => {
    const { config, store, temporal } = session;
    const schedule = await requireSchedule(session, campaignId);
    // A firing that was skipped since has left none.
    const last = (await findGoingFiring(store.db, schedule)) ?? (await firingCampaigns(store.db, schedule))[0];
    if (last === undefined) {
      throw new ScheduleMessageError(
        `No run of ${campaignId} has left a campaign to continue: carillon schedule describe ${campaignId} shows the last one.`,
      );
    }
    const now = Math.round((await readClock(config)).now());
    const started = await startCampaign({ config, store, client: temporal.client, now }, last.campaignId);
    const result = started === undefined ? 'ended' : started.attached ? 'attached' : 'started';
    const what = { ended: 'has ended', attached: 'is running already', started: 'continues' }[result];
    writeAnswer(io, flags.json, {
      data: { campaignId: last.campaignId, result },
      words: `Campaign ${last.campaignId} ${what}: carillon status ${last.campaignId}\n`,
    });
  });
}

/** Removes it from Temporal and the database; what one of the two has lost already is no fault. */
export async function deleteSchedule(
  io: Io,
  campaignId: string,
  flags: { yes: boolean; json: boolean },
): Promise<void> {
  await withSchedules(io, async (session) => {
    const schedule = await requireSchedule(session, campaignId);
    const question = `Delete the schedule of ${campaignId}? It starts no further runs; a running campaign continues.`;
    if (!(await mayBegin(io, flags.yes, question))) return;
    if ((await askTemporal(session, schedule)) !== null) {
      await handleOf(session, schedule)
        .delete()
        .catch((error: unknown) => {
          if (!(error instanceof ScheduleNotFoundError)) throw error;
        });
    }
    await removeSchedule(session.store, schedule.scheduleId);
    writeAnswer(io, flags.json, {
      data: { campaignId, scheduleId: schedule.scheduleId, deleted: true },
      words: `Schedule of ${campaignId} is deleted. Campaigns that it has started continue: carillon status\n`,
    });
  });
}

const beginLimitMs = 10_000;

async function awaitFiring(
  { temporal }: Session,
  { scheduleId }: Schedule,
  before: ScheduleState,
): Promise<NonNullable<ScheduleState['last']>> {
  const deadline = Date.now() + beginLimitMs;
  for (;;) {
    const last = (await describeSchedule(temporal.client, scheduleId))?.last;
    if (last != null && last.workflowId !== before.last?.workflowId) return last;
    if (Date.now() > deadline) {
      throw new ScheduleMessageError(
        `Temporal accepted the request, but has not begun a run within ${beginLimitMs / 1000} s. carillon schedule list shows whether it does.`,
      );
    }
    await delay(100);
  }
}
