import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { readCampaignFile, refuseEndedCampaign } from '../../../campaign/file/file.ts';
import { parseDuration } from '../../../shared/input/times.ts';
import { FictionalNumbers } from '../../../list/fictional-numbers.ts';
import { dialsFrom } from '../../../rules/lifecycle.ts';
import { withAccountRules } from '../../../rules/house-rules.ts';
import { readConfig } from '../../../shared/config.ts';
import { listAccountRulesVersions, storeAccountRules, type AccountRulesVersion } from '../../../ledger/limits/house.ts';
import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { describeFailure } from '../terminal/failure.ts';
import { startCampaign } from '../../../temporal/start-campaign.ts';
import { verifyLog } from '../../../verify/log.ts';
import { findCampaign } from '../../../ledger/rows/campaigns.ts';
import { sendUpdate, type SteeringCommand } from '../../../operations/control/campaign-message.ts';
import { importList, readCampaign, type ReadCampaign } from '../../../campaign/preflight/import-list.ts';
import type { ListRow } from '../../../list/recipients.ts';
import { Preflight } from '../../../campaign/preflight/preflight.ts';
import { commandOf, readFactor, readPositive } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import { RowProgress, writeAnswer } from '../terminal/answer.ts';
import { calledOff, inLocalWorld, type LocalWorld } from '../access/local-world.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { followRehearsal, type PlannedPause } from './follow.ts';
import { countRows, drawRehearsedRows, type RehearsedRows } from './list.ts';
import { findFaults, rehearsalJson, renderRehearsal, type Rehearsal } from './report.ts';
import { readTimeline } from './timeline.ts';
import { createRehearsalFolder, furnish, rehearsalRules, rehearsalWorld, type RehearsalSettings } from './world.ts';
import { writeCampaignResults } from '../results/results.ts';
import { accountIdOf } from '../../../operations/control/service.ts';
import { UsageError } from '../../../shared/input/errors.ts';

const defaultSpeed = 600;
const updateLimitMs = 20_000;

const examples = `
Runs the campaign on a private sandbox whose callees are drawn at random, with a private Temporal server, database and worker.
SVC_BASE_URL, DATABASE_URL, TEMPORAL_ADDRESS and similar settings are ignored. The real service is never contacted, and the real
do-not-call list is not read. Every number is replaced by a fictional one before anything is stored; calling hours, holidays and
law follow the real number.

The report shows outcomes, the forecast of carillon check next to the actual course, a timeline, the result of carillon verify, and
the sandbox's report on its client. Exit code 0 if the campaign completed and both checks passed, otherwise 1.

Examples:
  carillon rehearse reminders.yaml
  carillon rehearse reminders.yaml --start-at 2030-03-08T14:00:00Z    across a daylight-saving change
  carillon rehearse reminders.yaml --rows 200 --pause-after 20h --pause-for 3h
  carillon rehearse reminders.yaml --json > rehearsal.json`;

interface RehearseFlags {
  speed: number;
  startAt?: number;
  rows?: number;
  seed: string;
  dialect: 'spec' | 'extended';
  pauseAfter?: number;
  pauseFor?: number;
  keep?: string;
}

export const rehearseCommand = commandOf<RehearseFlags>({
  name: 'rehearse',
  argument: ['<campaign.yaml>', 'campaign file'],
  flags: [
    ['--speed <factor>', 'service seconds per real second', readFactor, defaultSpeed],
    ['--start-at <instant>', 'start of the campaign, such as 2030-01-15T14:00:00Z (default: now, or starts_at)', readInstant],
    ['--rows <number>', 'rehearse a sample of this many rows (default: all)', readPositive('Write a whole number above 0.')],
    ['--seed <text>', 'decides who picks up and which rows are sampled', 'carillon'],
    new Option('--dialect <name>', 'which fields the service returns about calls').choices(['spec', 'extended']).default('extended'),
    ['--pause-after <duration>', 'pause the campaign this long after its start, such as 20h', readSpan],
    ['--pause-for <duration>', 'with --pause-after: resume after this long (default: 1h)', readSpan],
    ['--keep <folder>', 'keep database, log and results in this new folder (default: delete them)'],
  ],
  json: 'print the report as one JSON object',
  help: examples,
  run: rehearse,
});

/** Sets exit code 1 if anything went wrong. */
async function rehearse(io: Io, flags: RehearseFlags & { json: boolean }, path: string): Promise<null> {
  if (flags.pauseFor !== undefined && flags.pauseAfter === undefined)
    throw new UsageError('--pause-for says how long a pause lasts: say with --pause-after when it begins, such as 20h.');
  const beganAt = performance.now();
  const read = await readCampaign(await readCampaignFile(path), flags.startAt ?? io.now());
  const startAt = flags.startAt ?? dialsFrom(read.rules, io.now());
  refuseEndedCampaign(read.file, startAt);
  const settings: RehearsalSettings = { speed: flags.speed, startAt, seed: flags.seed, dialect: flags.dialect };
  const numbers = new FictionalNumbers(settings.seed);
  const counting = new RowProgress(io, 'counted');
  const rows = await countRows(read, flags.rows ?? null, numbers.capacity, (seen) => counting.update(seen));
  counting.clear();
  const { rules, notes } = rehearsalRules(read.rules, settings.speed);
  for (const note of read.header.notes) io.stderr.write(`List ${read.file.settings.list.file}: ${note}.\n`);
  io.stderr.write(`${announcement(read, rows, numbers.capacity)}\n`);
  const rulesVersion = await readAccountRules(io);
  const folder = await createRehearsalFolder(flags.keep ?? null);
  try {
    const wasUp = await inLocalWorld(io, rehearsalWorld(folder, settings, rules), async (world, leave) => {
      const { store, sandbox } = world;
      await furnish(sandbox.url, rules, settings.startAt);
      if (rulesVersion?.rules != null)
        await storeAccountRules(store, { ...rulesVersion, rules: rulesVersion.rules, now: settings.startAt });
      const preflight = new Preflight(withAccountRules(rules, rulesVersion?.rules ?? null), settings.startAt);
      const input = { read: { ...read, rules }, rows, numbers, settings, preflight, pause: pauseOf(flags) };
      const ended = await play(io, world, input, leave);
      if (leave.aborted) return calledOff(io, 'the end of the campaign');
      const rehearsal: Rehearsal = {
        ...ended,
        settings,
        rows,
        notes,
        timeline: await readTimeline(store.db, read.file.id, sandbox.clock.now()),
        forecast: preflight.outlook().forecast,
        verify: await verifyLog(store.db, null),
        conduct: sandbox.conduct(),
        tookRealMs: performance.now() - beganAt,
      };
      if (flags.keep !== undefined) await writeCampaignResults(io, store, ended.campaign, `${folder.folder}/results.csv`);
      printReport(io, rehearsal, flags);
    });
    if (!wasUp) calledOff(io, 'everything was up');
    return null;
  } finally {
    await folder.tidy();
  }
}

/** Account rules of the configured database, if any: they would apply there too. */
async function readAccountRules(io: Io): Promise<AccountRulesVersion | undefined> {
  const config = readConfig(io.env);
  if (config.DATABASE_URL === undefined && !existsSync(config.CARILLON_DB)) return undefined;
  try {
    const store = await openExistingLedger(config);
    try {
      return (await listAccountRulesVersions(store.db))[0];
    } finally {
      await store.close();
    }
  } catch (error) {
    io.stderr.write(`Rehearsed without house rules, since the database cannot be read: ${describeFailure(error, false).message}\n`);
    return undefined;
  }
}

function announcement({ file }: ReadCampaign, { inList, rehearsed }: RehearsedRows, capacity: number): string {
  const why = rehearsed === capacity ? `; there are no more fictional numbers` : '';
  const sample = rehearsed === inList ? '' : ` of ${count(inList)}, a sample that the seed decides${why}`;
  return `A rehearsal of ${file.id} with ${plural(rehearsed, 'row')}${sample}. Nothing real is called: sandbox, Temporal, database and worker are its own.`;
}

interface Play {
  read: ReadCampaign;
  rows: RehearsedRows;
  numbers: FictionalNumbers;
  settings: RehearsalSettings;
  preflight: Preflight;
  pause: PlannedPause | null;
}

async function play(io: Io, { config, store, sandbox, connect }: LocalWorld, input: Play, leave: AbortSignal) {
  const { read, rows, numbers, settings, preflight, pause } = input;
  const access = await connect();
  const now = (): number => Math.round(sandbox.clock.now());
  const progress = new RowProgress(io, 'read');
  const draw = drawRehearsedRows(read, rows, { numbers, seed: settings.seed });
  let seen = 0;
  let taken = 0;
  const select = (chunk: ListRow[]): ListRow[] => {
    progress.update((seen += chunk.length));
    const drawn = draw(chunk);
    // The preflight names rows as the list does; a campaign has rows without gaps.
    preflight.add(drawn, null);
    return drawn.map((row) => ({ ...row, row: (taken += 1) }));
  };
  const beginning = { now: settings.startAt, allowPartial: true, accountId: accountIdOf(config), api: config.SVC_API };
  const warnings = await importList({ store, read, ...beginning, select }).finally(() => progress.clear());
  for (const warning of warnings) io.stderr.write(`Warning: ${warning}.\n`);
  await sandbox.advance(Math.max(0, settings.startAt - now()));
  await startCampaign({ config, store, client: access.client, now: now() }, read.file.id);
  const sendCommand = async (command: SteeringCommand | 'look'): Promise<void> => {
    const campaign = await findCampaign(store.db, read.file.id);
    if (campaign === undefined) return;
    await sendUpdate({ config, store, temporal: access }, { campaign, wish: command, limitMs: updateLimitMs });
  };
  const moveTo = async (instant: number): Promise<void> => {
    await sandbox.advance(Math.max(0, instant - now()));
    // Fails if the campaign has just ended.
    await sendCommand('look').catch(() => {});
  };
  return followRehearsal(io, { store, campaignId: read.file.id, now, pause, tell: sendCommand, moveTo, leave });
}

function printReport(io: Io, rehearsal: Rehearsal, flags: RehearseFlags & { json: boolean }): void {
  const faults = findFaults(rehearsal);
  writeAnswer(io, flags.json, { data: rehearsalJson(rehearsal), words: renderRehearsal(rehearsal, io.colour) });
  if (flags.keep !== undefined) io.stderr.write(`Database, log and results are kept in ${flags.keep}\n`);
  if (faults.length > 0) io.stderr.write(`\nNot as it should be: ${faults.join('; ')}.\n`);
  io.exitCode = faults.length === 0 ? 0 : 1;
}

function pauseOf({ pauseAfter, pauseFor }: RehearseFlags): PlannedPause | null {
  return pauseAfter === undefined ? null : { afterMs: pauseAfter, forMs: pauseFor ?? 3_600_000 };
}

function readInstant(text: string): number {
  const instant = /T\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(instant)) return instant;
  throw new InvalidArgumentError('Write a date and time with its offset from UTC, such as 2030-01-15T14:00:00Z.');
}

function readSpan(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new InvalidArgumentError('Write a duration such as 90s, 30m, 20h or 2d.');
}
