import { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { operations, type OperationId } from '../../../operations/list.ts';
import { readConfig } from '../../../shared/config.ts';
import { connected, withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { createSchedule, readNewSchedule } from '../../../operations/control/schedules/create.ts';
import { readRecurrence, type WrittenRecurrence } from '../../../operations/control/schedules/recurrence.ts';
import { type ScheduleView, type LastFiring, notInTemporal } from '../../../operations/control/schedules/view.ts';
import { tellMissingWorker } from '../../../operations/control/supervision.ts';
import { writeAnswer, writeJson, mayBegin } from '../terminal/answer.ts';
import { nextTimes, inZone } from '../../../presentation/words/schedule-times.ts';
import {
  continueSchedule,
  deleteSchedule,
  describeSchedule,
  fireSchedule,
  pauseSchedule,
  resumeSchedule,
  listSchedules,
} from '../../../operations/control/schedules/schedules.ts';
import { printable } from '../../../shared/input/printable.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { count, span } from '../../../shared/input/figures.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';

const examples = `
Each run reads the current list and starts a campaign of its own, such as reminders-2026-11-21t0900. While that campaign is running,
the next run is skipped. Temporal keeps the times; a worker reads the list and places the calls.

Examples:
  carillon schedule create campaign.yaml --cron "0 9 * * mon-fri" --timezone America/New_York --list "lists/{{ date }}.csv"
  carillon schedule list
  carillon schedule pause reminders --note "no list this week"
  carillon schedule trigger reminders
  carillon schedule delete reminders`;

const createExamples = `
The schedule keeps the campaign file as it is now; later changes to the file have no effect. --list may contain {{ date }}, {{ time }},
{{ year }}, {{ month }}, {{ day }}, {{ hour }}, {{ minute }} and {{ weekday }}, the local time of the run. A path is relative to the
folder of the campaign file, on the worker's machine. Without --list each run reads the list named in the campaign file. Keep a
signed URL in a variable or a file of the worker: --list env://CARILLON_URL_<NAME>, or --list url-file:///run/secrets/list-url. In
cron, a day of the month and a day of the week must both match.

Examples:
  carillon schedule create campaign.yaml --cron "0 9 * * mon-fri" --timezone America/New_York --list "lists/{{ date }}.csv"
  carillon schedule create campaign.yaml --every 1d --timezone UTC --start-at 2030-11-30T09:00 --end-at 2030-12-24T12:00
  carillon schedule create campaign.yaml --cron "30 8 * * *" --timezone Europe/London --list "https://lists.example/{{ date }}.csv"`;

/** `carillon schedule`: campaigns that recur. */
export function scheduleCommand(io: Io): Command {
  const command = new Command('schedule').addHelpText('after', examples);
  command
    .command('create')
    .description('Create a schedule for a campaign file')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--cron <expression>', 'five fields: minute, hour, day of the month, month, day of the week')
    .option('--every <duration>', 'instead of --cron: an interval such as 1d, from --start-at or from now')
    .requiredOption('--timezone <zone>', 'time zone of the schedule, such as America/New_York')
    .option('--list <path or URL>', 'list of each run')
    .option('--catch-up <duration>', 'skip a run that is later than this', '10m')
    .option('--start-at <time>', 'no run before this time, such as 2030-11-30T09:00')
    .option('--end-at <time>', 'no run after this time')
    .option('--note <text>', 'note, kept in Temporal')
    .option('--json', 'print the schedule as JSON', false)
    .addHelpText('after', createExamples)
    .action((path: string, flags: CreateFlags) => runCreate(io, path, flags));
  command
    .command('list')
    .description(operations.listSchedules.says)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon schedule list --json')
    .action((flags: { json: boolean }) => runList(io, flags));
  const aboutOne = (name: string, id: OperationId): Command =>
    command.command(name).description(operations[id].says).argument('<campaign>', 'id from the campaign file');
  aboutOne('describe', 'readSchedule')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon schedule describe reminders')
    .action((campaignId: string, flags: { json: boolean }) => runDescribe(io, campaignId, flags));
  aboutOne('pause', 'pauseSchedule')
    .option('--note <text>', 'reason, kept in Temporal')
    .option('--json', 'print the schedule as JSON', false)

    .addHelpText('after', '\nA running campaign continues.\n\nExample:\n  carillon schedule pause reminders --note "no list this week"')
    .action((campaignId: string, flags: { note?: string; json: boolean }) => runPause(io, campaignId, flags));
  aboutOne('resume', 'resumeSchedule')
    .option('--note <text>', 'reason, kept in Temporal')
    .option('--json', 'print the schedule as JSON', false)
    .addHelpText('after', '\nMissed runs are not made up.\n\nExample:\n  carillon schedule resume reminders')
    .action((campaignId: string, flags: { note?: string; json: boolean }) => runResume(io, campaignId, flags));
  aboutOne('trigger', 'triggerSchedule')
    .option('--json', 'print one JSON object', false)
    .addHelpText(
      'after',
      '\nThe run reads the current list. Refused while the campaign of an earlier run has not ended.\n\nExample:\n  carillon schedule trigger reminders',
    )
    .action((campaignId: string, flags: { json: boolean }) => runTrigger(io, campaignId, flags));
  aboutOne('continue', 'continueSchedule')
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', '\nHarmless if the campaign is running.\n\nExample:\n  carillon schedule continue reminders')
    .action((campaignId: string, flags: { json: boolean }) => runContinue(io, campaignId, flags));
  aboutOne('delete', 'deleteSchedule')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', '\nCampaigns that it has started continue.\n\nExample:\n  carillon schedule delete reminders --yes')
    .action((campaignId: string, flags: { yes: boolean; json: boolean }) => runDelete(io, campaignId, flags));
  return command;
}

interface CreateFlags extends WrittenRecurrence {
  list?: string;
  json: boolean;
}

const shownTimes = 3;

/** `carillon schedule create`: everything is checked before anything is written. */
async function runCreate(io: Io, path: string, flags: CreateFlags): Promise<void> {
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

interface NoteFlags {
  note?: string;
  json: boolean;
}

/** `carillon schedule pause`. */
async function runPause(io: Io, campaignId: string, { note, json }: NoteFlags): Promise<void> {
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
async function runResume(io: Io, campaignId: string, { note, json }: NoteFlags): Promise<void> {
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
async function runTrigger(io: Io, campaignId: string, { json }: { json: boolean }): Promise<void> {
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
async function runContinue(io: Io, campaignId: string, { json }: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const { campaignId: id, result } = await continueSchedule(control, campaignId);
    const what = { ended: 'has ended', attached: 'is running already', started: 'continues' }[result];
    const words = `Campaign ${id} ${what}: carillon status ${id}\n`;
    writeAnswer(io, json, { data: { campaignId: id, result }, words });
  });
}

/** `carillon schedule delete`. */
async function runDelete(io: Io, campaignId: string, { yes, json }: { yes: boolean; json: boolean }): Promise<void> {
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

const columns: readonly Column<ScheduleView>[] = [
  { title: 'CAMPAIGN', value: (view) => view.campaignId },
  { title: 'STATE', value: (view) => view.state },
  { title: 'WHEN', value: (view) => view.when ?? '' },
  { title: 'ZONE', value: (view) => view.timeZone ?? '' },
  { title: 'NEXT', value: (view) => nextTimes(view, 1) },
  { title: 'LAST RUN', value: (view) => view.last?.campaignId ?? 'none yet' },
  { title: 'RESULT', value: (view) => tellResult(view.last), flexible: true },
];

/** `carillon schedule list`. */
async function runList(io: Io, flags: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const views = await listSchedules(control);
    if (flags.json) {
      writeJson(io, { schedules: views });
      return;
    }
    if (views.length === 0) {
      io.stderr.write('There is no schedule yet: carillon schedule create <campaign.yaml> makes one.\n');
      return;
    }
    io.stdout.write(renderTable(columns, views, terminalWidth(io)));
    const missing = views.filter(({ state }) => state === 'missing');
    if (missing.length === 0) return;
    const session = await connected(control);
    for (const { campaignId, file: filePath } of missing) io.stderr.write(`${notInTemporal(session, { campaignId, filePath })}\n`);
  });
}

/** `carillon schedule describe`. */
async function runDescribe(io: Io, campaignId: string, flags: { json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const view = await describeSchedule(control, campaignId);
    writeAnswer(io, flags.json, { data: view, words: `${describeView(view).join('\n')}\n` });
  });
}

function describeView(view: ScheduleView): string[] {
  const line = (label: string, text: string | null): string[] =>
    text === null || text === '' ? [] : [`${label.padEnd(10)}${printable(text)}`];
  const left = [
    ...(view.skipped === 0 ? [] : [`${count(view.skipped)} skipped, because the campaign before was still running`]),
    ...(view.missed === 0 ? [] : [`${count(view.missed)} missed, because Temporal was down`]),
  ];
  return [
    ...line('Campaign', view.campaignId),
    ...line('Schedule', view.scheduleId),
    ...line('State', view.note === null ? view.state : `${view.state}: ${view.note}`),
    ...line('When', view.when === null ? null : `${view.when} (${view.timeZone})`),
    ...line('From', inZone(view.startAt, view.timeZone)),
    ...line('Until', inZone(view.endAt, view.timeZone)),
    ...line('Catch-up', view.catchUpSeconds === null ? null : span(view.catchUpSeconds * 1000)),
    ...line('File', view.file),
    ...line('List', view.list),
    ...line('Next', nextTimes(view, 5)),
    ...line('Runs', [count(view.fired), ...left].join('; ')),
    ...line('Last', view.last === null ? 'none yet' : `${view.last.campaignId}: ${tellResult(view.last)}`),
  ];
}

function tellResult(last: LastFiring | null): string {
  if (last === null) return '';
  return last.reason === null ? last.result : `${last.result}: ${last.reason}`;
}
