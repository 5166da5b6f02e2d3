import type { Command } from 'commander';
import type { Io } from './terminal/io.ts';

/** One line of `carillon --help`, and how to get the command when it is wanted: nothing else is loaded, so help is quick. */
export interface CommandEntry {
  name: string;
  /** The heading that it stands under. */
  group?: string;
  summary: string;
  load: () => Promise<(io: Io) => Command>;
}

const groups = {
  try: 'Prepare and rehearse:',
  run: 'Run a campaign:',
  rows: 'Rows and results:',
  standing: 'Schedules and the do-not-call list:',
  service: 'The service:',
  installation: 'This installation:',
};

/** In the order of `carillon --help`, group by group. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    group: groups.try,
    summary: 'rehearse a whole campaign on this machine: Temporal, sandbox, worker, results',
    load: async () => (await import('./local/demo.ts')).demoCommand,
  },
  {
    name: 'init',
    group: groups.try,
    summary: 'create a commented campaign file, a list and an agent',
    load: async () => (await import('./check/init.ts')).initCommand,
  },
  {
    name: 'check',
    group: groups.try,
    summary: 'show what a campaign would do, without placing a call',
    load: async () => (await import('./check/check.ts')).checkCommand,
  },
  {
    name: 'rehearse',
    group: groups.try,
    summary: 'simulate a whole campaign on a private sandbox, days in minutes',
    load: async () => (await import('./rehearse/rehearse.ts')).rehearseCommand,
  },
  {
    name: 'test-call',
    group: groups.try,
    summary: 'call your own number once, as the campaign would',
    load: async () => (await import('./start/test-call.ts')).testCallCommand,
  },
  {
    name: 'dev',
    group: groups.try,
    summary: 'run Temporal, the sandbox and a worker together until Ctrl-C',
    load: async () => (await import('./local/dev.ts')).devCommand,
  },
  {
    name: 'run',
    group: groups.run,
    summary: 'start a campaign or attach to it, and watch it until it ends',
    load: async () => (await import('./start/run.ts')).runCommand,
  },
  {
    name: 'start',
    group: groups.run,
    summary: 'start a campaign and return',
    load: async () => (await import('./start/start.ts')).startCommand,
  },
  {
    name: 'status',
    group: groups.run,
    summary: 'show the progress of a campaign',
    load: async () => (await import('./watch/status.ts')).statusCommand,
  },
  {
    name: 'events',
    group: groups.run,
    summary: 'show the event log of a campaign, and follow it',
    load: async () => (await import('./watch/events.ts')).eventsCommand,
  },
  {
    name: 'pause',
    group: groups.run,
    summary: 'place no further calls; open ones are still collected',
    load: async () => (await import('./steer/pause.ts')).pauseCommand,
  },
  {
    name: 'resume',
    group: groups.run,
    summary: 'continue a paused campaign',
    load: async () => (await import('./steer/resume.ts')).resumeCommand,
  },
  {
    name: 'adjust',
    group: groups.run,
    summary: 'change the speed of a running campaign',
    load: async () => (await import('./steer/adjust.ts')).adjustCommand,
  },
  {
    name: 'drain',
    group: groups.run,
    summary: 'finish open calls, call no waiting recipients, and complete the campaign',
    load: async () => (await import('./steer/drain.ts')).drainCommand,
  },
  {
    name: 'cancel',
    group: groups.run,
    summary: 'end a campaign; waiting recipients are not called',
    load: async () => (await import('./steer/cancel.ts')).cancelCommand,
  },
  {
    name: 'resolve',
    group: groups.run,
    summary: 'resolve calls whose outcome is unknown',
    load: async () => (await import('./rows/resolve.ts')).resolveCommand,
  },
  {
    name: 'results',
    group: groups.rows,
    summary: 'write the results file: one line per row of the list',
    load: async () => (await import('./results/results.ts')).resultsCommand,
  },
  {
    name: 'report',
    group: groups.rows,
    summary: 'count rows and calls by outcome, attempt, hour, zone and collected value',
    load: async () => (await import('./results/report.ts')).reportCommand,
  },
  {
    name: 'update',
    group: groups.rows,
    summary: 'add and correct rows of a running campaign',
    load: async () => (await import('./rows/update.ts')).updateCommand,
  },
  {
    name: 'withdraw',
    group: groups.rows,
    summary: 'remove rows from a running campaign',
    load: async () => (await import('./rows/withdraw.ts')).withdrawCommand,
  },
  {
    name: 'retry',
    group: groups.rows,
    summary: 'call rows of an ended campaign again in a new round',
    load: async () => (await import('./rows/retry.ts')).retryCommand,
  },
  {
    name: 'verify',
    group: groups.rows,
    summary: 'prove that every promise was kept',
    load: async () => (await import('./watch/verify.ts')).verifyCommand,
  },
  {
    name: 'schedule',
    group: groups.standing,
    summary: 'run a campaign on a schedule, each time with a fresh list',
    load: async () => (await import('./schedule/schedule.ts')).scheduleCommand,
  },
  {
    name: 'suppress',
    group: groups.standing,
    summary: 'manage the do-not-call list',
    load: async () => (await import('./suppress/suppress.ts')).suppressCommand,
  },
  {
    name: 'agents',
    group: groups.service,
    summary: 'list, show, create, change and delete agents',
    load: async () => (await import('./service/agents.ts')).agentsCommand,
  },
  {
    name: 'numbers',
    group: groups.service,
    summary: 'list, import and assign phone numbers, and place single calls',
    load: async () => (await import('./service/numbers.ts')).numbersCommand,
  },
  {
    name: 'conversations',
    group: groups.service,
    summary: 'list, read and delete conversations, and open new ones',
    load: async () => (await import('./service/conversations.ts')).conversationsCommand,
  },
  {
    name: 'sandbox',
    group: groups.service,
    summary: 'run the service locally with simulated calls',
    load: async () => (await import('./sandbox/sandbox.ts')).sandboxCommand,
  },
  {
    name: 'worker',
    group: groups.installation,
    summary: 'run campaigns until stopped',
    load: async () => (await import('./local/worker.ts')).workerCommand,
  },
  {
    name: 'doctor',
    group: groups.installation,
    summary: 'diagnose this installation and suggest fixes',
    load: async () => (await import('./local/doctor.ts')).doctorCommand,
  },
  {
    name: 'schema',
    group: groups.installation,
    summary: 'print the JSON Schema of the campaign file, for editors',
    load: async () => (await import('./check/schema.ts')).schemaCommand,
  },
  {
    name: 'completion',
    group: groups.installation,
    summary: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
];
