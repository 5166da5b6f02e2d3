import { readConfig } from '../../../shared/config.ts';
import { connected, withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { createSchedule, readNewSchedule } from '../../../operations/control/schedules/create.ts';
import { readRecurrence, type WrittenRecurrence } from '../../../operations/control/schedules/recurrence.ts';
import type { ScheduleView } from '../../../operations/control/schedules/view.ts';
import { tellMissingWorker } from '../../../operations/control/supervision.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { nextTimes } from '../../../presentation/words/schedule-times.ts';

export interface CreateFlags extends WrittenRecurrence {
  list?: string;
  json: boolean;
}

const shownTimes = 3;

/** `carillon schedule create`: everything is checked before anything is written. */
export async function runCreate(io: Io, path: string, flags: CreateFlags): Promise<void> {
  const recurrence = readRecurrence(flags, io.now(), flagOf);
  const surroundings = { config: readConfig(io.env), now: () => io.now() };
  const schedule = await readNewSchedule(surroundings, { path, list: flags.list });
  await withControl(
    io,
    async (control) => {
      const view = await createSchedule(control, schedule, recurrence);
      writeAnswer(io, flags.json, { data: view, words: tellCreated(view) });
      const lines = await tellMissingWorker(await connected(control));
      if (!flags.json) lines.push('Show it: carillon schedule list');
      io.stderr.write(lines.map((line) => `${line}\n`).join(''));
    },
    openLedger,
  );
}

/** `startAt` is `--start-at`. */
function flagOf(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
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
