import { setTimeout as delay } from 'node:timers/promises';
import { ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import { firingCampaignId } from '../../domain/hours/firing-time.ts';
import { findGoingFiring, firingCampaigns, removeSchedule, type Schedule } from '../../ledger/campaign/schedules.ts';
import { describeSchedule, type ScheduleState } from '../../temporal/schedules.ts';
import { startCampaign } from '../../temporal/start-campaign.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeJson } from '../terminal/json-output.ts';
import type { PersonInput } from '../terminal/person-input.ts';
import { printable } from '../terminal/printable.ts';
import {
  askTemporal,
  describeWorkers,
  requireSchedule,
  requireState,
  ScheduleMessageError,
  withSchedules,
  type ScheduleSession,
} from './access.ts';
import { readScheduleView } from './view.ts';
import { readClock } from '../access/service.ts';

const automaticNotes = { pause: 'paused by a person', resume: 'resumed by a person' } as const;

interface NoteFlags {
  note?: string;
  json: boolean;
}

/** A note that a person has written is replaced by another one alone, and then shown once more. */
export async function pauseSchedule(io: Io, campaignId: string, flags: NoteFlags): Promise<void> {
  await withSchedules(io, async (session) => {
    const { schedule, scheduleId, paused, note } = await changeable(session, campaignId);
    const wanted = flags.note ?? writtenNote(note) ?? automaticNotes.pause;
    if (!paused || wanted !== note) await session.temporal.client.schedule.getHandle(scheduleId).pause(wanted);
    if (flags.json) return writeJson(io, await readScheduleView(session, schedule));
    const what = paused ? 'was paused already' : 'is paused';
    const why = wanted === note ? tellNote(note) : tellReplaced(note);
    io.stdout.write(
      `Schedule of ${campaignId} ${what}${why}: it does not fire. A campaign that runs goes on. Go on: carillon schedule resume ${campaignId}\n`,
    );
  });
}

export async function resumeSchedule(io: Io, campaignId: string, flags: NoteFlags): Promise<void> {
  await withSchedules(io, async (session) => {
    const { schedule, scheduleId, paused, note } = await changeable(session, campaignId);
    if (!paused && flags.note === undefined) {
      if (flags.json) return writeJson(io, await readScheduleView(session, schedule));
      io.stdout.write(`Schedule of ${campaignId} was not paused. See when it fires: carillon schedule list\n`);
      return;
    }
    await session.temporal.client.schedule.getHandle(scheduleId).unpause(flags.note ?? automaticNotes.resume);
    if (flags.json) return writeJson(io, await readScheduleView(session, schedule));
    const before = paused ? `; it was paused${tellNote(note)}` : '';
    io.stdout.write(`Schedule of ${campaignId} fires again${before}. See when: carillon schedule list\n`);
  });
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
export async function triggerSchedule(
  io: Io,
  campaignId: string,
  flags: { json: boolean },
  limitMs = 10_000,
): Promise<void> {
  await withSchedules(io, async (session) => {
    const schedule = await requireSchedule(session, campaignId);
    const before = await requireState(session, schedule);
    if (before.isRunning) {
      const { last } = await readScheduleView(session, schedule);
      throw new ScheduleMessageError(
        `The last firing of ${campaignId} is not over: campaign ${last?.campaignId ?? 'unknown'} is ${last?.result ?? 'running'}. A firing now would be skipped, so nothing was done.`,
      );
    }
    await refuseBeside(session, schedule);
    const { client } = session.temporal;
    await client.schedule.getHandle(schedule.scheduleId).trigger(ScheduleOverlapPolicy.SKIP);
    const begun = await awaitFiring(limitMs, before, () => describeSchedule(client, schedule.scheduleId));
    const { scheduledAt, workflowId } = begun;
    const id = firingCampaignId(campaignId, scheduledAt, before.timeZone);
    if (flags.json) writeJson(io, { campaignId: id, workflowId, scheduledAt: new Date(scheduledAt).toISOString() });
    else
      io.stdout.write(
        `Fired: campaign ${id} begins. Look at it: carillon status ${id}   or at the firing: carillon schedule describe ${campaignId}\n`,
      );
    for (const line of await describeWorkers(session, io.now())) io.stderr.write(`${line}\n`);
  });
}

/** The firing would be skipped by the worker that takes it. Throws ScheduleMessageError. */
async function refuseBeside({ store }: ScheduleSession, schedule: Schedule): Promise<void> {
  const going = await findGoingFiring(store.db, schedule);
  if (going === undefined) return;
  const { campaignId, state } = going;
  throw new ScheduleMessageError(
    `Campaign ${campaignId} of an earlier firing is ${state}. A firing now would be skipped, so nothing was done. ` +
      `When nothing of it moves: carillon schedule continue ${schedule.campaignId}; to end it: carillon cancel ${campaignId}`,
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
        `No firing of ${campaignId} has left a campaign to go on with: carillon schedule describe ${campaignId} shows the last one.`,
      );
    }
    const now = Math.round((await readClock(config)).now());
    const started = await startCampaign({ config, store, client: temporal.client, now }, last.campaignId);
    if (flags.json) {
      const result = started === undefined ? 'ended' : started.attached ? 'attached' : 'started';
      return writeJson(io, { campaignId: last.campaignId, result });
    }
    const what = started === undefined ? 'has ended' : started.attached ? 'is running already' : 'goes on';
    io.stdout.write(`Campaign ${last.campaignId} ${what}: carillon status ${last.campaignId}\n`);
  });
}

/** Removes it from Temporal and the database; what one of the two has lost already is no fault. */
export async function deleteSchedule(
  io: Io,
  input: PersonInput,
  campaignId: string,
  flags: { yes: boolean; json: boolean },
): Promise<void> {
  await withSchedules(io, async (session) => {
    const schedule = await requireSchedule(session, campaignId);
    const question = `Delete the schedule of ${campaignId}? It will not fire again; a campaign that runs goes on.`;
    if (!(await mayBegin(io, input, flags.yes, question))) return;
    if ((await askTemporal(session, schedule)) !== null) {
      const handle = session.temporal.client.schedule.getHandle(schedule.scheduleId);
      await handle.delete().catch((error: unknown) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      });
    }
    await removeSchedule(session.store, schedule.scheduleId);
    if (flags.json) return writeJson(io, { campaignId, scheduleId: schedule.scheduleId, deleted: true });
    io.stdout.write(`Schedule of ${campaignId} is deleted. Campaigns that it has started go on: carillon status\n`);
  });
}

async function changeable(
  session: Parameters<typeof requireSchedule>[0],
  campaignId: string,
): Promise<{ schedule: Schedule; scheduleId: string; paused: boolean; note: string | null }> {
  const schedule = await requireSchedule(session, campaignId);
  const { paused, note } = await requireState(session, schedule);
  return { schedule, scheduleId: schedule.scheduleId, paused, note };
}

async function awaitFiring(
  limitMs: number,
  before: ScheduleState,
  describe: () => Promise<ScheduleState | null>,
): Promise<NonNullable<ScheduleState['last']>> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const last = (await describe())?.last;
    if (last != null && last.workflowId !== before.last?.workflowId) return last;
    if (Date.now() > deadline) {
      throw new ScheduleMessageError(
        `Temporal took the wish, and has not begun a firing within ${limitMs / 1000} s. carillon schedule list shows whether it does.`,
      );
    }
    await delay(100);
  }
}
