import { formatConduct } from '../../../sandbox/judge/conduct-report.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { createControl } from '../../../operations/control/control.ts';
import { startAloud, formatStart } from '../start/start.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readCampaign } from '../../../campaign/preflight/import-list.ts';
import { pauseLines, renderOutcomes } from '../../../presentation/words/campaign.ts';
import { createCampaignView, watchCampaign, type Snapshot } from '../access/watch-campaign.ts';
import { commandOf, readFactor } from '../terminal/command.ts';
import { untilAborted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { calledOff, inLocalWorld, privateSettings, type LocalWorld, type LocalWorldInput } from '../access/local-world.ts';
import { plural, span } from '../../../shared/input/figures.ts';
import { writeCampaignResults } from '../results/results.ts';
import { noOpenHelp, withLocalConsole, type LocalConsole } from '../serve/serve.ts';
import type { FaultRuleInput } from '../../../sandbox/faults/rule.ts';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describeFileError, OutputFileError, codeOf } from '../../../shared/input/errors.ts';
import { writeExample } from '../../../shared/input/package-folder.ts';
import { answerComplaint, operate, storySandbox, writeStory } from './story.ts';

const defaultSpeed = 120;
const storySpeed = 300;

const examples = `
Runs a campaign of 300 rows, some of them bad, with retries, against a service that refuses requests, drops connections, answers
late and loses answers. Each kind of fault happens at least once. Needs no setup: Temporal, sandbox, database, worker
and the console to watch it on are started for the demo. All files go to a new folder demo-<time> in the current folder.

Exit code 0 if the campaign completed, every row has its outcome, and the sandbox found no misuse; otherwise 1, also when the
campaign pauses by itself: nobody is there to have it go on, unless --keep.

--story plays one real campaign instead (examples/recall): consent in the list, a pilot that finds too many opt-outs, a change of the agent,
people who are added meanwhile, calls back, two numbers with limits, a worker that is gone for 40 minutes, and an end when enough have said
yes. Then somebody complains, and gets the evidence of their calls. It takes about three minutes.

Examples:
  carillon demo
  carillon demo --story
  carillon demo --keep      keep the console, Temporal and the sandbox running until Ctrl-C`;

interface DemoFlags {
  keep: boolean;
  open: boolean;
  story: boolean;
  speed?: number;
}

export const demoCommand = commandOf<DemoFlags>({
  name: 'demo',
  flags: [
    ['--keep', 'keep everything running afterwards, until Ctrl-C', false],
    ['--no-open', noOpenHelp],
    ['--story', 'play one real campaign from its pilot to its goal', false],
    ['--speed <factor>', `service seconds per real second (default: ${defaultSpeed}, and ${storySpeed} with --story)`, readFactor],
  ],
  json: null,
  help: examples,
  run: runDemo,
});

/** Sets exit code 1 if anything went wrong. */
async function runDemo(io: Io, { keep, open, story, speed = story ? storySpeed : defaultSpeed }: DemoFlags): Promise<null> {
  const startedAt = performance.now();
  const folder = await createDemoFolder(io.now(), story);
  io.stdout.write(`A rehearsal in ${folder.folder}. Nothing real is called.\n`);
  const input: LocalWorldInput = {
    // The same calls each time; only the machine's speed varies.
    sandbox: story ? await storySandbox(folder.folder, speed) : { port: 0, speed, seed: 'demo', faults: [...demoFaults] },
    settings: privateSettings(folder.databasePath, demoLimits),
    logPath: folder.logPath,
    advice: `\nThe demo's files are in ${folder.folder}`,
  };
  const wasUp = await inLocalWorld(io, input, (world, leave) =>
    withLocalConsole(io, world, {
      port: 0,
      open,
      work: (console) => playDemo(io, { world, console, folder, startedAt, keep, story: story ? { speed } : null }, leave),
    }),
  );
  if (!wasUp) calledOff(io, 'everything was up');
  return null;
}

interface Demo {
  world: LocalWorld;
  console: LocalConsole;
  folder: DemoFolder;
  startedAt: number;
  keep: boolean;
  /** Null: the usual demo. */
  story: { speed: number } | null;
}

async function playDemo(io: Io, { world, console, folder, startedAt, keep, story }: Demo, leave: AbortSignal): Promise<void> {
  const temporalUrl = world.temporal.uiUrl;
  io.stdout.write(`Watch it: ${console.signInUrl}\nTemporal's UI: ${temporalUrl ?? 'none'}   Sandbox: ${world.sandbox.url}\n`);
  // With --keep an operator watches, and may fix on the page what paused the campaign.
  const snapshot = await playCampaign(io, world, { folder, leave, alone: !keep && story === null, story });
  if (!hasEnded(snapshot.campaign)) {
    const [why = ''] = leave.aborted ? [] : pauseLines(snapshot.campaign);
    io.stderr.write(`${why === '' ? '' : `\n${why}`}\nStopped before the campaign's end. Its files are in ${folder.folder}\n`);
    io.exitCode = 1;
    return;
  }
  const { config, store, connect } = world;
  const isAnswered =
    story === null ||
    (await answerComplaint(io, { world, folder: folder.folder, control: createControl({ config, store, now: () => io.now(), connect }) }));
  const good = (await sumUp(io, world, folder, snapshot)) && isAnswered;
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
  story: Demo['story'];
}

async function playCampaign(io: Io, world: LocalWorld, { folder, leave, alone, story }: Play): Promise<Snapshot> {
  const { config, store, connect } = world;
  const control = createControl({ config, store, now: () => io.now(), connect });
  const read = await readCampaign(await readCampaignFile(folder.campaignPath), io.now());
  const result = await startAloud(io, control, read, { check: true, allowPartial: story !== null });
  io.stdout.write(formatStart(result));
  const view = createCampaignView(io, io.stdout, 'Ctrl-C stops it.');
  const watched = watchCampaign({ config, store, campaignId: folder.campaignId, session: null, fromSeq: 0, view, leave, alone });
  if (story === null) return watched;
  const operator = { world, control, campaignId: folder.campaignId, folder: folder.folder, speed: story.speed, leave };
  const [snapshot] = await Promise.all([watched, operate(io, operator)]);
  return snapshot;
}

/** Returns true if all is as expected. */
async function sumUp(io: Io, world: LocalWorld, folder: DemoFolder, { campaign, status }: Snapshot): Promise<boolean> {
  io.stdout.write(renderOutcomes(campaign, status, io.colour));
  if (status.unresolved > 0) {
    io.stdout.write(
      `\n${plural(status.unresolved, 'row')} unresolved: a batch was sent, its answer was lost, and no record shows whether its people were called.\n` +
        'Carillon never repeats such a call by itself; carillon resolve lets a person decide.\n',
    );
  }
  const met = new Set(world.sandbox.journal().flatMap(({ faults }) => faults));
  if (met.size > 0) io.stdout.write(`\nFaults that the service was made to commit: ${[...met].join(', ')}\n`);
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

/** Longer than `demoLimits.SVC_HEADERS_TIMEOUT_MS`. */
const slowAnswerMs = 6_500;

/**
 * Each kind of fault at least once, at fixed requests. Three batches in doubt in a row pause a campaign, so good ones lie between: a busy
 * machine may lose further answers.
 */
const demoFaults: readonly FaultRuleInput[] = [
  { id: 'wait-seconds', operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 60 } },
  { id: 'error-before', operation: 'batch_calls', nth: 4, effect: { type: 'error', status: 500, when: 'before' } },
  {
    id: 'wait-date',
    operation: 'batch_calls',
    nth: 6,
    effect: { type: 'rate_limited', retryAfter: 'date', seconds: 60 },
  },
  { id: 'error-after', operation: 'batch_calls', nth: 8, effect: { type: 'error', status: 500, when: 'after' } },
  { id: 'wait-unsaid', operation: 'batch_calls', nth: 10, effect: { type: 'rate_limited', retryAfter: 'none' } },
  { id: 'reset-before', operation: 'batch_calls', nth: 12, effect: { type: 'reset', when: 'before' } },
  { id: 'partial', operation: 'batch_calls', nth: 14, effect: { type: 'partial', accept: 2 } },
  { id: 'reset-after', operation: 'batch_calls', nth: 16, effect: { type: 'reset', when: 'after' } },
  { id: 'list-lag', operation: 'batch_calls', nth: 18, effect: { type: 'hide', ms: 180_000 } },
  { id: 'slow', operation: 'batch_calls', nth: 20, effect: { type: 'delay', ms: slowAnswerMs, work: 'first' } },
  { id: 'truncated', operation: 'batch_calls', nth: 24, effect: { type: 'truncate' } },
  {
    id: 'list-error',
    operation: 'list_conversations',
    nth: 40,
    effect: { type: 'error', status: 503, when: 'before' },
  },
];

/** Real time: short, because two demo hours pass in a minute, yet long enough for a slow process. */
const demoLimits = {
  SVC_CONNECT_TIMEOUT_MS: '2000',
  SVC_HEADERS_TIMEOUT_MS: '5000',
  SVC_BODY_TIMEOUT_MS: '3000',
  SVC_READS_PER_SECOND: '200',
  CARILLON_POSTING_WINDOW_MS: '3000',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '15000',
  CARILLON_SUBMITS_PER_SECOND: '50',
};

interface DemoFolder {
  campaignId: string;
  folder: string;
  campaignPath: string;
  databasePath: string;
  logPath: string;
  resultsPath: string;
}

const mostTries = 100;

/** In the current folder. Throws OutputFileError. */
async function createDemoFolder(nowMs: number, story: boolean): Promise<DemoFolder> {
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const name = await makeFreshFolder(`demo-${stamp}`);
  const folder = resolve(name);
  const campaignPath = story ? await writeStory(folder) : await writeExample(folder, name);
  return {
    campaignId: story ? 'recall' : name,
    folder,
    campaignPath,
    databasePath: join(folder, 'carillon.db'),
    logPath: join(folder, 'worker.log'),
    resultsPath: join(folder, 'results.csv'),
  };
}

async function makeFreshFolder(preferredName: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const name = tries === 1 ? preferredName : `${preferredName}-${tries}`;
    try {
      await mkdir(resolve(name));
      return name;
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && tries < mostTries) continue;
      throw new OutputFileError(resolve(name), `the folder was not made: ${describeFileError(error)}`, {
        cause: error,
      });
    }
  }
}
