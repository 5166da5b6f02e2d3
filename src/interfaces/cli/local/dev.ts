import { join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { readConfig, type Config } from '../../../shared/config.ts';
import { sandboxKey } from '../../../sandbox/http/authentication.ts';
import { describeLocation } from '../../../ledger/open-ledger.ts';
import { listElsewhere, listSchedulesElsewhere } from '../../../ledger/campaign/service-move.ts';
import { packageFolder } from '../../../shared/input/package-folder.ts';
import { commandOf, readFactor, readPort } from '../terminal/command.ts';
import { untilAborted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { inLocalWorld, LocalWorldError, portOrAny, type LocalWorld, type LocalWorldInput } from '../access/local-world.ts';
import { accountIdOf } from '../../../operations/control/service.ts';
import { noOpenHelp, withLocalConsole, type LocalConsole } from '../serve/serve.ts';
import type { Store } from '../../../ledger/tx.ts';

const exampleSpeed = 60;
const ports = { sandbox: 4010, temporal: 7233, ui: 8233, page: 4080 };

const examples = `
Runs in one process: a Temporal dev server with its web UI (or the server at TEMPORAL_ADDRESS), the sandbox, a worker for the
database of CARILLON_DB or DATABASE_URL, and the console and HTTP API of carillon serve with a token for this machine. Temporal
keeps its data in XDG_STATE_HOME/carillon, or in .carillon in the current folder; the database is kept, too; the sandbox keeps
nothing. A database that holds a schedule or an unfinished campaign of another service is refused. If a default port is taken,
another port is used. Only errors are logged unless CARILLON_LOG_LEVEL is set.

Ctrl-C stops all parts in order with exit code 0. Exit code 1 if a part ended by itself.

Examples:
  carillon dev                     its page opens signed in; the example runs there at one click
  carillon dev --speed 60          one hour of calls in one minute
  carillon dev --dialect spec      a service that returns nothing beyond its contract`;

interface DevFlags {
  port?: number;
  temporalPort?: number;
  speed?: number;
  dialect?: 'spec' | 'extended';
  open: boolean;
}

export const devCommand = commandOf<DevFlags>({
  name: 'dev',
  says: 'Run Temporal, the sandbox, a worker and the console together until Ctrl-C',
  flags: [
    ['--port <number>', `port of the sandbox (default: ${ports.sandbox}, or any free port)`, readPort],
    ['--temporal-port <number>', `port of Temporal (default: ${ports.temporal}, or any free port)`, readPort],
    ['--speed <factor>', 'service seconds per real second (default: 1)', readFactor],
    new Option('--dialect <name>', 'which fields the sandbox returns').choices(['spec', 'extended']),
    ['--no-open', noOpenHelp],
  ],
  json: 'print one JSON line on standard output when ready',
  help: examples,
  run: runDev,
});

async function runDev(io: Io, flags: DevFlags & { json: boolean }): Promise<null> {
  const { port, temporalPort, speed, dialect, json, open } = flags;
  const config = readConfig(io.env);
  const input: LocalWorldInput = {
    sandbox: {
      port: port ?? (await portOrAny(ports.sandbox)),
      ...(speed === undefined ? {} : { speed }),
      ...(dialect === undefined ? {} : { dialect }),
    },
    temporal: {
      dataFile: temporalDataFile(config),
      port: temporalPort ?? (await portOrAny(ports.temporal)),
      uiPort: await portOrAny(ports.ui),
      ...(config.TEMPORAL_NAMESPACE === undefined ? {} : { namespace: config.TEMPORAL_NAMESPACE }),
    },
    // Hook receivers under test run on the same machine.
    settings: { defaults: { CARILLON_LOG_LEVEL: 'error', CARILLON_HOOK_NETWORKS: '127.0.0.0/8, ::1' } },
    mayWork: refuseOtherService,
    advice: '\nEverything else is stopped. Run carillon dev again.',
  };
  const wasUp = await inLocalWorld(io, input, async (world, leave) => {
    const work = async (console: LocalConsole): Promise<void> => {
      announce(io, { ...world, console }, json);
      await untilAborted(leave);
      io.stderr.write('\nStopping: page, worker, database, Temporal, sandbox. Again to stop at once.\n');
    };
    // Days of the example should pass in minutes; an explicit --speed stays.
    const quickenSandbox = () => speed === undefined && world.sandbox.setSpeed(exampleSpeed);
    await withLocalConsole(io, world, { port: ports.page, open: open && !json, quickenSandbox, work });
  });
  io.stderr.write(
    wasUp ? 'Stopped. Campaigns that were not at their end go on with the next carillon dev.\n' : 'Stopped before everything was up.\n',
  );
  return null;
}

/** Refuses campaigns of another service: this worker has only the sandbox's clock and calls. Throws LocalWorldError. */
async function refuseOtherService(store: Store, config: Config): Promise<void> {
  const sandbox = accountIdOf(config);
  const [campaign] = await listElsewhere(store.db, { accountId: sandbox, api: config.SVC_API });
  const [schedule] = await listSchedulesElsewhere(store.db, sandbox);
  const other = campaign ?? schedule;
  if (other === undefined) return;
  const what = campaign === undefined ? 'a schedule' : 'a campaign that has not ended';
  const place = describeLocation({ databaseUrl: config.DATABASE_URL, sqlitePath: resolve(config.CARILLON_DB) });
  throw new LocalWorldError(
    `The database (${place}) has ${what}, ${other.campaignId}, of the service at ${other.accountId}, and not of this sandbox at ${sandbox}. Nothing was touched. ` +
      'Use another database: unset DATABASE_URL, and set CARILLON_DB to a new file. If that service was a sandbox, give this one its port with --port.',
    2,
  );
}

/** Beside the database unless XDG_STATE_HOME is set, so that both belong together. */
function temporalDataFile({ XDG_STATE_HOME: state }: Config): string {
  return state === undefined ? resolve('.carillon', 'temporal.db') : join(state, 'carillon', 'temporal.db');
}

function announce(io: Io, world: LocalWorld & { console: LocalConsole }, json: boolean): void {
  const { config, sandbox, temporal, console } = world;
  const database = config.DATABASE_URL === undefined ? resolve(config.CARILLON_DB) : null;
  const settings = {
    TEMPORAL_ADDRESS: temporal.address,
    SVC_BASE_URL: sandbox.url,
    SVC_API_KEY: sandboxKey,
    ...(database === null ? {} : { CARILLON_DB: database }),
  };
  if (json) {
    const { address, uiUrl } = temporal;
    io.stdout.write(
      `${JSON.stringify({ ready: true, pid: process.pid, temporal: address, temporalPid: temporal.devServer?.pid ?? null, ui: uiUrl, sandbox: sandbox.url, page: console.signInUrl, api: console.url, settings })}\n`,
    );
  }
  const lines = [
    'Ready. Nothing real is called.',
    `  page       ${console.signInUrl}`,
    `  its API    ${console.url}/api/v1/openapi.json`,
    `  Temporal   ${temporal.address}`,
    ...(temporal.uiUrl === null ? [] : [`  its UI     ${temporal.uiUrl}`]),
    `  sandbox    ${sandbox.url}   (what it thinks of its caller: ${sandbox.url}/_sandbox/conduct?format=text)`,
    `  database   ${describeLocation({ databaseUrl: config.DATABASE_URL, sqlitePath: resolve(config.CARILLON_DB) })}`,
    '',
    'In another shell:',
    ...Object.entries(settings).map(([name, value]) => `  export ${name}=${quote(value)}`),
    ...(database === null ? ['  (and the same DATABASE_URL as here)'] : []),
    `  carillon run ${quote(relative('.', join(packageFolder('examples'), 'reminders', 'campaign.yaml')))}`,
    '',
    'Ctrl-C stops all of it.',
  ];
  io.stderr.write(`${lines.join('\n')}\n`);
}

/** Quoted for a shell only if needed. */
function quote(value: string): string {
  return /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
