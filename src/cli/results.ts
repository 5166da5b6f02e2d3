import { createReadStream } from 'node:fs';
import { once } from 'node:events';
import { Command } from 'commander';
import { OutputFileError } from '../campaign/errors.ts';
import { resultsHeaderStart, writeResults } from '../campaign/results-file.ts';
import { refuseToOverwrite, writeWholeFile } from '../campaign/whole-file.ts';
import { readConfig } from '../config.ts';
import type { Campaign } from '../store/campaigns.ts';
import type { Store } from '../store/open-store.ts';
import { readResultKeys, readResults, type RecipientResult } from '../store/result-rows.ts';
import type { Io } from './io.ts';
import { openExistingLedger, requireCampaign } from './ledger-access.ts';
import { plural } from './printable.ts';
import { fetchTranscripts } from './transcripts.ts';
import { hasEnded } from './watch-campaign.ts';

const examples = `
One line per row of the list, in its order: the original columns, then outcome, reason, attempts, disposition, detail,
conversation_id, times, duration, audio, and a column for each collected value and each evaluation. While the campaign runs,
rows without an outcome read "in_progress". A file appears whole or not at all, and replaces only earlier results of the same
campaign.

Transcripts are not kept in the database: --transcripts reads them from the service, one file per conversation named
<row>-<conversation id>.txt. Files that are there already are not fetched again.

Examples:
  carillon results reminders                              writes reminders-results.csv
  carillon results reminders --output out/results.csv
  carillon results reminders --output - | head            to standard output
  carillon results reminders --json --output -            one JSON object per row
  carillon results reminders --transcripts transcripts/   and what was said`;

export interface ResultsOptions {
  campaignId: string;
  /** `-` for standard output; null for `<campaign>-results.csv` (or `.jsonl`) in the current folder. */
  output: string | null;
  transcripts: string | null;
  json: boolean;
}

export function resultsCommand(io: Io): Command {
  return new Command('results')
    .description('Write the results file: one line per row of the list')
    .argument('<campaign>', 'id of the campaign')
    .option('-o, --output <file>', 'where to write; - for standard output (default: <campaign>-results.csv)')
    .option('--transcripts <folder>', "write what was said, from the service's records")
    .option('--json', 'one JSON object per row instead of CSV', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, options: { output?: string; transcripts?: string; json: boolean }) => {
      const { output = null, transcripts = null, json } = options;
      await runResults(io, { campaignId, output, transcripts, json });
    });
}

export async function runResults(io: Io, options: ResultsOptions): Promise<void> {
  const config = readConfig(io.env);
  const store = await openExistingLedger(config);
  try {
    const campaign = await requireCampaign(store, options.campaignId);
    const path = options.output ?? `${campaign.campaignId}-results.${options.json ? 'jsonl' : 'csv'}`;
    if (path !== '-') await refuseOtherFile(path, campaign, options.json);
    const rows = options.json
      ? await writeJson(io, store, campaign, path)
      : await writeCampaignResults(io, store, campaign, path);
    const open = hasEnded(campaign) ? '' : ' The campaign is not at its end: rows without an outcome read in_progress.';
    if (path !== '-') io.stderr.write(`${plural(rows, 'row')} written to ${path}.${open}\n`);
    if (options.transcripts !== null)
      await fetchTranscripts(io, { config, store, campaign, folder: options.transcripts });
  } finally {
    await store.close();
  }
}

/** Writes the results as CSV to a file, or to standard output for `-`; answers the number of rows. Throws OutputFileError. */
export async function writeCampaignResults(
  io: Pick<Io, 'stdout'>,
  store: Store,
  campaign: Campaign,
  path: string,
): Promise<number> {
  const { collected, evaluation } = await readResultKeys(store.db, campaign.campaignId);
  return writeResults({
    columns: campaign.rules.list.columns,
    rows: readResults(store.db, campaign.campaignId),
    collectedKeys: collected,
    evaluationKeys: evaluation,
    path,
    listPath: null,
    stdout: io.stdout,
  });
}

async function writeJson(io: Io, store: Store, campaign: Campaign, path: string): Promise<number> {
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const row of readResults(store.db, campaign.campaignId)) {
      rows += 1;
      yield `${JSON.stringify(asJson(row, campaign.rules.list.columns))}\n`;
    }
  }
  if (path === '-') for await (const line of lines()) if (!io.stdout.write(line)) await once(io.stdout, 'drain');
  if (path !== '-') await writeWholeFile(path, lines());
  return rows;
}

function asJson({ row, cells, ...result }: RecipientResult, columns: readonly string[]): object {
  const iso = (instant: number | null): string | null => (instant === null ? null : new Date(instant).toISOString());
  return {
    row,
    // As pairs: a header may leave columns unnamed, and a malformed row may have too many cells.
    cells: cells.map((value, index) => [columns[index] ?? null, value]),
    ...result,
    firstDialedAt: iso(result.firstDialedAt),
    lastDialedAt: iso(result.lastDialedAt),
    endedAt: iso(result.endedAt),
  };
}

/** The database does not know where the list stands, so nothing is replaced but earlier results of the same form. */
async function refuseOtherFile(path: string, campaign: Campaign, json: boolean): Promise<void> {
  await refuseToOverwrite(path, []);
  const wanted = json ? '{"row":1,"cells":[' : resultsHeaderStart(campaign.rules.list.columns);
  const begin = await readBegin(path, Buffer.byteLength(wanted));
  if (begin === null || begin === '' || begin === wanted) return;
  throw new OutputFileError(
    path,
    `this file holds something else than results of ${campaign.campaignId}, perhaps its list, and will not be overwritten; name another file`,
    2,
  );
}

/** The first bytes of a file as text; null when there is none, or when writing will tell what is wrong. */
async function readBegin(path: string, bytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { end: bytes - 1 })) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString('utf8');
}
