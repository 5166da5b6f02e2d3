import { Command } from 'commander';
import { campaignRules, readCampaignFile, refuseEndedCampaign, type CampaignFile } from '../campaign/campaign-file.ts';
import { CampaignFileError } from '../campaign/errors.ts';
import { readHeader } from '../campaign/list-header.ts';
import { Preflight, type PreflightReport } from '../campaign/preflight.ts';
import { readRecipients, type ListRow } from '../campaign/recipients.ts';
import { refuseToOverwrite, writeWholeFile } from '../campaign/whole-file.ts';
import { renderPreflight } from './preflight-text.ts';
import { RowProgress } from './row-progress.ts';

export interface CheckIo {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  /** Epoch milliseconds. */
  now: () => number;
}

export interface CheckOptions {
  campaignPath: string;
  json: boolean;
  /** Where one JSON line per data row goes; null for nowhere. */
  rowsPath: string | null;
}

/** `carillon check`: says what a campaign would do. Needs no network, no database and no service. */
export function checkCommand(io: CheckIo = { stdout: process.stdout, stderr: process.stderr, now: Date.now }): Command {
  return new Command('check')
    .description('Check a campaign file and its list without placing a call')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--json', 'print the report as JSON', false)
    .option('--rows <file>', 'write one JSON line per data row: row, verdict, reason, e164, zones')
    .addHelpText(
      'after',
      '\nExit code 0 when the campaign can start (bad rows are kept and reported), 2 when it cannot.\n\nExample:\n  carillon check examples/reminders/campaign.yaml --rows rows.jsonl',
    )
    .action(async (campaignPath: string, options: { json: boolean; rows?: string }) => {
      await runCheck(io, { campaignPath, json: options.json, rowsPath: options.rows ?? null });
    });
}

/**
 * Reads everything a start would read and prints what it found.
 * @throws CampaignFileError or ListFileError (both exit 2) when the campaign cannot start, after the report if there is one.
 */
export async function runCheck(io: CheckIo, options: CheckOptions): Promise<PreflightReport> {
  const file = await readCampaignFile(options.campaignPath);
  refuseEndedCampaign(file, io.now());
  if (options.rowsPath !== null) await refuseToOverwrite(options.rowsPath, [file.path, file.listPath]);
  const header = await readHeader(file);
  const rules = campaignRules(file, header.columns, io.now());
  const preflight = new Preflight(rules, io.now());
  const rows = observe(readRecipients(file, header, rules), preflight, new RowProgress(io));
  if (options.rowsPath === null) {
    for await (const _ of rows) continue;
  } else {
    await writeWholeFile(options.rowsPath, renderRows(rows));
  }
  const report = preflight.report();
  io.stdout.write(
    options.json
      ? `${JSON.stringify(asJson(file, report, header.notes), null, 2)}\n`
      : renderPreflight(file, report, header.notes),
  );
  refuseEmptyCampaign(file, report);
  return report;
}

async function* observe(
  chunks: AsyncIterable<ListRow[]>,
  preflight: Preflight,
  progress: RowProgress,
): AsyncGenerator<ListRow[]> {
  let count = 0;
  try {
    for await (const rows of chunks) {
      preflight.add(rows);
      count += rows.length;
      progress.update(count);
      yield rows;
    }
  } finally {
    progress.clear();
  }
}

async function* renderRows(chunks: AsyncIterable<ListRow[]>): AsyncGenerator<string> {
  for await (const rows of chunks) {
    const lines = rows.map((row) => {
      const reason = row.verdict === 'rejected' ? row.reason : null;
      return JSON.stringify({ row: row.row, verdict: row.verdict, reason, e164: row.e164, zones: row.zones });
    });
    yield `${lines.join('\n')}\n`;
  }
}

function asJson(file: CampaignFile, report: PreflightReport, listNotes: readonly string[]): object {
  const campaign = { id: file.id, name: file.name, path: file.path, hash: file.hash, list: file.listPath, listNotes };
  return { startable: report.accepted > 0, campaign, ...report };
}

function refuseEmptyCampaign(file: CampaignFile, report: PreflightReport): void {
  if (report.accepted > 0) return;
  const message = `none of the ${String(report.rows)} rows of ${file.settings.list.file} can be dialled; mend the rows as told above`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['list']), path: 'list', message }]);
}
