import { InvalidArgumentError } from 'commander';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readConfig, type Config } from '../../../shared/config.ts';
import { checkAsJson, checkCampaign, refuseUnstartable, type CheckReport } from '../../../operations/control/check/check.ts';
import { type CheckedCampaign, checkedLedger, uncheckedLedger, type CheckedLedger } from '../../../operations/control/check/ledger.ts';
import { jsonText } from '../../../shared/input/printable.ts';
import { usualAssumptions, type ForecastAssumptions } from '../../../campaign/preflight/campaign-forecast.ts';
import type { CheckedRow } from '../../../campaign/preflight/preflight.ts';
import { refuseToOverwrite, writeWholeFile } from '../../../presentation/results/whole-file.ts';
import type { Io } from '../terminal/io.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { RowProgress, writeAnswer } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';
import { renderCheck } from './preflight-text.ts';
import { existsSync } from 'node:fs';
import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { describeFailure } from '../terminal/failure.ts';

export interface CheckOptions {
  campaignPath: string;
  json: boolean;
  /** File for one JSON line per data row; null: none. */
  rowsPath: string | null;
  /** Query neither the service nor the database. */
  offline?: boolean;
  assumptions?: ForecastAssumptions;
}

const examples = `
Every row is counted once. The times come from a simulation: earliest if everybody answers the first call, slowest if nobody
ever answers, likely according to --answer-rate and --call-seconds. The simulation ignores other campaigns and refusals.

If SVC_API_KEY is set, the service is asked for agent and caller numbers. If there is a database, its do-not-call list and earlier
calls are used. The report names the sources that were not used. Nothing is written to either.

Exit code 0 if the campaign can start (bad rows are kept and reported); 1 if it cannot call everybody before its end or the service
would refuse it; 2 if the file or its list is invalid, or ends_at comes before anybody can be called.

Examples:
  carillon check campaign.yaml
  carillon check campaign.yaml --answer-rate 0.2 --call-seconds 120
  carillon check campaign.yaml --offline --json --rows rows.jsonl`;

export const checkCommand = commandOf<CheckFlags>({
  name: 'check',
  says: 'Check a campaign file and its list without placing a call',
  argument: ['<campaign.yaml>', 'campaign file'],
  flags: [
    ['--rows <file>', 'write one JSON line per data row: row, verdict (accepted, excluded, rejected), reason, e164, zones'],
    ['--offline', 'use neither the service nor the database', false],
    ['--call-seconds <number>', 'mean length of an answered call, for the forecast', readCallSeconds, 90],
    ['--answer-rate <share>', 'share of calls that are answered, 0 to 1, for the forecast', readShare, 0.35],
  ],
  json: 'print the report as JSON',
  help: examples,
  run: async (io, { rows, callSeconds, answerRate, ...flags }, campaignPath) => {
    const assumptions = { callMs: callSeconds * 1000, answerRate };
    await runCheck(io, { ...flags, campaignPath, rowsPath: rows ?? null, assumptions });
    return null;
  },
});

interface CheckFlags {
  rows?: string;
  offline: boolean;
  callSeconds: number;
  answerRate: number;
}

/**
 * Prints the report of a campaign file. Sets exit code 1 if not all recipients can be called or the service would refuse it.
 * @throws CampaignFileError or ListFileError (both exit 2) when it cannot start, after the report if there is one.
 */
export async function runCheck(io: Io, options: CheckOptions): Promise<CheckReport> {
  const config = readConfig(io.env);
  const { offline = false, assumptions = usualAssumptions, rowsPath } = options;
  const file = await readCampaignFile(options.campaignPath);
  const openLedger = offline ? null : (campaign: CheckedCampaign) => openCheckedLedger(config, campaign);
  const takeRows = async (checked: AsyncIterable<CheckedRow[]>): Promise<void> => {
    const rows = observe(checked, new RowProgress(io));
    if (rowsPath !== null) await refuseToOverwrite(rowsPath, [file.path, file.listPath]);
    if (rowsPath === null) for await (const _ of rows) continue;
    else await writeWholeFile(rowsPath, renderRows(rows));
  };
  const checked = await checkCampaign({ config, now: io.now(), file, assumptions, openLedger, takeRows });
  writeAnswer(io, options.json, { data: withInstants(checkAsJson(checked)), words: renderCheck(checked) });
  refuseUnstartable(checked);
  for (const warning of checked.warnings) io.stderr.write(`Warning: ${warning}.\n`);
  if (!checked.canGo) io.exitCode = 1;
  return checked.report;
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

async function* observe(chunks: AsyncIterable<CheckedRow[]>, progress: RowProgress): AsyncGenerator<CheckedRow[]> {
  let count = 0;
  try {
    for await (const rows of chunks) {
      count += rows.length;
      progress.update(count);
      yield rows;
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

/** Never creates a database and never fails, so that a check works anywhere. */
export async function openCheckedLedger(config: Config, campaign: CheckedCampaign): Promise<CheckedLedger> {
  if (config.DATABASE_URL === undefined && !existsSync(config.CARILLON_DB))
    return uncheckedLedger({ asked: false, reason: `there is none at ${config.CARILLON_DB}` });
  try {
    const store = await openExistingLedger(config);
    return { ...(await checkedLedger({ config, store }, campaign)), close: () => store.close() };
  } catch (error) {
    return uncheckedLedger({ asked: false, reason: describeFailure(error, false).message });
  }
}
