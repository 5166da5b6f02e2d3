import { Command } from 'commander';
import { readConfig, readConfigWith } from '../../config.ts';
import { openLogFile } from '../../logger.ts';
import { sandboxKey } from '../../sandbox/http/authentication.ts';
import { formatConduct } from '../../sandbox/judge/conduct-report.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import { keepServiceClock } from '../../temporal/clock-keeper.ts';
import { tellStart } from '../start/started-campaign.ts';
import { readCampaignFile } from '../../campaign-file/file.ts';
import { readCampaign } from '../../import/import-list.ts';
import { startFromFile } from '../start/campaign-start.ts';
import { renderOutcomes } from '../words/campaign.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import { demoFaults, demoLimits } from './demo-faults.ts';
import { createDemoFolder, type DemoFolder } from './demo-folder.ts';
import { readFactor } from '../terminal/flag-values.ts';
import type { Io } from '../terminal/io.ts';
import { LocalWorldError, startLocalWorld, untilAborted, type LocalWorld } from '../access/local-world.ts';
import { plural, span } from '../../input/figures.ts';
import { writeCampaignResults } from '../results/results.ts';
import { watchCampaign, type Snapshot } from '../access/watch-campaign.ts';

const defaultSpeed = 120;

const examples = `
Runs a campaign of 300 rows, some of them bad, with retries, against a service that refuses requests, drops connections, answers
late and loses answers. Each kind of fault happens at least once. Needs no setup: Temporal, sandbox, database and worker are
started for the demo. All files go to a new folder demo-<time> in the current folder.

Exit code 0 if the campaign completed, every row has its outcome, and the sandbox found no misuse; otherwise 1.

Examples:
  carillon demo
  carillon demo --keep      keep Temporal, its UI and the sandbox running until Ctrl-C`;

export interface DemoOptions {
  keep: boolean;
  /** Service seconds per real second. */
  speed?: number;
  /** Where the demo's folder is made; default: here. */
  parent?: string;
}

export function demoCommand(io: Io): Command {
  return new Command('demo')
    .description('Rehearse a whole campaign on this machine: Temporal, sandbox, worker, results')
    .option('--keep', 'keep everything running afterwards, until Ctrl-C', false)
    .option('--speed <factor>', `service seconds per real second (default: ${defaultSpeed})`, readFactor)
    .addHelpText('after', examples)
    .action(async (options: DemoOptions) => {
      await runDemo(io, options);
    });
}

/** Runs the demo; the exit code says whether all went as it should. */
export async function runDemo(io: Io, options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const stopping = new AbortController();
  const takeBack = io.onInterrupt(() => stopping.abort());
  try {
    const folder = await createDemoFolder(options.parent ?? '.', io.now());
    io.stdout.write(`A rehearsal in ${folder.folder}. Nothing real is called.\n`);
    const world = await startWorld(io, folder, options, stopping.signal);
    try {
      io.stdout.write(`Temporal's UI: ${world.temporal.uiUrl ?? 'none'}   Sandbox: ${world.sandbox.url}\n`);
      const snapshot = await playCampaign(io, world, folder, stopping.signal);
      if (!hasEnded(snapshot.campaign)) {
        io.stderr.write(`\nStopped before the campaign's end. Its files are in ${folder.folder}\n`);
        io.exitCode = 1;
        return;
      }
      const good = await sumUp(io, world, folder, snapshot);
      io.stdout.write(`\nIt took ${span(performance.now() - startedAt)}.\n`);
      io.exitCode = good ? 0 : 1;
      if (options.keep) await keepRunning(io, world, stopping.signal);
    } finally {
      await world.stop();
    }
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    io.stderr.write('\nStopped before everything was up.\n');
    io.exitCode = 1;
  } finally {
    takeBack();
  }
}

function startWorld(io: Io, folder: DemoFolder, options: DemoOptions, signal: AbortSignal): Promise<LocalWorld> {
  const own = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined, DATABASE_URL: undefined };
  return startLocalWorld(io, {
    config: { ...readConfig(io.env), TEMPORAL_ADDRESS: undefined },
    // The same calls each time: only what the machine's speed decides differs.
    sandbox: { port: 0, speed: options.speed ?? defaultSpeed, seed: 'demo', faults: [...demoFaults] },
    temporal: {},
    configure: ({ url }) => {
      const fixed = {
        ...own,
        ...demoLimits,
        SVC_BASE_URL: url,
        SVC_API_KEY: sandboxKey,
        CARILLON_DB: folder.databasePath,
      };
      return readConfigWith({ fixed }, io.env);
    },
    createLog: ({ CARILLON_LOG_LEVEL }) => openLogFile(CARILLON_LOG_LEVEL, folder.logPath),
    onProgress: (line) => io.stderr.write(`${line}\n`),
    signal,
  });
}

async function playCampaign(io: Io, world: LocalWorld, folder: DemoFolder, leave: AbortSignal): Promise<Snapshot> {
  const { config, store, temporal } = world;
  const { connection, client } = await connectTemporal(
    config,
    temporal.target === null ? {} : { target: temporal.target },
  );
  try {
    const read = await readCampaign(await readCampaignFile(folder.campaignPath), io.now());
    const connect = () => Promise.resolve(client);
    const result = await startFromFile(io, read, { config, store, connect, check: true });
    io.stdout.write(tellStart(result));
    const view = createCampaignView(io, io.stdout, 'Ctrl-C stops it.');
    const clock = keepServiceClock(config.SVC_BASE_URL);
    const watching = watchCampaign({ store, campaignId: folder.name, clock, fromSeq: 0, view, leave });
    watching.catch(() => {});
    const reason = await Promise.race([world.broken, watching.then(() => null)]);
    if (reason !== null) throw new LocalWorldError(`${reason}\nThe demo's files are in ${folder.folder}`, 1);
    return await watching;
  } finally {
    await connection.close();
  }
}

/** Tables, conduct and files. Answers whether all is as it should be. */
async function sumUp(io: Io, world: LocalWorld, folder: DemoFolder, { campaign, status }: Snapshot): Promise<boolean> {
  io.stdout.write(renderOutcomes(campaign, status, io.colour));
  if (status.unresolved > 0) {
    io.stdout.write(
      `\n${plural(status.unresolved, 'row')} unresolved: a batch was sent, its answer was lost, and no record shows whether its people were called.\n` +
        'Carillon never repeats such a call by itself; carillon resolve lets a person decide.\n',
    );
  }
  io.stdout.write(`\nFaults that the service was told to commit: ${faultsMet(world)}\n`);
  const conduct = world.sandbox.conduct();
  io.stdout.write(`\nWhat the service has to say about its caller\n${formatConduct(conduct)}`);
  const rows = await writeCampaignResults(io, world.store, campaign, folder.resultsPath);
  io.stdout.write(
    [
      '',
      `Results    ${folder.resultsPath}   (${rows} rows)`,
      `Database   ${folder.databasePath}`,
      `Log        ${folder.logPath}`,
      `Temporal   ${world.temporal.uiUrl ?? world.temporal.address}   (gone with the demo, unless --keep)`,
      '',
    ].join('\n'),
  );
  const open = status.total - status.done;
  const faults = [
    ...(campaign.state === 'completed' ? [] : [`the campaign is ${campaign.state}`]),
    ...(open === 0 ? [] : [`${open} rows have no outcome`]),
    ...(rows === status.total ? [] : [`the results have ${rows} rows, the list has ${status.total}`]),
    ...(conduct.ok ? [] : ['the service has found fault with its caller']),
  ];
  if (faults.length > 0) io.stderr.write(`\nNot as it should be: ${faults.join('; ')}.\n`);
  return faults.length === 0;
}

async function keepRunning(io: Io, world: LocalWorld, stop: AbortSignal): Promise<void> {
  io.stderr.write(
    `\nEverything runs on for a look: ${world.temporal.uiUrl ?? ''}   ${world.sandbox.url}/_sandbox/calls   Ctrl-C ends it.\n`,
  );
  const reason = await Promise.race([world.broken, untilAborted(stop).then(() => null)]);
  if (reason !== null) throw new LocalWorldError(reason, 1);
}

/** `wait-seconds, error-before`: each fault rule that was met. */
export function faultsMet({ sandbox }: Pick<LocalWorld, 'sandbox'>): string {
  const met = new Set(sandbox.journal().flatMap(({ faults }) => faults));
  return [...met].join(', ');
}
