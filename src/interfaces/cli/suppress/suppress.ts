import { withControl, type Control } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import {
  checkDoNotCall,
  readNumbers,
  endOfTerm,
  type EntryTerms,
  importDoNotCall,
  type ImportCounts,
} from '../../../operations/control/suppress.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { plural, count } from '../../../shared/input/figures.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, RowProgress } from '../terminal/answer.ts';
import { commandOf, groupOf, type CommandOutput } from '../terminal/command.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { suppressionOperations as operations } from '../../../operations/suppressions.ts';
import { readServiceTime } from '../../../operations/control/service.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import { accountScope, listSuppressions, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import { putOnList, takeOffList } from './numbers.ts';

const examples = `
Numbers on this list are not called. The list is checked when a batch is planned and again in the transaction before each request, so
an entry added now stops calls that are already planned. Opt-outs heard in calls are added automatically.

Examples:
  carillon suppress add +12125550100 --reason "asked by letter"
  carillon suppress add 2125550101 --region US --campaign reminders --expires 90d
  carillon suppress import do-not-call.csv --column phone --region US
  carillon suppress check +12125550100
  carillon suppress list --json
  carillon suppress remove +12125550100 --yes`;

interface EntryFlags {
  campaign?: string;
  region?: string;
  reason?: string;
  expires?: string;
}

const regionFlag = ['--region <country>', 'country of numbers without +, such as US'] as const;
const entryFlags = [
  ['--campaign <id>', 'only for this campaign (default: all campaigns of the database)'],
  regionFlag,
  ['--reason <text>', 'reason, recorded for later'],
  [
    '--expires <when>',
    'a duration such as 90d, or a last day such as 2030-12-31, until that day has ended in every time zone (default: permanent)',
  ],
] as const;
const numbersArgument = ['<numbers...>', 'phone numbers'] as const;

export const suppressCommand = groupOf({ name: 'suppress', help: examples }, [
  commandOf<EntryFlags, string[]>({
    name: 'add',
    says: 'Add numbers, permanently or for a while',
    argument: numbersArgument,
    flags: entryFlags,
    changes: true,
    json: 'print the counts as JSON',
    examples: ['carillon suppress add +12125550100 +12125550101 --reason "asked by letter"'],
    run: (io, { key, json: _json, ...flags }, texts) => {
      const numbers = readNumbers(texts, flags.region);
      const add = async (control: Control): Promise<CommandOutput> => {
        // A duration counts from now, so the key covers it as written.
        const keyed = { key, written: { numbers, ...flags } };
        const { added, known } = await putOnList(control, numbers, await readTerms(flags, control), keyed);
        const stood = known === 0 ? '' : `; ${known} stood there already`;
        return { data: { added, known }, words: `${plural(added, 'number')} added to the do-not-call list${stood}.\n` };
      };
      return withControl(io, add, openLedger);
    },
  }),
  commandOf<EntryFlags & { column?: string; delimiter?: string }>({
    name: 'import',
    says: 'Add every number of a CSV file or an Excel workbook (.xlsx)',
    argument: ['<file>', 'CSV file or Excel workbook (.xlsx), with or without a header'],
    flags: [
      ...entryFlags,
      ['--column <name>', 'column of the numbers; not needed if there is only one column'],
      ['--delimiter <character>', 'column separator (default: detected)'],
    ],
    json: 'print the counts as JSON',
    help: `
Invalid lines are reported and skipped, and repeating the import changes nothing. Import a list that must be renewed without
--expires, and again at least every 31 days: if a renewal is forgotten, expired entries allow calls to everybody on them.`,
    examples: ['carillon suppress import do-not-call.csv --column phone --region US'],
    run: importNumbers,
  }),
  commandOf<Pick<EntryFlags, 'campaign' | 'region'>, string[]>({
    name: 'remove',
    says: operations.removeSuppressions.says,
    argument: numbersArgument,
    flags: [['--campaign <id>', 'remove the entries of this campaign instead of the general ones'], regionFlag],
    asks: true,
    changes: true,
    json: 'print the counts as JSON',
    examples: ['carillon suppress remove +12125550100'],
    run: async (io, { yes, key, region, campaign }, texts) => {
      const numbers = readNumbers(texts, region);
      const question = `Allow calls to ${plural(numbers.length, 'number')} again? ${operations.removeSuppressions.more}`;
      if (!(await mayBegin(io, yes, question))) return null;
      const { scope, removed, unknown } = await withControl(io, (control) => takeOffList(control, numbers, { campaign }, { key }));
      const aside = unknown > 0 ? `${unknown} had no entry in scope ${scope}.\n` : '';
      return { data: { removed, unknown }, words: `${plural(removed, 'entry', 'entries')} removed.\n`, aside };
    },
  }),
  commandOf<Pick<EntryFlags, 'region'>, string[]>({
    name: 'check',
    says: operations.checkSuppressions.says,
    argument: numbersArgument,
    flags: [regionFlag],
    examples: ['carillon suppress check +12125550100'],
    run: async (io, { region }, texts) => {
      const e164s = readNumbers(texts, region);
      const { now, numbers } = await withControl(io, (control) => checkDoNotCall(control, e164s));
      const free = numbers.filter(({ suppressed }) => !suppressed).map(({ e164 }) => `${e164} may be called.\n`);
      const entries = numbers.toSorted((a, b) => (a.e164 < b.e164 ? -1 : 1)).flatMap((number) => number.entries);
      const table = entries.length === 0 ? '' : renderEntries(io, entries, now);
      return { data: withInstants({ numbers }), words: `${free.join('')}${table}` };
    },
  }),
  commandOf<ListFlags>({
    name: 'list',
    says: operations.listSuppressions.says,
    flags: [
      ['--campaign <id>', 'only entries of this campaign'],
      ['--limit <count>', 'show at most this many', '50'],
      ['--all', 'show all entries', false],
    ],
    json: 'print one JSON object per line',
    examples: ['carillon suppress list --all --json'],
    run: listEntries,
  }),
]);

/** In service time. Throws UsageError. */
async function readTerms({ campaign, reason, expires }: EntryFlags, control: Pick<Control, 'config' | 'now'>): Promise<EntryTerms> {
  const expiresAt = expires === undefined ? null : readExpiry(expires, await readServiceTime(control));
  return { campaign, reason, expiresAt };
}

function readExpiry(text: string, now: number): number {
  const at = endOfTerm(text, now);
  if (at === null)
    throw new UsageError(`--expires is ${JSON.stringify(text)}; write a duration such as 90d, or a date such as 2030-12-31.`);
  if (at <= now) throw new UsageError(`--expires is ${text}, which has passed; write a later date.`);
  return at;
}

const mostShown = 10;

/** Exit code 1 for an invalid number: its owner would be called. */
async function importNumbers(
  io: Io,
  { delimiter, column, region, json, ...flags }: EntryFlags & { column?: string; delimiter?: string; json: boolean },
  path: string,
): Promise<null> {
  const progress = new RowProgress(io);
  let bad = 0;
  const onBad = (line: number, hint: string): void => {
    bad += 1;
    if (bad <= mostShown) io.stderr.write(`${path}:${line}: ${hint}\n`);
  };
  const file = { path, delimiter, column, region, onBad, onProgress: (rows: number) => progress.update(rows) };
  const { campaign = accountScope } = flags;
  const work = (control: Control) =>
    performHere(
      control,
      'importSuppressions',
      {},
      {
        log: campaign,
        run: async () => importDoNotCall(control, file, await readTerms(flags, control)),
      },
    );
  const counts = await withControl(io, work, openLedger).finally(() => progress.clear());
  if (counts.bad > 0) io.exitCode = 1;
  io.stdout.write(json ? `${jsonText(counts)}\n` : formatCounts(counts));
  return null;
}

function formatCounts({ added, known, repeated, bad }: ImportCounts): string {
  const unread =
    bad === 0
      ? ''
      : ` ${plural(bad, 'line is no number and protects', 'lines are no numbers and protect')} nobody: fix and import the file again.`;
  const again = repeated === 0 ? '' : `, ${plural(repeated, 'line repeats', 'lines repeat')} a number of the file`;
  return `${plural(added, 'number')} added, ${count(known)} stood there already${again}.${unread}\n`;
}

interface ListFlags {
  campaign?: string;
  limit: string;
  all: boolean;
}

const pageSize = 1000;

/** Page by page. */
async function listEntries(io: Io, { campaign, limit, all, json }: ListFlags & { json: boolean }): Promise<null> {
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError(`--limit is ${JSON.stringify(limit)}; write a whole number from 1.`);
  const most = all ? Infinity : Number(limit);
  return withControl(io, async (control) => {
    const now = await readServiceTime(control);
    let shown = 0;
    let after: StoredSuppression | null = null;
    for (;;) {
      // One extra entry shows whether there are more.
      const page = await listSuppressions(control.store.db, {
        scope: campaign ?? null,
        after,
        limit: Math.min(pageSize, most - shown + 1),
      });
      const entries = page.slice(0, most - shown);
      if (json) io.stdout.write(entries.map((entry) => `${jsonText(withInstants(entry))}\n`).join(''));
      else if (entries.length > 0) {
        const table = renderEntries(io, entries, now);
        io.stdout.write(shown === 0 ? table : table.slice(table.indexOf('\n') + 1));
      }
      shown += entries.length;
      if (page.length > entries.length) io.stderr.write(`There are more; see them with --all or a higher --limit.\n`);
      after = entries.at(-1) ?? null;
      if (page.length < pageSize || shown >= most || after === null) break;
    }
    if (shown === 0 && !json) io.stderr.write('The do-not-call list is empty.\n');
    return null;
  });
}

function renderEntries(io: Pick<Io, 'stdout' | 'isTerminal'>, entries: readonly StoredSuppression[], now: number): string {
  const until = ({ expiresAt }: StoredSuppression): string => {
    if (expiresAt === null) return 'for ever';
    return `${expiresAt > now ? 'until' : 'was until'} ${new Date(expiresAt).toISOString().slice(0, 16)}Z`;
  };
  return renderTable<StoredSuppression>(
    [
      { title: 'NUMBER', value: ({ e164 }) => e164 },
      { title: 'SCOPE', value: ({ scope }) => scope },
      { title: 'HOLDS', value: until },
      { title: 'SINCE', value: ({ createdAt }) => `${new Date(createdAt).toISOString().slice(0, 16)}Z` },
      { title: 'SOURCE', value: ({ source }) => source, flexible: true },
      { title: 'REASON', value: ({ reason }) => reason ?? '', flexible: true },
    ],
    entries,
    terminalWidth(io),
  );
}
