import { Option } from 'commander';
import { scheduleOperations as operations } from '../../../operations/schedules.ts';
import { readConfig } from '../../../shared/config.ts';
import { connected, withControl, type Control } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { createSchedule, readNewSchedule } from '../../../operations/control/schedules/create.ts';
import { readRecurrence, type WrittenRecurrence } from '../../../operations/control/schedules/recurrence.ts';
import { type ScheduleView, type LastRun, notInTemporal } from '../../../operations/control/schedules/view.ts';
import { describeMissingWorker } from '../../../operations/control/supervision.ts';
import { writeAnswer, mayBegin } from '../terminal/answer.ts';
import { commandOf, groupOf } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import { scheduledRunText } from '../../../presentation/words/callbacks.ts';
import { clockChangeLines } from '../../../presentation/words/recurrence.ts';
import { nextTimes, inZone } from '../../../shared/input/times.ts';
import { describeSchedule, listSchedules } from '../../../operations/control/schedules/schedules.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { printable } from '../../../shared/input/printable.ts';
import { count, span } from '../../../shared/input/figures.ts';
import { tableOrNone, type Column } from '../terminal/table.ts';

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

const one = ['<campaign>', 'id from the campaign file'] as const;
const note = ['--note <text>', 'reason, kept in Temporal'] as const;
const shownTimes = 3;

export const scheduleCommand = groupOf({ name: 'schedule', help: examples }, [
  commandOf<WrittenRecurrence & { list?: string }>({
    name: 'create',
    says: 'Create a schedule for a campaign file',
    argument: ['<campaign.yaml>', 'campaign file'],
    flags: [
      ['--cron <expression>', 'five fields: minute, hour, day of the month, month, day of the week'],
      ['--every <duration>', 'instead of --cron: an interval such as 1d, from --start-at or from now'],
      new Option('--timezone <zone>', 'time zone of the schedule, such as America/New_York').makeOptionMandatory(),
      ['--list <path or URL>', 'list of each run'],
      ['--catch-up <duration>', 'skip a run that is later than this', '10m'],
      ['--start-at <time>', 'no run before this time, such as 2030-11-30T09:00'],
      ['--end-at <time>', 'no run after this time'],
      ['--keep-skipped', 'start a run whose time a clock change skips at the next instant that exists', false],
      ['--note <text>', 'note, kept in Temporal'],
    ],
    json: 'print the schedule as JSON',
    help: createExamples,
    // Everything is validated before anything is written.
    run: async (io, { json, ...flags }, path) => {
      const recurrence = readRecurrence(flags, io.now(), flagOf);
      const surroundings = { config: readConfig(io.env), now: () => io.now() };
      const schedule = await readNewSchedule(surroundings, { path, list: flags.list });
      const create = async (control: Control): Promise<null> => {
        const own = { log: schedule.campaignId, run: () => createSchedule(control, schedule, recurrence) };
        const view = await performHere(control, 'createSchedule', {}, own);
        writeAnswer(io, json, { data: view, words: formatCreated(view) });
        const lines = await describeMissingWorker(await connected(control));
        if (!json) lines.push('Show it: carillon schedule list');
        io.stderr.write(lines.map((line) => `${line}\n`).join(''));
        return null;
      };
      return withControl(io, create, openLedger);
    },
  }),
  commandOf({
    name: 'list',
    says: operations.listSchedules.says,
    examples: ['carillon schedule list --json'],
    run: (io) =>
      withControl(io, async (control) => {
        const views = await listSchedules(control);
        const none = 'There is no schedule yet: carillon schedule create <campaign.yaml> makes one.\n';
        const missing = views.filter(({ state }) => state === 'missing');
        const session = missing.length === 0 ? null : await connected(control);
        const warnings = missing.map(
          ({ campaignId, file: filePath }) => session && `${notInTemporal(session, { campaignId, filePath })}\n`,
        );
        return { data: { schedules: views }, aside: warnings.join(''), ...tableOrNone(io, columns, views, none) };
      }),
  }),
  commandOf({
    name: 'describe',
    says: operations.readSchedule.says,
    argument: one,
    examples: ['carillon schedule describe reminders'],
    run: (io, _flags, campaignId) =>
      withControl(io, async (control) => {
        const view = await describeSchedule(control, campaignId);
        return { data: view, words: `${describeView(view).join('\n')}\n` };
      }),
  }),
  commandOf<{ note?: string }>({
    name: 'pause',
    says: operations.pauseSchedule.says,
    argument: one,
    flags: [note],
    json: 'print the schedule as JSON',
    changes: true,
    help: '\nA running campaign continues.',
    examples: ['carillon schedule pause reminders --note "no list this week"'],
    run: async (io, flags, campaignId) => {
      const { wasPaused, noteBefore, ...view } = await performOn(io, 'pauseSchedule', campaignId, flags);
      const noteText = formatNote(noteBefore);
      const why = view.note === noteBefore || noteText === '' ? noteText : `, with a new note instead of${noteText}`;
      const what = `${wasPaused ? 'was paused already' : 'is paused'}${why}`;
      const next = `it starts no runs. A running campaign continues. Resume it: carillon schedule resume ${campaignId}`;
      return { data: view, words: `Schedule of ${campaignId} ${what}: ${next}\n` };
    },
  }),
  commandOf<{ note?: string }>({
    name: 'resume',
    says: operations.resumeSchedule.says,
    argument: one,
    flags: [note],
    json: 'print the schedule as JSON',
    changes: true,
    help: '\nMissed runs are not made up.',
    examples: ['carillon schedule resume reminders'],
    run: async (io, flags, campaignId) => {
      const { wasPaused, noteBefore, ...view } = await performOn(io, 'resumeSchedule', campaignId, flags);
      const before = wasPaused ? `; it was paused${formatNote(noteBefore)}` : '';
      const what = !wasPaused && flags.note === undefined ? 'was not paused' : `is active again${before}`;
      return { data: view, words: `Schedule of ${campaignId} ${what}. Show its next run: carillon schedule list\n` };
    },
  }),
  commandOf({
    name: 'trigger',
    says: operations.triggerSchedule.says,
    argument: one,
    json: 'print one JSON object',
    changes: true,
    help: '\nThe run reads the current list. Refused while the campaign of an earlier run has not ended.',
    examples: ['carillon schedule trigger reminders'],
    run: (io, { json, key }, campaignId) =>
      withControl(io, async (control) => {
        const fired = await performHere(control, 'triggerSchedule', { params: { campaign: campaignId }, key });
        const show = `Show its progress: carillon status ${fired.campaignId}   Show the run: carillon schedule describe ${campaignId}`;
        const words = `Triggered: campaign ${fired.campaignId} begins. ${show}\n`;
        writeAnswer(io, json, { data: fired, words });
        for (const line of await describeMissingWorker(await connected(control))) io.stderr.write(`${line}\n`);
        return null;
      }),
  }),
  commandOf({
    name: 'continue',
    says: operations.continueSchedule.says,
    argument: one,
    json: 'print one JSON object',
    changes: true,
    help: '\nHarmless if the campaign is running.',
    examples: ['carillon schedule continue reminders'],
    run: async (io, flags, campaignId) => {
      const { campaignId: id, result } = await performOn(io, 'continueSchedule', campaignId, flags);
      const what = { ended: 'has ended', attached: 'is running already', started: 'continues' }[result];
      return { data: { campaignId: id, result }, words: `Campaign ${id} ${what}: carillon status ${id}\n` };
    },
  }),
  commandOf({
    name: 'delete',
    says: operations.deleteSchedule.says,
    argument: one,
    asks: true,
    changes: true,
    json: 'print one JSON object',
    help: '\nCampaigns that it has started continue.',
    examples: ['carillon schedule delete reminders --yes'],
    run: (io, { yes, key }, campaignId) =>
      withControl(io, async (control) => {
        if (!yes) await describeSchedule(control, campaignId);
        if (!(await mayBegin(io, yes, `Delete the schedule of ${campaignId}? ${operations.deleteSchedule.more}`))) return null;
        const { scheduleId } = await performHere(control, 'deleteSchedule', { params: { campaign: campaignId }, key });
        const words = `Schedule of ${campaignId} is deleted. Campaigns that it has started continue: carillon status\n`;
        return { data: { campaignId, scheduleId, deleted: true }, words };
      }),
  }),
]);

const performOn = <Id extends 'pauseSchedule' | 'resumeSchedule' | 'continueSchedule'>(
  io: Io,
  id: Id,
  campaign: string,
  { note: text, key }: { note?: string; key?: string },
) => withControl(io, (control) => performHere(control, id, { params: { campaign }, body: { note: text }, key }));

/** `startAt` is `--start-at`. */
function flagOf(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function formatCreated(view: ScheduleView): string {
  const times = nextTimes(view, shownTimes);
  return [
    `Schedule of ${view.campaignId} created: ${view.when} (${view.timeZone}).`,
    `Each run reads ${view.list}, and is skipped while the campaign of the run before it has not ended.`,
    `Next runs: ${times}.`,
    ...clockLines(view),
    '',
  ].join('\n');
}

/** A skipped run can be kept; the last line shows how. */
function clockLines(view: ScheduleView): string[] {
  const canKeep = view.clockChanges.some(({ effect }) => effect === 'skipped');
  return [
    ...clockChangeLines(view, view.timeZone),
    ...(canKeep ? ['--keep-skipped starts a skipped run at the next instant that exists.'] : []),
  ];
}

function formatNote(note: string | null): string {
  return note === null ? '' : ` (${printable(note)})`;
}

const columns: readonly Column<ScheduleView>[] = [
  { title: 'CAMPAIGN', value: (view) => view.campaignId },
  { title: 'STATE', value: (view) => view.state },
  { title: 'WHEN', value: (view) => view.when ?? '' },
  { title: 'ZONE', value: (view) => view.timeZone ?? '' },
  { title: 'NEXT', value: (view) => nextTimes(view, 1) },
  { title: 'LAST RUN', value: (view) => view.last?.campaignId ?? 'none yet' },
  { title: 'RESULT', value: (view) => formatResult(view.last), flexible: true },
];

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
    ...clockLines(view).flatMap((text) => line('Clocks', text)),
    ...line('Runs', [count(view.fired), ...left].join('; ')),
    ...line('Last', view.last === null ? 'none yet' : `${view.last.campaignId}: ${formatResult(view.last)}`),
  ];
}

function formatResult(last: LastRun | null): string {
  if (last === null) return '';
  const result = scheduledRunText(last);
  return last.reason === null ? result : `${result}: ${last.reason}`;
}
