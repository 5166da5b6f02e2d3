import { Command } from 'commander';
import { formatConduct } from '../../../sandbox/judge/conduct-report.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { keepServiceClock } from '../../../temporal/clock-keeper.ts';
import { createControl } from '../../../operations/control/control.ts';
import { startAloud, tellStart } from '../start/started-campaign.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readCampaign } from '../../../campaign/preflight/import-list.ts';
import { pauseLines, renderOutcomes } from '../../../presentation/words/campaign.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import { demoFaults, demoLimits } from './demo-faults.ts';
import { createDemoFolder, type DemoFolder } from './demo-folder.ts';
import { readFactor } from '../terminal/flag-values.ts';
import { untilAborted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { inLocalWorld, privateSettings, type LocalWorld, type LocalWorldInput } from '../access/local-world.ts';
import { plural, span } from '../../../shared/input/figures.ts';
import { writeCampaignResults } from '../results/results.ts';
import { withLocalConsole, type LocalConsole } from '../serve/local-console.ts';
import { watchCampaign, type Snapshot } from '../access/watch-campaign.ts';

const defaultSpeed = 120;

const examples = `
Runs a campaign of 300 rows, some of them bad, with retries, against a service that refuses requests, drops connections, answers
late and loses answers. Each kind of fault happens at least once. Needs no setup: Temporal, sandbox, database, worker
and the page to watch it on are started for the demo. All files go to a new folder demo-<time> in the current folder.

Exit code 0 if the campaign completed, every row has its outcome, and the sandbox found no misuse; otherwise 1, also when the
campaign pauses by itself: nobody is there to have it go on, unless --keep.

Examples:
  carillon demo
  carillon demo --keep      keep the page, Temporal and the sandbox running until Ctrl-C`;

interface DemoFlags {
  keep: boolean;
  speed: number;
}

export function demoCommand(io: Io): Command {
  return new Command('demo')
    .option('--keep', 'keep everything running afterwards, until Ctrl-C', false)
    .option('--speed <factor>', 'service seconds per real second', readFactor, defaultSpeed)
    .addHelpText('after', examples)
    .action((flags: DemoFlags) => runDemo(io, flags));
}

/** The exit code says whether all went as it should. */
async function runDemo(io: Io, { keep, speed }: DemoFlags): Promise<void> {
  const startedAt = performance.now();
  const folder = await createDemoFolder(io.now());
  io.stdout.write(`A rehearsal in ${folder.folder}. Nothing real is called.\n`);
  const input: LocalWorldInput = {
    // The same calls each time: only what the machine's speed decides differs.
    sandbox: { port: 0, speed, seed: 'demo', faults: [...demoFaults] },
    settings: privateSettings(folder.databasePath, demoLimits),
    logPath: folder.logPath,
    advice: `\nThe demo's files are in ${folder.folder}`,
  };
  const wasUp = await inLocalWorld(io, input, (world, leave) =>
    withLocalConsole(io, world, {
      port: 0,
      work: (console) => playDemo(io, { world, console, folder, startedAt, keep }, leave),
    }),
  );
  if (wasUp) return;
  io.stderr.write('\nStopped before everything was up.\n');
  io.exitCode = 1;
}

interface Demo {
  world: LocalWorld;
  console: LocalConsole;
  folder: DemoFolder;
  startedAt: number;
  keep: boolean;
}

async function playDemo(io: Io, { world, console, folder, startedAt, keep }: Demo, leave: AbortSignal): Promise<void> {
  const temporalUrl = world.temporal.uiUrl;
  io.stdout.write(`Watch it: ${console.signInUrl}\nTemporal's UI: ${temporalUrl ?? 'none'}   Sandbox: ${world.sandbox.url}\n`);
  // With --keep somebody looks on, and may mend on the page what the campaign has paused for.
  const snapshot = await playCampaign(io, world, { folder, leave, alone: !keep });
  if (!hasEnded(snapshot.campaign)) {
    const [why = ''] = leave.aborted ? [] : pauseLines(snapshot.campaign);
    io.stderr.write(`${why === '' ? '' : `\n${why}`}\nStopped before the campaign's end. Its files are in ${folder.folder}\n`);
    io.exitCode = 1;
    return;
  }
  const good = await sumUp(io, world, folder, snapshot);
  io.stdout.write(`\nIt took ${span(performance.now() - startedAt)}.\n`);
  io.exitCode = good ? 0 : 1;
  if (!keep) return;
  io.stderr.write(
    `\nEverything runs on for a look: ${console.signInUrl}   ${temporalUrl ?? ''}   ${world.sandbox.url}   Ctrl-C ends it.\n`,
  );
  await untilAborted(leave);
}

interface Play {
  folder: DemoFolder;
  leave: AbortSignal;
  alone: boolean;
}

async function playCampaign(io: Io, world: LocalWorld, { folder, leave, alone }: Play): Promise<Snapshot> {
  const { config, store, connect } = world;
  const control = createControl({ config, store, now: () => io.now(), connect });
  const read = await readCampaign(await readCampaignFile(folder.campaignPath), io.now());
  const result = await startAloud(io, control, read, { check: true, allowPartial: false });
  io.stdout.write(tellStart(result));
  const view = createCampaignView(io, io.stdout, 'Ctrl-C stops it.');
  const clock = keepServiceClock(config.SVC_BASE_URL);
  return watchCampaign({ store, campaignId: folder.name, clock, fromSeq: 0, view, leave, alone });
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
  const met = new Set(world.sandbox.journal().flatMap(({ faults }) => faults));
  io.stdout.write(`\nFaults that the service was told to commit: ${[...met].join(', ')}\n`);
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
