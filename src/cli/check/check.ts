import { Command, InvalidArgumentError } from 'commander';
import { usualAssumptions, type ForecastAssumptions } from '../../preflight/campaign-forecast.ts';
import { campaignWarnings } from '../../campaign-file/warnings.ts';
import { lawWarnings } from '../../campaign-file/law-warnings.ts';
import { campaignRules, readCampaignFile, refusePassedTimes, type CampaignFile } from '../../campaign-file/file.ts';
import { opensTooLate, refuseTooEarlyEnd } from '../../preflight/start-time.ts';
import { CampaignFileError } from '../../input/errors.ts';
import { describeImpossible, impossibleAsJson, refuseImpossible } from '../../preflight/impossible-text.ts';
import { WindowCensus, type ImpossibleWindows } from '../../preflight/impossible-windows.ts';
import { jsonText } from '../../input/json-text.ts';
import { readHeader } from '../../list/header.ts';
import { Preflight, type CheckedRow, type Outlook, type PreflightReport } from '../../preflight/preflight.ts';
import { readRecipients, type ListRow } from '../../list/recipients.ts';
import { unruledWarnings, type UnruledCountry } from '../../preflight/unruled-countries.ts';
import { refuseToOverwrite, writeWholeFile } from '../../results/whole-file.ts';
import { readConfig, type Config } from '../../config.ts';
import { withInstants } from '../terminal/json-output.ts';
import { openCheckedLedger, unasked, type CheckedLedger, type LedgerState } from './ledger.ts';
import { dialsFrom, type CampaignRules } from '../../domain/campaign-rules.ts';
import { zoneDataRelease } from '../../domain/time-zone.ts';
import { hookSettings } from '../../temporal/hook-secret.ts';
import { checkService, clockOfService, type ServiceState } from './service.ts';
import type { Io } from '../terminal/io.ts';
import { lawAsJson } from '../../words/law.ts';
import { checkRecords, type RecordsState } from './records.ts';
import { renderCheck } from './preflight-text.ts';
import { RowProgress } from '../terminal/row-progress.ts';
import { zoneDataWarnings } from '../access/time-zone-data.ts';

export interface CheckOptions {
  campaignPath: string;
  json: boolean;
  /** Where one JSON line per data row goes; null for nowhere. */
  rowsPath: string | null;
  /** Ask neither the service nor the database. */
  offline?: boolean;
  assumptions?: ForecastAssumptions;
}

/** All that `check` found. */
export interface CheckReport extends PreflightReport, Outlook {
  service: ServiceState;
  ledger: LedgerState;
  records: RecordsState;
  /** Countries whose hours by law are not known. */
  withoutRule: readonly UnruledCountry[];
  /** What a person should know although nothing is wrong with the file. */
  warnings: string[];
}

const examples = `
The funnel counts every row once. The times come from a simulation: earliest if everybody answers the first call, slowest if nobody
ever answers, likely according to --answer-rate and --call-seconds. The simulation ignores other campaigns and refusals.

If SVC_API_KEY is set, the service is asked for agent and caller numbers. If there is a database, its do-not-call list and earlier
calls are used. The report names the sources that were not used. Nothing is written to either.

Exit code 0 if the campaign can start (bad rows are kept and reported); 1 if it cannot call everybody before its end or the service
would refuse it; 2 if the file or its list is invalid, or ends_at comes before anybody can be called.

Examples:
  carillon check campaign.yaml
  carillon check campaign.yaml --answer-rate 0.2 --call-seconds 120
  carillon check campaign.yaml --offline --json --rows rows.jsonl`;

/** `carillon check`: says what a campaign would do. */
export function checkCommand(io: Io): Command {
  return new Command('check')
    .description('Check a campaign file and its list without placing a call')
    .argument('<campaign.yaml>', 'campaign file')
    .option('--json', 'print the report as JSON', false)
    .option(
      '--rows <file>',
      'write one JSON line per data row: row, verdict (accepted, excluded, rejected), reason, e164, zones',
    )
    .option('--offline', 'use neither the service nor the database', false)
    .option('--call-seconds <number>', 'mean length of an answered call, for the forecast', readCallSeconds, 90)
    .option('--answer-rate <share>', 'share of calls that are answered, 0 to 1, for the forecast', readShare, 0.35)
    .addHelpText('after', examples)
    .action(async (campaignPath: string, { rows, callSeconds, answerRate, ...flags }: CheckFlags) => {
      const assumptions = { callMs: callSeconds * 1000, answerRate };
      await runCheck(io, { ...flags, campaignPath, rowsPath: rows ?? null, assumptions });
    });
}

interface CheckFlags {
  json: boolean;
  rows?: string;
  offline: boolean;
  callSeconds: number;
  answerRate: number;
}

/**
 * Reads everything a start would read and prints what it found. Sets the exit code to 1 when the campaign cannot call everybody or the
 * service would refuse it.
 * @throws CampaignFileError or ListFileError (both exit 2) when the campaign cannot start, after the report if there is one.
 */
export async function runCheck(io: Io, options: CheckOptions): Promise<CheckReport> {
  const config = readConfig(io.env);
  const { offline = false, assumptions = usualAssumptions } = options;
  const file = await readCampaignFile(options.campaignPath);
  const now = Math.round((offline ? null : await clockOfService(config))?.now() ?? io.now());
  refusePassedTimes(file, now);
  if (options.rowsPath !== null) await refuseToOverwrite(options.rowsPath, [file.path, file.listPath]);
  const header = await readHeader(file);
  const rules = campaignRules(file, header.columns, now);
  const startsAt = dialsFrom(rules, now);
  const preflight = new Preflight(rules, startsAt);
  const census = new WindowCensus(rules);
  const leftOut = { asked: false, reason: 'left out by --offline' } as const;
  const ledger = offline
    ? unasked(leftOut)
    : await openCheckedLedger(config, { campaignId: file.id, rules, at: startsAt });
  try {
    const rows = observe(census.count(readRecipients(file, header, rules)), preflight, ledger, new RowProgress(io));
    if (options.rowsPath === null) for await (const _ of rows) continue;
    else await writeWholeFile(options.rowsPath, renderRows(rows));
  } finally {
    await ledger.close();
  }
  const unruled = census.unruled();
  const records = offline ? leftOut : await checkRecords(config, rules);
  const accountLines = ledger.state.asked ? ledger.state.accountLines : null;
  const report: CheckReport = {
    ...preflight.report(),
    records,
    ...preflight.outlook({ assumptions, accountLines, records: records.asked ? records : null }),
    withoutRule: unruled,
    service: offline ? leftOut : await checkService(config, rules),
    ledger: ledger.state,
    warnings: [
      ...campaignWarnings(rules),
      ...lawWarnings(file.law, now),
      ...unruledWarnings(rules, unruled),
      ...zoneDataWarnings(zoneDataRelease, now),
      ...hookWarnings(config, rules),
      ...ledger.warnings,
    ],
  };
  const impossible = census.find(now);
  io.stdout.write(
    options.json
      ? `${jsonText(withInstants(asJson(file, report, header.notes, impossible)), 2)}\n`
      : renderCheck(file, rules, report, header.notes, obstacleOf(rules, report, impossible)),
  );
  refuseEmptyCampaign(file, report);
  refuseImpossible(file, rules, impossible);
  refuseTooEarlyEnd(file, rules, report);
  for (const warning of [...describeImpossible(impossible), ...report.warnings])
    io.stderr.write(`Warning: ${warning}.\n`);
  if (!canGo(report)) io.exitCode = 1;
  return report;
}

function hookWarnings(config: Config, rules: CampaignRules): string[] {
  const settings = hookSettings(rules);
  if (settings.length === 0 || config.CARILLON_HOOK_SECRET !== undefined) return [];
  return [
    `CARILLON_HOOK_SECRET is not set: a start is refused without it, since requests of ${settings.join(' and ')} are signed`,
  ];
}

function obstacleOf(rules: CampaignRules, report: CheckReport, impossible: ImpossibleWindows): string | null {
  if (impossible.all) return 'no recipient in the list can ever be called';
  return opensTooLate(rules, report) === null ? null : 'no recipient in the list can be called before ends_at';
}

/** Whether a start would lead to at least one call to everybody who can be called. */
function canGo({ forecast, service }: CheckReport): boolean {
  return forecast !== null && forecast.canFinish && !(service.asked && service.refusal !== null);
}

function readCallSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= 7200) return seconds;
  throw new InvalidArgumentError('Write a whole number of seconds from 1 to 7200.');
}

function readShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share <= 1) return share;
  throw new InvalidArgumentError('Write a part from 0 to 1, such as 0.35.');
}

async function* observe(
  chunks: AsyncIterable<ListRow[]>,
  preflight: Preflight,
  ledger: CheckedLedger,
  progress: RowProgress,
): AsyncGenerator<CheckedRow[]> {
  let count = 0;
  try {
    for await (const rows of chunks) {
      const checked = preflight.add(rows, await ledger.look(rows));
      count += rows.length;
      progress.update(count);
      yield checked;
    }
  } finally {
    progress.clear();
  }
}

async function* renderRows(chunks: AsyncIterable<CheckedRow[]>): AsyncGenerator<string> {
  for await (const rows of chunks) {
    const lines = rows.map(({ row, excluded }) => {
      const verdict = excluded === null ? row.verdict : 'excluded';
      const reason = row.verdict === 'rejected' ? row.reason : excluded;
      return jsonText({ row: row.row, verdict, reason, e164: row.e164, zones: row.zones });
    });
    yield `${lines.join('\n')}\n`;
  }
}

function asJson(
  file: CampaignFile,
  report: CheckReport,
  listNotes: readonly string[],
  impossible: ImpossibleWindows,
): object {
  const { id, name, path, hash, listPath: list } = file;
  const campaign = { id, name, path, hash, list, listNotes, law: lawAsJson(file.law), timeZoneData: zoneDataRelease };
  return {
    startable: canGo(report) && !impossible.all,
    campaign,
    ...report,
    impossibleWindows: impossibleAsJson(impossible),
  };
}

function refuseEmptyCampaign(file: CampaignFile, report: PreflightReport): void {
  if (report.accepted > 0) return;
  const message = `none of the ${String(report.rows)} rows of ${file.settings.list.file} can be dialled; fix the rows as described above`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['list']), path: 'list', message }]);
}
