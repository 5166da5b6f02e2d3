import { extname } from 'node:path';
import { Command } from 'commander';
import { requestReplan } from '../../../operations/control/campaign-message.ts';
import { withControl, type Control } from '../../../operations/control/control.ts';
import { UpdateCounts, type UpdateSummary, type UpdatedRow } from '../../../operations/control/update-rows.ts';
import {
  applyUpdate,
  findMissing,
  openUpdate,
  UnreadableIdsError,
  withdrawMissing,
  type ListUpdate,
} from '../../../operations/control/update.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { refuseToOverwrite, writeWholeFile } from '../../../presentation/results/whole-file.ts';
import { warnIfNotNotified, mayBegin, writeJson, RowProgress } from '../terminal/answer.ts';
import type { Io } from '../terminal/io.ts';
import { stringify } from 'csv-stringify/sync';
import { guardCell } from '../../../presentation/results/text.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';

const examples = `
Reads a corrected or extended list into a campaign that has not ended. Rows are matched by the column that list.id names in the
campaign file; the rules are those the campaign was started with. Each row of the file ends as one of

  accepted    a new id; added after the last row of the campaign
  corrected   a known id with other cells, another number or place; a rejected or undialable row waits to be called again
  unchanged   as it was
  failed      call_open: a call is planned or open, upload the row again later; already_ended: it has its outcome;
              withdrawn: --restore puts it back; duplicate_phone: another row has the number; or the fault in the row

A failed row leaves the campaign's row unchanged, including its old number. The command warns about such rows if they may still be
called. Rows that are missing from the file are left alone. Exit code 1 if a row failed; the other rows are changed. Repeating the
command is harmless.

Examples:
  carillon update reminders corrected.csv --dry-run
  carillon update reminders corrected.csv --report report.csv
  carillon update reminders more.csv --add`;

interface UpdateFlags {
  dryRun: boolean;
  add: boolean;
  restore: boolean;
  withdrawMissing: boolean;
  report?: string;
  delimiter?: string;
  sheet?: string;
  encoding?: string;
  json: boolean;
  yes: boolean;
}

export function updateCommand(io: Io): Command {
  return new Command('update')
    .argument('<campaign>', 'id of the campaign')
    .argument('<list>', 'CSV file or Excel workbook with the columns of the campaign')
    .option('--dry-run', 'show what would be done; change nothing', false)
    .option('--add', 'use the list even if it looks like the list of another campaign', false)
    .option('--restore', 'restore withdrawn rows', false)
    .option('--withdraw-missing', 'withdraw the rows that are missing from the list', false)
    .option('--report <file>', 'write a CSV file with one line per row of the list')
    .option('--delimiter <character>', 'column separator (default: detected)')
    .option('--sheet <name>', 'sheet of the workbook (default: the first)')
    .option('--encoding <name>', 'encoding of the CSV file (default: UTF-8, or that of the campaign)')
    .option('--json', 'print the counts as JSON', false)
    .option('-y, --yes', 'do not ask for confirmation before withdrawing rows', false)
    .addHelpText('after', examples)
    .action((campaignId: string, path: string, flags: UpdateFlags) => runUpdate(io, campaignId, path, flags));
}

async function runUpdate(io: Io, campaignId: string, path: string, flags: UpdateFlags): Promise<void> {
  if (['.yaml', '.yml'].includes(extname(path).toLowerCase())) {
    throw new UsageError(
      `${path} is a campaign file; name the list. The rules of a campaign that exists are frozen, so only its rows are updated.`,
    );
  }
  if (flags.withdrawMissing && !flags.yes && !flags.dryRun && !io.input.isInteractive)
    throw new UsageError('--withdraw-missing: Not a terminal, cannot ask for confirmation. Nothing was changed; run again with --yes.');
  await withControl(io, async (control) => {
    const { delimiter, sheet, encoding } = flags;
    const update = await openUpdate(control, { campaignId, path, delimiter, sheet, encoding });
    for (const note of update.upload.notes) io.stderr.write(`List ${path}: ${note}.\n`);
    if (flags.report !== undefined) await refuseToOverwrite(flags.report, [path]);
    const own = { log: campaignId, run: () => carryOut(io, control, { update, flags }) };
    await performHere(control, 'updateList', { params: { campaign: campaignId }, query: { dry_run: flags.dryRun } }, own);
  });
}

interface Work {
  update: ListUpdate;
  flags: UpdateFlags;
}

async function carryOut(io: Io, control: Control, work: Work): Promise<void> {
  const { update, flags } = work;
  const { campaignId } = update.campaign;
  const { dryRun, json } = flags;
  const { path } = update.upload;
  const counts = new UpdateCounts();
  const progress = new RowProgress(io, dryRun ? 'looked at' : 'updated');
  try {
    const updatedRows = observe(applyUpdate(control, update, flags), counts, progress);
    if (flags.report === undefined) for await (const _ of updatedRows) continue;
    else await writeWholeFile(flags.report, reportLines(updatedRows));
  } finally {
    progress.clear();
  }
  const missing = flags.withdrawMissing ? await withdrawOthers(io, control, work) : null;
  const isNotified = dryRun || warnIfNotNotified(io, campaignId, await requestReplan(control, campaignId));
  const summary = counts.summary();
  if (summary.failed > 0 || !isNotified) io.exitCode = 1;
  const warning = stillCalledWarning(campaignId, counts);
  if (warning !== null) io.stderr.write(`Warning: ${printable(warning)}\n`);
  if (json) return writeJson(io, { campaign: campaignId, list: path, dryRun, ...summary, missing });
  const done = dryRun ? 'read, nothing was changed. It would be' : 'read';
  io.stdout.write(`Campaign ${campaignId}: ${plural(summary.rows, 'row')} of ${path} ${done}\n`);
  io.stdout.write(renderUpdate(io, summary, counts.firstFailed));
  io.stdout.write(formatMissing(missing, dryRun));
}

async function* observe(parts: AsyncIterable<UpdatedRow[]>, counts: UpdateCounts, progress: RowProgress): AsyncGenerator<UpdatedRow[]> {
  for await (const rows of parts) {
    counts.add(rows);
    progress.update(counts.rows);
    yield rows;
  }
}

interface MissingRows {
  missing: number;
  withdrawn: number;
  withdrawing: number;
  callOpen: number;
}

/** Withdraws waiting rows that the list does not have. */
async function withdrawOthers(io: Io, control: Control, { update, flags }: Work): Promise<MissingRows> {
  const { dryRun } = flags;
  const missing = await findMissing(control, update);
  const counts = { missing: missing.length, withdrawn: 0, withdrawing: 0, callOpen: 0 };
  if (missing.length === 0) return counts;
  const { unreadable } = update.listed;
  if (unreadable > 0) {
    io.stderr.write(`${new UnreadableIdsError(unreadable).message}\n`);
    io.exitCode = 1;
    return counts;
  }
  const question = `Withdraw ${plural(missing.length, 'row')} of campaign ${update.campaign.campaignId} that the list does not have?`;
  if (!dryRun && !(await mayBegin(io, flags.yes, question))) return counts;
  return { ...counts, ...(await withdrawMissing(control, update, { missing, dryRun })) };
}

function formatMissing(missing: MissingRows | null, dryRun: boolean): string {
  if (missing === null) return '\nRows of the campaign that the list does not have were left alone; --withdraw-missing withdraws them.\n';
  const pendingText =
    missing.withdrawing === 0 ? '' : `; ${count(missing.withdrawing)} more have a call planned or open, which is asked back`;
  const open = missing.callOpen === 0 ? '' : `; ${count(missing.callOpen)} more have a call planned or open, and are left as they are`;
  const verb = dryRun ? 'would be withdrawn' : 'withdrawn';
  return `\n${plural(missing.withdrawn, 'row')} that the list does not have ${verb}${pendingText}${open}.\n`;
}

const meanings = [
  ['accepted', 'new, added after the last row'],
  ['corrected', 'changed, and back in line where it was not'],
  ['unchanged', 'as it was'],
  ['failed', 'left as it was, see below'],
] as const;

/** Recipients who may be called despite the upload; null: none. */
function stillCalledWarning(campaignId: string, counts: UpdateCounts): string | null {
  const { mayStillBeCalled } = counts.summary();
  if (mayStillBeCalled === 0) return null;
  const ids = counts.firstStillCalled.filter((id) => /^[\w.-]+$/.test(id));
  const named = ids.length < mayStillBeCalled ? '<ids>' : ids.join(',');
  return (
    `${plural(mayStillBeCalled, 'recipient')} whose rows failed may still be called at the old number. ` +
    `Fix the rows and run the command again, or withdraw them: carillon withdraw ${campaignId} --id ${named}`
  );
}

function renderUpdate(io: Pick<Io, 'stdout' | 'isTerminal'>, summary: UpdateSummary, firstFailed: readonly UpdatedRow[]): string {
  const lines = meanings.map(([result, meaning]) => `  ${result.padEnd(10)}${count(summary[result]).padStart(10)}  ${meaning}`);
  if (firstFailed.length === 0) return `${lines.join('\n')}\n`;
  const table = renderTable(
    [
      { title: 'Row', value: ({ row }: UpdatedRow) => String(row) },
      { title: 'Line', value: ({ line }) => String(line) },
      { title: 'Id', value: ({ id }) => id ?? '-' },
      { title: 'Code', value: ({ code }) => code ?? '' },
      { title: 'Why', value: ({ hint }) => hint ?? '', flexible: true },
    ],
    firstFailed,
    terminalWidth(io),
  );
  const more = summary.failed - firstFailed.length;
  const rest = more > 0 ? `… and ${plural(more, 'row')} more: --report <file.csv> writes them all.\n` : '';
  return `${lines.join('\n')}\n\n${table}${rest}`;
}

const columns = ['row', 'line', 'id', 'result', 'code', 'hint', { key: 'campaignRow', header: 'campaign_row' }];

async function* reportLines(parts: AsyncIterable<UpdatedRow[]>): AsyncGenerator<string> {
  yield stringify([], { columns, header: true });
  for await (const rows of parts) {
    const lines = rows.map((row) => ({ ...row, id: guardCell(row.id ?? ''), hint: guardCell(row.hint ?? '') }));
    yield stringify(lines, { columns });
  }
}
