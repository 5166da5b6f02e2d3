import { connected, withControl } from '../../../operations/control/control.ts';
import {
  continueSchedule,
  deleteSchedule,
  describeSchedule,
  fireSchedule,
  pauseSchedule,
  resumeSchedule,
} from '../../../operations/control/schedules/schedules.ts';
import { tellMissingWorker } from '../../../operations/control/supervision.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { operations } from '../../../operations/list.ts';

interface NoteFlags {
  note?: string;
  json: boolean;
}

/** `carillon schedule pause`. */
export async function runPause(io: Io, campaignId: string, { note, json }: NoteFlags): Promise<void> {
  await withControl(io, async (control) => {
    const change = await pauseSchedule(control, campaignId, note);
    const { view, wasPaused, noteBefore } = change;
    const what = wasPaused ? 'was paused already' : 'is paused';
    const told = tellNote(noteBefore);
    const why = change.note === noteBefore || told === '' ? told : `, with a new note instead of${told}`;
    writeAnswer(io, json, {
      data: view,
      words: `Schedule of ${campaignId} ${what}${why}: it starts no runs. A running campaign continues. Resume it: carillon schedule resume ${campaignId}\n`,
    });
  });
}

/** `carillon schedule resume`. */
export async function runResume(io: Io, campaignId: string, { note, json }: NoteFlags): Promise<void> {
  await withControl(io, async (control) => {
    const { view, wasPaused, noteBefore } = await resumeSchedule(control, campaignId, note);
    const before = wasPaused ? `; it was paused${tellNote(noteBefore)}` : '';
    const words =
      !wasPaused && note === undefined
        ? `Schedule of ${campaignId} was not paused. Show its next run: carillon schedule list\n`
        : `Schedule of ${campaignId} is active again${before}. Show its next run: carillon schedule list\n`;
    writeAnswer(io, json, { data: view, words });
  });
}

function tellNote(note: string | null): string {
  return note === null ? '' : ` (${printable(note)})`;
}

/** `carillon schedule trigger`. */
export async function runTrigger(io: Io, campaignId: string, { json }: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const fired = await fireSchedule(control, campaignId);
    writeAnswer(io, json, {
      data: withInstants(fired),
      words: `Triggered: campaign ${fired.campaignId} begins. Show its progress: carillon status ${fired.campaignId}   Show the run: carillon schedule describe ${campaignId}\n`,
    });
    for (const line of await tellMissingWorker(await connected(control))) io.stderr.write(`${line}\n`);
  });
}

/** `carillon schedule continue`. */
export async function runContinue(io: Io, campaignId: string, { json }: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const { campaignId: id, result } = await continueSchedule(control, campaignId);
    const what = { ended: 'has ended', attached: 'is running already', started: 'continues' }[result];
    const words = `Campaign ${id} ${what}: carillon status ${id}\n`;
    writeAnswer(io, json, { data: { campaignId: id, result }, words });
  });
}

/** `carillon schedule delete`. */
export async function runDelete(io: Io, campaignId: string, { yes, json }: { yes: boolean; json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    await describeSchedule(control, campaignId);
    const question = `Delete the schedule of ${campaignId}? ${operations.deleteSchedule.more}`;
    if (!(await mayBegin(io, yes, question))) return;
    const { scheduleId } = await deleteSchedule(control, campaignId);
    writeAnswer(io, json, {
      data: { campaignId, scheduleId, deleted: true },
      words: `Schedule of ${campaignId} is deleted. Campaigns that it has started continue: carillon status\n`,
    });
  });
}
