import { Command } from 'commander';
import { withControl, type Control } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { addToDoNotCall, checkDoNotCall, readNumbers, removeFromDoNotCall } from '../../../operations/control/suppress.ts';
import { plural } from '../../../shared/input/figures.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { addEntryFlags, readTerms, type EntryFlags } from './flags.ts';
import { importNumbers, type ImportFlags } from './import.ts';
import { listEntries, renderEntries, type ListFlags } from './list.ts';
import { operations } from '../../../operations/list.ts';

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

/** `carillon suppress`: the do-not-call list of a database. */
export function suppressCommand(io: Io): Command {
  const command = new Command('suppress').addHelpText('after', examples);
  addEntryFlags(command.command('add').description('Add numbers, permanently or for a while'))
    .argument('<numbers...>', 'phone numbers')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon suppress add +12125550100 +12125550101 --reason "asked by letter"')
    .action((numbers: string[], flags: EntryFlags & { json: boolean }) => addNumbers(io, numbers, flags));
  addEntryFlags(command.command('import').description('Add every number of a CSV file or an Excel workbook (.xlsx)'))
    .argument('<file>', 'CSV file or Excel workbook (.xlsx), with or without a header')
    .option('--column <name>', 'column of the numbers; not needed if there is only one column')
    .option('--delimiter <character>', 'column separator (default: detected)')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText(
      'after',
      '\nInvalid lines are reported and skipped, and repeating the import changes nothing. Import a list that must be renewed without\n--expires, and again at least every 31 days: if a renewal is forgotten, expired entries allow calls to everybody on them.\n\nExample:\n  carillon suppress import do-not-call.csv --column phone --region US',
    )
    .action((file: string, flags: ImportFlags) => importNumbers(io, file, flags));
  command
    .command('remove')
    .description(operations.removeSuppressions.says)
    .argument('<numbers...>', 'phone numbers')
    .option('--campaign <id>', 'remove the entries of this campaign instead of the general ones')
    .option('--region <country>', 'country of numbers without +, such as US')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon suppress remove +12125550100')
    .action((numbers: string[], flags: RemoveFlags) => removeNumbers(io, numbers, flags));
  command
    .command('check')
    .description(operations.checkSuppressions.says)
    .argument('<numbers...>', 'phone numbers')
    .option('--region <country>', 'country of numbers without +, such as US')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon suppress check +12125550100')
    .action((numbers: string[], flags: EntryFlags & { json: boolean }) => checkNumbers(io, numbers, flags));
  command
    .command('list')
    .description(operations.listSuppressions.says)
    .option('--campaign <id>', 'only entries of this campaign')
    .option('--limit <count>', 'show at most this many', '50')
    .option('--all', 'show all entries', false)
    .option('--json', 'print one JSON object per line', false)
    .addHelpText('after', '\nExample:\n  carillon suppress list --all --json')
    .action((flags: ListFlags) => listEntries(io, flags));
  return command;
}

interface RemoveFlags extends EntryFlags {
  yes: boolean;
  json: boolean;
}

async function addNumbers(io: Io, texts: readonly string[], flags: EntryFlags & { json: boolean }): Promise<void> {
  const numbers = readNumbers(texts, flags.region);
  const add = async (control: Control): Promise<void> => {
    const { added, known } = await addToDoNotCall(control, numbers, await readTerms(flags, control));
    writeAnswer(io, flags.json, {
      data: { added, known },
      words: `${plural(added, 'number')} added to the do-not-call list${known === 0 ? '' : `; ${known} stood there already`}.\n`,
    });
  };
  await withControl(io, add, openLedger);
}

async function removeNumbers(io: Io, texts: readonly string[], { yes, json, ...flags }: RemoveFlags): Promise<void> {
  const numbers = readNumbers(texts, flags.region);
  const question = `Allow calls to ${plural(numbers.length, 'number')} again? ${operations.removeSuppressions.more}`;
  if (!(await mayBegin(io, yes, question))) return;
  await withControl(io, async (control) => {
    const { scope, removed, unknown } = await removeFromDoNotCall(control, numbers, flags.campaign);
    writeAnswer(io, json, { data: { removed, unknown }, words: `${plural(removed, 'entry', 'entries')} removed.\n` });
    if (unknown > 0 && !json) io.stderr.write(`${unknown} had no entry in scope ${scope}.\n`);
  });
}

async function checkNumbers(io: Io, texts: readonly string[], flags: EntryFlags & { json: boolean }): Promise<void> {
  const e164s = readNumbers(texts, flags.region);
  await withControl(io, async (control) => {
    const { now, numbers } = await checkDoNotCall(control, e164s);
    const free = numbers.filter(({ suppressed }) => !suppressed).map(({ e164 }) => `${e164} may be called.\n`);
    // By number, as the list has them.
    const entries = numbers.toSorted((a, b) => (a.e164 < b.e164 ? -1 : 1)).flatMap((number) => number.entries);
    writeAnswer(io, flags.json, {
      data: withInstants({ numbers }),
      words: `${free.join('')}${entries.length === 0 ? '' : renderEntries(io, entries, now)}`,
    });
  });
}
