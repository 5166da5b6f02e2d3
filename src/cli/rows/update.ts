import { extname } from 'node:path';
import { Command } from 'commander';
import { partsOf } from '../../ledger/parts.ts';
import { RowIndex } from '../../list/row-index.ts';
import type { ListRow } from '../../list/recipients.ts';
import { openUpload, type UploadFile } from '../../list/upload-file.ts';
import { refuseToOverwrite, writeWholeFile } from '../../results/whole-file.ts';
import { RecipientEditor } from '../../ledger/people/edit-recipients.ts';
import { EditRefusedError, refuseUnlessEditable } from '../../ledger/people/edit-refusal.ts';
import { readWaitingIds, withdrawRecipients } from '../../ledger/people/withdraw-recipients.ts';
import { tellUntold } from '../access/untold.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { withCampaign, type OpenCampaign } from '../../control/control.ts';
import { tellToLook } from '../../control/campaign-message.ts';
import { count, plural } from '../../input/figures.ts';
import { printable } from '../../input/printable.ts';
import { writeJson } from '../terminal/json-output.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { readClockOrReal } from '../../control/service.ts';
import { refuseForeignList } from './update-guard.ts';
import { reportLines, UpdateReport, type MissingRows, type UpdatedRow } from './update-report.ts';
import { updateRows } from './update-rows.ts';
import { UsageError } from '../../input/usage-error.ts';

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

const clockLimitMs = 3_000;

interface UpdateFlags {
  dryRun: boolean;
  add: boolean;
  restore: boolean;
  withdrawMissing: boolean;
  report?: string;
  delimiter?: string;
  sheet?: string;
  json: boolean;
  yes: boolean;
}

export function updateCommand(io: Io): Command {
  return new Command('update')
    .description('Add and correct rows of a running campaign')
    .argument('<campaign>', 'id of the campaign')
    .argument('<list>', 'CSV file or Excel workbook with the columns of the campaign')
    .option('--dry-run', 'show what would be done; change nothing', false)
    .option('--add', 'use the list even if it looks like the list of another campaign', false)
    .option('--restore', 'restore withdrawn rows', false)
    .option('--withdraw-missing', 'withdraw the rows that are missing from the list', false)
    .option('--report <file>', 'write a CSV file with one line per row of the list')
    .option('--delimiter <character>', 'column separator (default: detected)')
    .option('--sheet <name>', 'sheet of the workbook (default: the first)')
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
    throw new UsageError(
      '--withdraw-missing: Not a terminal, cannot ask for confirmation. Nothing was changed; run again with --yes.',
    );
  await withCampaign(io, campaignId, async (open) => {
    const { config, store, campaign } = open;
    const clock = await readClockOrReal(config, clockLimitMs, () => io.now());
    const now = () => Math.round(clock.now());
    refuseUnlessEditable(campaign, now());
    const { rules } = campaign;
    const { idColumn } = rules.list;
    if (idColumn === null) throw new EditRefusedError(explainMissingId(campaignId));
    const { delimiter, sheet } = flags;
    const upload = await openUpload({ path, rules, delimiter, sheet });
    for (const note of upload.notes) io.stderr.write(`List ${path}: ${note}.\n`);
    if (flags.report !== undefined) await refuseToOverwrite(flags.report, [path]);
    if (!flags.add) await refuseForeignList(store, campaign, upload);
    await update({ ...open, io, upload, idColumn, flags, now: now });
  });
}

interface Update extends OpenCampaign {
  io: Io;
  upload: UploadFile;
  idColumn: string;
  flags: UpdateFlags;
  /** Service time. */
  now: () => number;
}

async function update(work: Update): Promise<void> {
  const { io, store, campaign, flags, now } = work;
  const { campaignId } = campaign;
  const report = new UpdateReport();
  const listed = { ids: new RowIndex(), unreadable: 0 };
  const { dryRun } = flags;
  const progress = new RowProgress(io, dryRun ? 'looked at' : 'updated');
  const editor = new RecipientEditor(store, { campaignId, restore: flags.restore, dryRun });
  const rows = updateRows(noteIds(work.upload.read(), listed), editor, work.idColumn, now);
  try {
    const told = observe(rows, report, progress);
    if (flags.report === undefined) for await (const _ of told) continue;
    else await writeWholeFile(flags.report, reportLines(told));
  } catch (error) {
    if (!(error instanceof EditRefusedError) || dryRun) throw error;
    throw new EditRefusedError(
      `${error.message} Before that, ${plural(report.rows, 'row')} of the list had been done.`,
      error.remedy,
    );
  } finally {
    progress.clear();
  }
  const missing = flags.withdrawMissing ? await withdrawMissing(work, listed) : null;
  const noticed = dryRun || tellUntold(io, await tellToLook(work, campaignId));
  if (report.failed > 0 || !noticed) io.exitCode = 1;
  const warning = report.warning(campaignId);
  if (warning !== null) io.stderr.write(`Warning: ${printable(warning)}\n`);
  if (flags.json)
    return writeJson(io, { campaign: campaignId, list: work.upload.path, dryRun, ...report.asJson(), missing });
  const done = dryRun ? 'read, nothing was changed. It would be' : 'read';
  io.stdout.write(`Campaign ${campaignId}: ${plural(report.rows, 'row')} of ${work.upload.path} ${done}\n`);
  io.stdout.write(report.render(io));
  io.stdout.write(tellMissing(missing, dryRun));
}

/** The ids of the list, and how many of its rows have none that can be read. */
interface Listed {
  ids: RowIndex;
  unreadable: number;
}

async function* noteIds(chunks: AsyncIterable<ListRow[]>, listed: Listed): AsyncGenerator<ListRow[]> {
  for await (const rows of chunks) {
    for (const { row, externalId } of rows) {
      if (externalId === null) listed.unreadable += 1;
      else listed.ids.rowOf(externalId, row);
    }
    yield rows;
  }
}

async function* observe(
  parts: AsyncIterable<UpdatedRow[]>,
  report: UpdateReport,
  progress: RowProgress,
): AsyncGenerator<UpdatedRow[]> {
  for await (const rows of parts) {
    for (const row of rows) report.add(row);
    progress.update(report.rows);
    yield rows;
  }
}

const rowsPerPart = 500;

/** Takes out who still waits and is not in the list; nobody, while the list has rows of which the id is unknown. */
async function withdrawMissing(work: Update, { ids, unreadable }: Listed): Promise<MissingRows> {
  const { io, store, campaign, flags } = work;
  const { campaignId } = campaign;
  const missing: number[] = [];
  for await (const page of readWaitingIds(store.db, campaignId))
    missing.push(...page.filter(({ externalId }) => ids.rowOf(externalId) === null).map(({ row }) => row));
  const counts = { missing: missing.length, withdrawn: 0, callOpen: 0 };
  if (missing.length === 0) return counts;
  if (unreadable > 0) {
    io.stderr.write(
      `${plural(unreadable, 'row')} of the list ${unreadable === 1 ? 'has' : 'have'} no readable id, so nothing was withdrawn. Fix them and run the command again.\n`,
    );
    io.exitCode = 1;
    return counts;
  }
  const question = `Withdraw ${plural(missing.length, 'row')} of campaign ${campaignId} that the list does not have?`;
  if (!flags.dryRun && !(await mayBegin(io, flags.yes, question))) return counts;
  const options = { campaignId, note: 'no longer in the list', dryRun: flags.dryRun };
  const now = work.now();
  for (const rows of partsOf(missing, rowsPerPart))
    for (const { result } of await withdrawRecipients(store, { ...options, now }, { rows })) {
      if (result === 'withdrawn') counts.withdrawn += 1;
      if (result === 'call_open') counts.callOpen += 1;
    }
  return counts;
}

function tellMissing(missing: MissingRows | null, dryRun: boolean): string {
  if (missing === null)
    return '\nRows of the campaign that the list does not have were left alone; --withdraw-missing withdraws them.\n';
  const open = missing.callOpen === 0 ? '' : `; ${count(missing.callOpen)} more have a call planned or open`;
  const verb = dryRun ? 'would be withdrawn' : 'withdrawn';
  return `\n${plural(missing.withdrawn, 'row')} that the list does not have ${verb}${open}.\n`;
}

function explainMissingId(campaignId: string): string {
  return (
    `Campaign ${campaignId} has no id column (list.id), so rows of the list cannot be matched. ` +
    `carillon withdraw ${campaignId} --row withdraws rows by their number; for new or corrected rows start a campaign with list.id, under a new id.`
  );
}
