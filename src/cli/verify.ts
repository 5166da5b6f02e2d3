import { Command } from 'commander';
import { readConfig } from '../config.ts';
import { verifyLog, type LogReport } from '../verify/verify-log.ts';
import type { Io } from './io.ts';
import { writeJson } from './json-output.ts';
import { openExistingLedger, requireCampaign } from './ledger-access.ts';
import { count, plural } from './printable.ts';
import { RowProgress } from './row-progress.ts';

const examples = `
Reads the append-only event log, and nothing else, and proves each promise from it: nobody called twice, no call outside
hours, after an opt-out or beyond the budget, one outcome for every row. Every line that breaks a promise is named.
Exit code 1 when there is one.

Examples:
  carillon verify reminders
  carillon verify --json            all campaigns of the database`;

export function verifyCommand(io: Io): Command {
  return new Command('verify')
    .description('Prove from the event log that the promises were kept')
    .argument('[campaign]', 'id of the campaign; without it all of the database')
    .option('--json', 'the report as JSON', false)
    .addHelpText('after', examples)
    .action((campaignId: string | undefined, flags: { json: boolean }) =>
      runVerify(io, campaignId ?? null, flags.json),
    );
}

async function runVerify(io: Io, campaignId: string | null, json: boolean): Promise<void> {
  const store = await openExistingLedger(readConfig(io.env));
  const progress = new RowProgress(io, 'of the log read');
  let report: LogReport;
  try {
    if (campaignId !== null) await requireCampaign(store, campaignId);
    report = await verifyLog(store.db, campaignId, (events) => progress.update(events));
  } finally {
    progress.clear();
    await store.close();
  }
  if (!report.ok) io.exitCode = 1;
  if (json) writeJson(io, report);
  else io.stdout.write(tellReport(report));
}

const mostShown = 10;

/** The report for people: one line per promise, and the violations below those that were broken. */
export function tellReport({ ok, events, calls, campaigns, rules }: LogReport): string {
  const lines = rules.flatMap(({ promise, violations }) => [
    `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${promise}${violations.length === 0 ? '' : `: ${plural(violations.length, 'violation')}`}`,
    ...violations.slice(0, mostShown).map(({ campaignId, seq, at, what }) => {
      const place = seq === null ? 'end of the log' : `event ${seq}, ${new Date(at ?? 0).toISOString()}`;
      return `        ${campaignId}: ${what} (${place})`;
    }),
    ...(violations.length > mostShown
      ? [`        and ${count(violations.length - mostShown)} more: --json has all`]
      : []),
  ]);
  const judged = `${count(events)} events of ${plural(campaigns.length, 'campaign')} with ${plural(calls, 'call')}`;
  return `${[`verify: ${ok ? 'every promise was kept' : 'VIOLATIONS'} (${judged})`, ...lines].join('\n')}\n`;
}
