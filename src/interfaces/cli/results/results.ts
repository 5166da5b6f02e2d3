import { jsonText } from '../../../shared/input/printable.ts';
import { writeResults, type WriteResultsInput, type ResultsFormat, resultsSheet } from '../../../presentation/results/file.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { lastChange, readReasons, readResultColumns, readResults, type ResultFilter } from '../../../ledger/read/result-rows.ts';
import type { Io } from '../terminal/io.ts';
import { withCampaign, type OpenCampaign, connected } from '../../../operations/control/control.ts';
import { plural } from '../../../shared/input/figures.ts';
import { readResultsFlags, type ResultsFlags, type ResultsOptions } from './flags.ts';
import { commandOf } from '../terminal/command.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import { RowProgress } from '../terminal/answer.ts';
import { readClockOrReal } from '../../../operations/control/service.ts';
import { fetchTranscripts } from './transcripts.ts';
import { foreseen, UsageError } from '../../../shared/input/errors.ts';
import { createCampaignView, watchCampaign, type Snapshot } from '../access/watch-campaign.ts';
import { stringify } from 'csv-stringify/sync';
import { resultsHeaderStart } from '../../../presentation/results/columns.ts';
import { refuseOtherFile } from '../../../presentation/results/whole-file.ts';
import { byteOrderMark, guardListCell } from '../../../presentation/results/text.ts';
import { workbooks } from '../../../list/format/xlsx/workbook-reader.ts';
import type { Store } from '../../../ledger/tx.ts';

const examples = `
Writes one line per row, in list order: the original columns, then outcome, reason, attempts, disposition, detail, conversation_id,
times, duration, audio, result where the campaign has results:, and one column per collected value and evaluation. While the campaign runs, rows without an outcome show
"in_progress". The file is written completely or not at all, and replaces only earlier results of the same campaign in the same format.

For Excel use .xlsx, in which nothing can run as a formula. In CSV, added cells are made safe and the list's own cells are unchanged;
if the file is meant for a spreadsheet, add --safe-cells and --bom.

--outcome, --disposition (of the latest call), --reason and --result accept comma-separated names; a row must match every filter. --since keeps
rows that changed since a time on the service's clock. Every run with --since, and every run before the end of the campaign, prints
where the next --since should begin. A job that continues there misses no change, and may see one twice.

Transcripts are not kept in the database. --transcripts reads them from the service for all rows and writes one file per conversation,
<row>-<conversation id>.txt. Existing files are not fetched again.

Exit code 0 if the results were written; 1 if they could not be written, or you left with Ctrl-C; 2 for an invalid flag or file.

Examples:
  carillon results reminders                                 writes reminders-results.csv
  carillon results reminders --output out/results.xlsx       an Excel workbook
  carillon results reminders --output - | head               to standard output
  carillon results reminders --outcome exhausted,unresolved  only these rows, to reminders-results-part.csv
  carillon results reminders --since 2h --output new.jsonl   what changed in the last two hours, one JSON object per row
  carillon results reminders --json -o r.csv                 CSV, and a summary with nextSinceAt as JSON on standard output
  carillon results reminders --wait                          waits until the campaign has ended
  carillon results reminders --transcripts transcripts/      also writes transcripts`;

export const resultsCommand = commandOf<ResultsFlags>({
  name: 'results',
  argument: ['<campaign>', 'id of the campaign'],
  flags: [
    ['-o, --output <file>', 'output file; - for standard output (default: <campaign>-results.csv)'],
    ['--format <format>', 'csv, jsonl or xlsx (default: by file name, otherwise csv)'],
    ['--safe-cells', "CSV: prefix cells that a spreadsheet would run with an apostrophe, also in the list's columns", false],
    ['--bom', 'CSV: begin with a byte order mark, so that Excel reads accented letters', false],
    ['--outcome <names>', 'only rows with one of these comma-separated outcomes; in_progress for none yet'],
    ['--disposition <names>', 'only rows whose latest call has one of these comma-separated dispositions'],
    ['--reason <names>', 'only rows with one of these comma-separated reasons'],
    ['--result <names>', 'only rows whose last talk came to one of these comma-separated results (results: in the campaign file)'],
    ['--since <when>', 'only rows that changed since a time with UTC offset, or within a duration such as 2h'],
    ['--wait', 'wait until the campaign has ended, then write', false],
    ['--transcripts <folder>', "write transcripts, read from the service's records"],
  ],
  json: 'print a summary as JSON; rows are JSON Lines unless --format or the file name says otherwise',
  help: examples,
  run: async (io, flags, campaignId) => {
    await runResults(io, campaignId, readResultsFlags(flags));
    return null;
  },
});

class ResultsLeftError extends foreseen('ResultsLeftError', false) {}

async function runResults(io: Io, campaignId: string, options: ResultsOptions): Promise<void> {
  await withCampaign(io, campaignId, async (open) => {
    const path = options.output ?? defaultPath(campaignId, options);
    const { format } = options;
    const what = `result file of ${campaignId} as ${format}`;
    const isEarlier = (begin: string) => holdsResults(path, begin, open.campaign, format);
    if (path !== '-') await refuseOtherFile(path, { what, isEarlier });
    if (path === '-' && format === 'xlsx' && io.isTerminal) {
      throw new UsageError('A workbook cannot be shown on a terminal. Name a file: --output results.xlsx');
    }
    await leavable(io, path, async (leave) => {
      const campaign = options.wait ? await waitUntilEnded(io, open, leave) : open.campaign;
      await writeAndReport(io, { ...open, campaign }, { options, path, leave });
    });
    if (options.transcripts !== null) await fetchTranscripts(io, open, options.transcripts);
  });
}

function defaultPath(campaignId: string, { format, filter, since }: ResultsOptions): string {
  const isPart = since !== null || Object.values(filter).some((names) => names !== undefined);
  return `${campaignId}-results${isPart ? '-part' : ''}.${format}`;
}

/** Ctrl-C leaves no half-written file. Output to a pipe keeps the system's default. */
async function leavable(io: Io, path: string, work: (leave: AbortSignal) => Promise<void>): Promise<void> {
  if (path === '-') await work(new AbortController().signal);
  else await untilInterrupted(io, ({ signal }) => work(signal));
}

async function waitUntilEnded(io: Io, open: OpenCampaign, leave: AbortSignal): Promise<Campaign> {
  const { campaign } = await waitForEnd(io, open, leave);
  if (hasEnded(campaign)) return campaign;
  const { campaignId: id } = campaign;
  throw new ResultsLeftError(
    `You left; campaign ${id} continues while a worker is running, and no results were written. Wait again: carillon results ${id} --wait`,
  );
}

const clockLimitMs = 3_000;

async function writeAndReport(
  io: Io,
  { config, store, campaign }: OpenCampaign,
  { options, path, leave }: { options: ResultsOptions; path: string; leave: AbortSignal },
): Promise<void> {
  const { campaignId } = campaign;
  const { since, format, csv } = options;
  const clock = await readClockOrReal(config, clockLimitMs, () => io.now());
  const changedSince = since === null ? undefined : 'at' in since ? since.at : Math.round(clock.now() - since.agoMs);
  await warnUnknownReasons(io, store, campaignId, options.filter.reasons);
  // Read first: changes made while the rows are read belong to the next delta.
  const next = nextSince({ lastChange: await lastChange(store.db, campaignId), now: clock.now(), speed: clock.speed });
  const progress = new RowProgress(io, 'written');
  const onRow = (count: number): void => {
    progress.update(count);
    if (leave.aborted) throw new ResultsLeftError('You left before the results were written; nothing was changed.');
  };
  const filter = { ...options.filter, changedSince };
  const rows = await writeCampaignResults(io, store, campaign, path, { format, csv, filter, onRow }).finally(() => progress.clear());
  const ended = hasEnded(campaign);
  const open = ended ? '' : ' The campaign has not ended: rows without an outcome read in_progress.';
  if (path !== '-') io.stderr.write(`${plural(rows, 'row')} written to ${path}.${open}\n`);
  const nextSinceAt = next === null ? null : new Date(next).toISOString();
  if (options.json && path !== '-') io.stdout.write(`${jsonText({ campaignId, path, format, rows, ended, nextSinceAt })}\n`);
  const shouldShowNext = since !== null || (!ended && path !== '-');
  if (shouldShowNext && nextSinceAt !== null) io.stderr.write(`Changes from here on: --since ${nextSinceAt}\n`);
}

/** A reason that no row has is no error: a job that filters by it finds nothing today. */
async function warnUnknownReasons(io: Io, store: Store, campaignId: string, reasons: readonly string[] | undefined): Promise<void> {
  if (reasons === undefined) return;
  const known = await readReasons(store.db, campaignId);
  const unknown = reasons.filter((reason) => !known.includes(reason));
  if (unknown.length === 0) return;
  const have = known.length === 0 ? 'none has a reason yet' : `they have ${known.join(', ')}`;
  io.stderr.write(`No row of ${campaignId} has the reason ${unknown.join(' or ')}: ${have}.\n`);
}

/** `-`: standard output. Returns the number of rows. Throws OutputFileError. */
export async function writeCampaignResults(
  io: Pick<Io, 'stdout'>,
  store: Store,
  campaign: Campaign,
  path: string,
  { filter = {}, ...settings }: WritingChoices = {},
): Promise<number> {
  return writeResults({
    ...(await readResultColumns(store.db, campaign)),
    rows: readResults(store.db, campaign.campaignId, filter),
    path,
    stdout: io.stdout,
    ...settings,
  });
}

interface WritingChoices extends Pick<WriteResultsInput, 'format' | 'csv' | 'onRow'> {
  /** Default: all rows. */
  filter?: ResultFilter;
}

/** A change has the time at which its activity began, and commits within this much real time. */
const commitWithinMs = 2 * 60_000;

/** Start of the next delta, early enough to include late commits. Null without any change. */
export function nextSince({
  lastChange,
  now,
  speed,
}: {
  /** Service time of the latest change seen before the rows were read. */
  lastChange: number | null;
  /** Service time. */
  now: number;
  /** Service milliseconds per real one. */
  speed: number;
}): number | null {
  if (lastChange === null) return null;
  const overlapMs = commitWithinMs * speed;
  return Math.round(now - lastChange > overlapMs ? lastChange + 1 : Math.min(now, lastChange) - overlapMs);
}

const temporalLimitMs = 2_000;

/** On standard error, until it ends or the user leaves; returns the last snapshot. */
async function waitForEnd(io: Io, open: OpenCampaign, leave: AbortSignal): Promise<Snapshot> {
  const { config, store, campaign } = open;
  const session = await connected(open, temporalLimitMs).catch(() => null);
  const isTerminal = (io.stderr as { isTTY?: boolean }).isTTY === true;
  const view = createCampaignView({ ...io, isTerminal }, io.stderr, 'Press Ctrl-C to leave; the campaign continues.');
  return watchCampaign({ config, store, campaignId: campaign.campaignId, session, fromSeq: null, view, leave });
}

/** Any other file, perhaps the campaign's list, is not replaced. */
async function holdsResults(path: string, begin: string, { rules }: Campaign, format: ResultsFormat): Promise<boolean> {
  const header = resultsHeaderStart(rules.list.columns);
  switch (format) {
    case 'csv': {
      const found = Buffer.from(begin, 'latin1').toString('utf8').replace(byteOrderMark, '');
      return [header, header.map(guardListCell)].some((cells) => found.startsWith(stringify([cells]).trimEnd()));
    }
    case 'jsonl':
      return /^\{"row":\d+,"cells":[[{]/.test(begin);
    case 'xlsx': {
      const cells = await readFirstCells(path);
      return header.every((name, index) => cells[index] === name);
    }
  }
}

/** First row of the results sheet; empty for any other file. */
async function readFirstCells(path: string): Promise<string[]> {
  try {
    const layout = { kind: 'sheet', sheet: resultsSheet, width: 0, recordsAbove: 0 } as const;
    for await (const records of workbooks.read(path, layout, 1)) return records[0]?.cells ?? [];
  } catch {
    return [];
  }
  return [];
}
