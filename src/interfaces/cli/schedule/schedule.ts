import { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { runContinue, runDelete, runPause, runResume, runTrigger } from './control.ts';
import { runCreate, type CreateFlags } from './create.ts';
import { runDescribe, runList } from './list.ts';
import { operations, type OperationId } from '../../../operations/list.ts';

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
