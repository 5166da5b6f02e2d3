import { countCallbacks } from '../../../ledger/rows/promises.ts';
import { callbackCounts } from '../../../presentation/words/callbacks.ts';
import type { Io } from '../terminal/io.ts';
import { commandOf, type CommandOutput } from '../terminal/command.ts';
import { withControl, type Control } from '../../../operations/control/control.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { readServiceTime } from '../../../operations/control/service.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { wrapped } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { readCampaignReport, readLawForecast } from '../../../ledger/read/campaign-report.ts';
import { readReport, reportDimensions } from '../../../ledger/read/report.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { lawSentences } from '../../../presentation/words/law.ts';
import { renderReport } from './report-text.ts';
import { readNames } from './flags.ts';
import { terminalWidth } from '../terminal/table.ts';

const examples = `
Prints tables of rows by outcome; of calls by disposition, attempt number, hour, weekday and day of the dial in the recipient's
local time, time zone and caller number; and of conversations by each collected value and evaluation. Each table of calls shows how many were answered by a human
(including those who then opted out), their share of the ended calls, and the time on the line if the records have durations.

--html writes all of it with charts as one HTML file, to read, print and share: at most 300 KB, no script, no request to anywhere,
and the figures inside as JSON. Several campaigns stand side by side. The file also says what carillon verify says of the campaigns now.
It contains no number and no cell of a list, unless --people adds the first rows of each list with their numbers.

Examples:
  carillon report reminders
  carillon report reminders --by attempt,hour
  carillon report reminders --json                 all values as JSON, with funnel and course
  carillon report reminders --html report.html     one file with charts
  carillon report spring autumn --html both.html   two campaigns side by side
  carillon report reminders --html report.html --people`;

interface Flags {
  by?: string;
  html?: string;
  people: boolean;
}

export const reportCommand = commandOf<Flags, string[]>({
  name: 'report',
  says: 'Count rows and calls by outcome, attempt, time, zone, caller, collected value and evaluation',
  argument: ['<campaigns...>', 'ids of the campaigns'],
  flags: [
    ['--by <names>', `only these comma-separated tables: ${reportDimensions.join(', ')}`],
    ['--html <file>', 'write a report with charts as one HTML file; - for standard output'],
    ['--people', 'with --html: add the first rows of the lists, with their numbers', false],
  ],
  help: examples,
  run: runReport,
});

async function runReport(io: Io, { by, html, people, json }: Flags & { json: boolean }, ids: string[]): Promise<CommandOutput | null> {
  const dimensions = readNames('--by', by, reportDimensions);
  if (html === undefined && people) throw new UsageError('--people adds rows to an HTML file. Name it: --html report.html');
  if (html !== undefined && dimensions !== null) throw new UsageError('--html writes every table. Leave out --by.');
  if (html === '-' && json) throw new UsageError('--html - and --json both write to standard output. Name a file.');
  return withControl(io, async (control) => {
    const campaigns: Campaign[] = [];
    for (const id of new Set(ids)) campaigns.push(await requireCampaign(control.store, id));
    if (html === undefined) return json ? reportData(control, campaigns, dimensions) : reportWords(io, control, campaigns, dimensions);
    // Lazy import: charts load slowly.
    const { writeReportFile } = await import('./report-file.ts');
    await writeReportFile(io, control, campaigns, { path: html, people, json });
    return null;
  });
}

type Dimensions = ReturnType<typeof readNames<(typeof reportDimensions)[number]>>;

async function reportWords(io: Io, control: Control, campaigns: readonly Campaign[], dimensions: Dimensions): Promise<CommandOutput> {
  const { store } = control;
  const now = dimensions === null ? await readServiceTime(control) : 0;
  const texts: string[] = [];
  for (const campaign of campaigns) {
    const report = await readReport(store, campaign, dimensions ?? reportDimensions);
    let text = renderReport(campaign, report, terminalWidth(io), io.colour);
    if (dimensions === null) {
      const callbacks = callbackCounts(await countCallbacks(store.db, campaign.campaignId, now), now);
      if (callbacks !== '') text += `\nCall backs: ${callbacks}\n`;
      for (const sentence of lawSentences(await readLawForecast(store.db, campaign))) text += `\n${wrapped(sentence).join('\n')}\n`;
    }
    texts.push(text);
  }
  return { data: null, words: texts.join('\n') };
}

/** One campaign as it is, several as a list. */
async function reportData(control: Control, campaigns: readonly Campaign[], dimensions: Dimensions): Promise<CommandOutput> {
  const now = dimensions === null ? await readServiceTime(control) : 0;
  const reports: unknown[] = [];
  for (const campaign of campaigns)
    reports.push(
      dimensions === null ? await readCampaignReport(control.store, campaign, now) : await readReport(control.store, campaign, dimensions),
    );
  return { data: withInstants(reports.length === 1 ? reports[0] : { campaigns: reports }), words: '' };
}
