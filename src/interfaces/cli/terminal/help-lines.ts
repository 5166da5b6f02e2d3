import { operations, type OperationId } from '../../../operations/list.ts';

/** What an operation does, as a line of `carillon --help`. */
export function sentenceOf(id: OperationId): string {
  const { says } = operations[id];
  return `${says.charAt(0).toLowerCase()}${says.slice(1)}`;
}

/**
 * The lines of `carillon --help`: what each command does, under the headings that they stand under, in this order. `plain`: a command that
 * is made from its operation.
 */
export const helpLines = {
  'Prepare and rehearse:': {
    demo: 'rehearse a whole campaign on this machine: Temporal, sandbox, worker, results',
    init: 'create a commented campaign file, a list and an agent',
    check: 'show what a campaign would do, without placing a call',
    rehearse: 'simulate a whole campaign on a private sandbox, days in minutes',
    'test-call': 'call your own number once, as the campaign would',
    dev: 'run Temporal, the sandbox and a worker together until Ctrl-C',
  },
  'Run a campaign:': {
    run: 'start a campaign or attach to it, and watch it until it ends',
    start: 'start a campaign and return',
    status: 'show the progress of a campaign',
    events: 'show the event log of a campaign, and follow it',
    pause: { plain: 'pauseCampaign' },
    resume: { plain: 'resumeCampaign' },
    adjust: 'change the speed of a running campaign',
    drain: { plain: 'drainCampaign' },
    cancel: { plain: 'cancelCampaign' },
    recover: sentenceOf('recoverCampaign'),
    resolve: 'resolve calls whose outcome is unknown',
  },
  'Rows and results:': {
    results: 'write the results file: one line per row of the list',
    report: 'count rows and calls by outcome, attempt, hour, zone and collected value',
    update: sentenceOf('updateList'),
    withdraw: sentenceOf('withdrawRows'),
    retry: sentenceOf('retryRows'),
    verify: 'prove that every promise was kept',
  },
  'Schedules and the do-not-call list:': {
    schedule: 'run a campaign on a schedule, each time with a fresh list',
    suppress: 'manage the do-not-call list',
  },
  'The service:': {
    agents: 'list, show, create, change and delete agents',
    numbers: 'list, import and assign phone numbers, and place single calls',
    conversations: 'list, read and delete conversations, and open new ones',
    sandbox: 'run the service locally with simulated calls',
  },
  'This installation:': {
    worker: 'run campaigns until stopped',
    serve: 'serve the HTTP API until stopped',
    token: 'manage the tokens of API and page',
    webhook: 'tell other systems of events by signed requests',
    backup: 'copy the SQLite database while it is in use',
    doctor: 'diagnose this installation and suggest fixes',
    schema: 'print the JSON Schema of the campaign file, for editors',
    completion: 'print a completion script for bash, zsh or fish',
  },
} as const;

/** Every command, in the order of `carillon --help`. */
export const commandNames: readonly string[] = Object.values(helpLines).flatMap((lines) => Object.keys(lines));
