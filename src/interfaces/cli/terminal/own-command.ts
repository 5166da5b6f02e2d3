import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolder } from '../../../shared/input/package-folder.ts';
import type { OperationId } from '../../../operations/list.ts';
import { outlines } from '../../../operations/outlines.ts';

/** For `carillon --help`. */
export function sentenceOf(id: OperationId): string {
  const { says } = outlines[id];
  return `${says.charAt(0).toLowerCase()}${says.slice(1)}`;
}

/** By heading, in this order. `plain`: generated from its operation. */
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
    evidence: 'write what is known of the calls to one number as a signed bundle',
    callback: 'list, make, move and cancel promises to call people back',
    add: sentenceOf('addRows'),
    update: sentenceOf('updateList'),
    withdraw: sentenceOf('withdrawRows'),
    retry: sentenceOf('retryRows'),
    verify: 'prove that every promise was kept',
  },
  'Schedules, and what holds for all campaigns:': {
    schedule: 'run a campaign on a schedule, each time with a fresh list',
    rules: 'set the house rules: caps, hours and limits for all campaigns',
    consent: 'note consent that is taken back, and given anew',
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
    serve: 'serve the console and the HTTP API until stopped',
    token: 'manage the tokens of the console and the API',
    webhook: 'tell other systems of events by signed requests',
    backup: 'copy the SQLite database while it is in use',
    doctor: 'diagnose this installation and suggest fixes',
    schema: 'print the JSON Schema of the campaign file, for editors',
    completion: 'print a completion script for bash, zsh or fish',
  },
} as const;

export const commandNames: readonly string[] = Object.values(helpLines).flatMap((lines) => Object.keys(lines));

/** What a user types here: `./carillon` in a clone, `npx carillon` in a project, else `carillon`. */
export function ownCommand(input: { script: string; folder: string; root: string | null; windows: boolean }): string {
  const { script, folder, root, windows } = input;
  if (root !== null) {
    const way = relative(folder, join(root, windows ? join('dist', 'src', 'interfaces', 'cli', 'main.js') : 'carillon'));
    if (windows) return `node ${way}`;
    return way.includes(sep) ? way : `.${sep}${way}`;
  }
  const bin = dirname(script);
  return basename(bin) === '.bin' && basename(dirname(bin)) === 'node_modules' ? 'npx carillon' : 'carillon';
}

/** The clone has a launcher at its root; null for an installed package. */
export function cloneRoot(): string | null {
  for (const way of ['../../../..', '../../../../..']) {
    const root = fileURLToPath(new URL(way, import.meta.url));
    if (existsSync(join(root, 'carillon')) && existsSync(join(root, 'package.json'))) return root;
  }
  return null;
}

const mention = new RegExp(`(?<![\\w./-])carillon(?= (?:(?:${commandNames.join('|')}|help)(?![\\w.])|--help\\b|[[<]))`, 'g');

/** Rewrites our commands to what works here; other mentions of the name stay. */
export function asTyped(text: string, own: string): string {
  return own === 'carillon' ? text : text.replaceAll(mention, () => own);
}

/** Commands whose standard output has foreign text, which stays unchanged. */
const dataCommands = new Set(['agents', 'completion', 'conversations', 'numbers', 'report', 'results', 'schema']);

export function answersWithData(args: readonly string[]): boolean {
  return args.includes('--json') || dataCommands.has(args[0] ?? '');
}

/** A stream for messages, whose commands work when typed here. */
export function speaking(stream: NodeJS.WritableStream, own: string): NodeJS.WritableStream {
  return new Proxy(stream, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'write') {
        return (chunk: string | Uint8Array, ...rest: []) => target.write(typeof chunk === 'string' ? asTyped(chunk, own) : chunk, ...rest);
      }
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

export function readVersion(): string {
  const parsed = JSON.parse(readFileSync(packageFolder('package.json'), 'utf8')) as { version: string };
  return parsed.version;
}
