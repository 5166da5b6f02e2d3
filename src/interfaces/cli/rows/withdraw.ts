import { InvalidArgumentError } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { requireWithdrawable, type NamedRows } from '../../../operations/control/rows.ts';
import { requireEncoding } from '../../../operations/control/update.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import type { RunAnswer } from '../../../operations/runs/perform.ts';
import { withdrawNamed } from '../../../operations/runs/rows.ts';
import { plural } from '../../../shared/input/figures.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { mayBegin, warnIfNotNotified } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';

const examples = `
Removes rows from a campaign that has not ended. Waiting recipients are not called and end as cancelled, reason withdrawn; rows with an
outcome keep it. Nobody is added to the do-not-call list (use carillon suppress). carillon update --restore restores withdrawn rows.

A row with a planned or open call: where the service can give calls back (SVC_API=batch-calling, campaigns), the call is asked back
(withdrawing). If it has not rung, the row ends as withdrawn; if it has, the row ends with that call. It is not called again either way.
With SVC_API=contract nothing can be taken back: the call continues, and the row is left as it is (call_open).

Exit code 1 if a named row does not exist, or is left as it is because of a planned or open call.

Examples:
  carillon withdraw reminders --id A17,A18 --reason "moved away"
  carillon withdraw reminders --row 3,4 --yes
  carillon withdraw reminders --file gone.csv`;

interface RowFlags {
  id?: string[];
  row?: number[];
  file?: string;
  encoding?: string;
}

export const withdrawCommand = commandOf<RowFlags & { reason?: string; dryRun: boolean }>({
  name: 'withdraw',
  argument: ['<campaign>', 'id of the campaign'],
  flags: [
    ['--id <ids>', 'comma-separated ids of the rows', readNames],
    ['--row <rows>', 'comma-separated row numbers, as in the results', readRows],
    ['--file <ids.csv>', "file with the ids, in the campaign's id column or in its only column"],
    ['--encoding <name>', 'encoding of that file (default: UTF-8, or that of the campaign)'],
    ['--reason <text>', 'reason, recorded for later'],
    ['--dry-run', 'show what would be done; change nothing', false],
  ],
  asks: true,
  changes: true,
  help: examples,
  run: async (io, { dryRun, yes, key, reason, ...flags }, campaignId) => {
    const named = readNamed(flags);
    if ('file' in named && key !== undefined) throw new UsageError('--key does not go with --file, whose content may change.');
    return withControl(io, async (control) => {
      if (!yes && !dryRun) await requireWithdrawable(control, campaignId, named);
      const count = 'ids' in named ? named.ids.length : 'rows' in named ? named.rows.length : null;
      const rows = count === null ? `the rows of ${flags.file}` : plural(count, 'row');
      const question = `Withdraw ${rows} from campaign ${campaignId}? Those that still wait are not called.`;
      if (!dryRun && !(await mayBegin(io, yes, question))) return null;
      const sent = { params: { campaign: campaignId }, body: { ...named, reason, dryRun }, key };
      const run = () => withdrawNamed(control, { campaignId, named, note: reason ?? null, dryRun });
      // A file may name more rows than an API request can.
      const own = (count ?? Infinity) > mostNamed ? { log: campaignId, run } : undefined;
      const answer = await performHere(control, 'withdrawRows', sent, own);
      // A withdrawal causes no call, so a failed notification is no error.
      warnIfNotNotified(io, campaignId, answer.notice);
      if (answer.left.some(({ why }) => why === 'call_open' || why === 'not_found')) io.exitCode = 1;
      return { data: asJson(answer), words: render(io, answer) };
    });
  },
});

function readNamed({ id, row, file, encoding }: RowFlags): NamedRows {
  const named = [
    ...(id === undefined ? [] : [{ ids: id }]),
    ...(row === undefined ? [] : [{ rows: row }]),
    ...(file === undefined ? [] : [{ file, encoding: requireEncoding(encoding) }]),
  ];
  const [one] = named;
  if (one === undefined || named.length > 1) throw new UsageError('Name the rows with one of --id, --row and --file.');
  if (encoding !== undefined && file === undefined) throw new UsageError('--encoding needs --file.');
  return one;
}

type Withdrawn = RunAnswer<'withdrawRows'>;
type Left = Withdrawn['left'][number];

function asJson({ campaignId: campaign, dryRun, withdrawn, left }: Withdrawn): object {
  const counts = { withdrawn, withdrawing: 0, call_open: 0, already_ended: 0, not_found: 0 };
  for (const { why } of left) counts[why] += 1;
  return { campaign, dryRun, ...counts, left: left.map(({ key, row, why }) => ({ key, campaignRow: row, result: why })) };
}

const mostNamed = 10_000;
const mostShown = 20;
const meanings: Readonly<Record<Left['why'], string>> = {
  withdrawing: 'its planned or open call is asked back; if it has rung, the row ends with it; it is not called again',
  call_open: 'its call is planned or open, and this service cannot give it back; run the command again when it has ended',
  already_ended: 'it has its outcome, and keeps it',
  not_found: 'the campaign has no such row',
};

function render(io: Io, { campaignId, dryRun, withdrawn, left }: Withdrawn): string {
  const head = `${plural(withdrawn, 'row')} of campaign ${campaignId} ${dryRun ? 'would be ' : ''}withdrawn.\n`;
  if (left.length === 0) return head;
  const table = renderTable(
    [
      { title: 'Named', value: ({ key }: Left) => String(key) },
      { title: 'Row', value: ({ row }) => (row === null ? '-' : String(row)) },
      { title: 'Code', value: ({ why }) => why },
      { title: 'Why', value: ({ why }) => meanings[why], flexible: true },
    ],
    left.slice(0, mostShown),
    terminalWidth(io),
  );
  const more = left.length > mostShown ? `… and ${plural(left.length - mostShown, 'row')} more: --json has them all.\n` : '';
  return `${head}\n${table}${more}`;
}

function readNames(text: string, before: string[] = []): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new InvalidArgumentError('Write one id or several, with commas between them.');
  return [...new Set([...before, ...names])];
}

function readRows(text: string, before: number[] = []): number[] {
  const rows = text.split(',').map((part) => (/^\s*[1-9]\d{0,8}\s*$/.test(part) ? Number(part) : 0));
  if (rows.includes(0)) throw new InvalidArgumentError('Write row numbers from 1, with commas between them.');
  return [...new Set([...before, ...rows])];
}
