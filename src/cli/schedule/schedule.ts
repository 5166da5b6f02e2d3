import { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { processInput, type PersonInput } from '../terminal/person-input.ts';
import { continueSchedule, deleteSchedule, pauseSchedule, resumeSchedule, triggerSchedule } from './control.ts';
import { createScheduleFrom, type CreateFlags } from './create.ts';
import { describeOneSchedule, listAllSchedules } from './list.ts';

const examples = `
Each firing reads the list of the hour and starts a campaign of its own, such as reminders-2026-11-21t0900. While that one still
runs, the next firing is skipped. Temporal fires; a worker reads the list and does the calls.

Examples:
  carillon schedule create campaign.yaml --cron "0 9 * * mon-fri" --timezone America/New_York --list "lists/{{ date }}.csv"
  carillon schedule list
  carillon schedule pause reminders --note "no list this week"
  carillon schedule trigger reminders
  carillon schedule delete reminders`;

const createExamples = `
The campaign file is kept as it is now: a firing later dials by it, whatever has become of the file. --list may hold
{{ date }}, {{ time }}, {{ year }}, {{ month }}, {{ day }}, {{ hour }}, {{ minute }} and {{ weekday }}, the local time of the firing; a path
counts from the folder of the campaign file, on the machine of the worker. Without --list each firing reads the list that the
campaign file names. A signed URL stands in a variable or a file of the worker: --list env://CARILLON_URL_<NAME>, or
--list url-file:///run/secrets/list-url. In cron, a day of the month and a day of the week must both fit.

Examples:
  carillon schedule create campaign.yaml --cron "0 9 * * mon-fri" --timezone America/New_York --list "lists/{{ date }}.csv"
  carillon schedule create campaign.yaml --every 1d --timezone UTC --start-at 2030-11-30T09:00 --end-at 2030-12-24T12:00
  carillon schedule create campaign.yaml --cron "30 8 * * *" --timezone Europe/London --list "https://lists.example/{{ date }}.csv"`;

/** `carillon schedule`: campaigns that recur. */
export function scheduleCommand(io: Io, input: PersonInput = processInput()): Command {
  const command = new Command('schedule')
    .description('Run a campaign again and again, each time over a fresh list')
    .addHelpText('after', examples);
  command
    .command('create')
    .description('Make a schedule of a campaign file')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--cron <expression>', 'five fields: minute, hour, day of the month, month, day of the week')
    .option('--every <duration>', 'instead: an interval such as 1d, counted from --start-at or from now')
    .requiredOption('--timezone <zone>', 'zone of the times, such as America/New_York')
    .option('--list <path or URL>', 'where each firing takes its list from')
    .option('--catch-up <duration>', 'a firing that is later than this is left out', '10m')
    .option('--start-at <time>', 'no firing before it, such as 2030-11-30T09:00')
    .option('--end-at <time>', 'no firing after it')
    .option('--note <text>', 'for those who look later; kept in Temporal')
    .option('--json', 'print the schedule as JSON', false)
    .addHelpText('after', createExamples)
    .action((path: string, flags: CreateFlags) => createScheduleFrom(io, path, flags));
  command
    .command('list')
    .description('Show all schedules: when they fire next, and what came of the last firing')
    .option('--json', 'as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon schedule list --json')
    .action((flags: { json: boolean }) => listAllSchedules(io, flags));
  command
    .command('describe')
    .description('Show one schedule with everything that is known of it')
    .argument('<campaign>', 'id in the campaign file')
    .option('--json', 'as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon schedule describe reminders')
    .action((campaignId: string, flags: { json: boolean }) => describeOneSchedule(io, campaignId, flags));
  command
    .command('pause')
    .description('Let it fire no more until it is resumed; a campaign that runs goes on')
    .argument('<campaign>', 'id in the campaign file')
    .option('--note <text>', 'why; kept in Temporal')
    .option('--json', 'print the schedule as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon schedule pause reminders --note "no list this week"')
    .action((campaignId: string, flags: { note?: string; json: boolean }) => pauseSchedule(io, campaignId, flags));
  command
    .command('resume')
    .description('Let it fire again; what was missed is not made up for')
    .argument('<campaign>', 'id in the campaign file')
    .option('--note <text>', 'why; kept in Temporal')
    .option('--json', 'print the schedule as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon schedule resume reminders')
    .action((campaignId: string, flags: { note?: string; json: boolean }) => resumeSchedule(io, campaignId, flags));
  command
    .command('trigger')
    .description('Fire once now, with the list of this minute; not while its last campaign still runs')
    .argument('<campaign>', 'id in the campaign file')
    .option('--json', 'print one JSON object', false)
    .addHelpText(
      'after',
      '\nA schedule that is paused can be triggered, too.\n\nExample:\n  carillon schedule trigger reminders',
    )
    .action((campaignId: string, flags: { json: boolean }) => triggerSchedule(io, campaignId, flags));
  command
    .command('continue')
    .description('Go on with the campaign of the last firing, where its workflow was lost or ended by hand')
    .argument('<campaign>', 'id in the campaign file')
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', '\nHarmless while it runs.\n\nExample:\n  carillon schedule continue reminders')
    .action((campaignId: string, flags: { json: boolean }) => continueSchedule(io, campaignId, flags));
  command
    .command('delete')
    .description('Remove a schedule; campaigns that it has started go on')
    .argument('<campaign>', 'id in the campaign file')
    .option('-y, --yes', 'do not ask', false)
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', '\nExample:\n  carillon schedule delete reminders --yes')
    .action((campaignId: string, flags: { yes: boolean; json: boolean }) =>
      deleteSchedule(io, input, campaignId, flags),
    );
  return command;
}
