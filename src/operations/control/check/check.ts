import { dialsFrom, mayBeginEmpty } from '../../../rules/lifecycle.ts';
import { campaignRules, refusePassedTimes } from '../../../campaign/file/file.ts';
import {
  campaignWarnings,
  lawWarnings,
  unruledWarnings,
  type UnruledCountry,
  refuseMissingBasis,
  refuseUnmetAccountRules,
} from '../../../campaign/preflight/warnings.ts';
import type { Config } from '../../../shared/config.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { zoneDataRelease } from '../../../rules/hours/time-zone.ts';
import { CampaignFileError } from '../../../shared/input/errors.ts';
import { readHeader } from '../../../campaign/file/columns-of-rules.ts';
import { readRecipients, type ListRow } from '../../../list/recipients.ts';
import type { ForecastAssumptions } from '../../../campaign/preflight/campaign-forecast.ts';
import {
  describeImpossible,
  impossibleAsJson,
  refuseImpossible,
  WindowStats,
  type ImpossibleWindows,
} from '../../../campaign/preflight/impossible.ts';
import { Preflight, type CheckedRow, type PreflightForecast, type PreflightReport } from '../../../campaign/preflight/preflight.ts';
import { ConsentStats, refuseOpenConsent, unnamedConsent } from '../../../campaign/preflight/consent-columns.ts';
import { opensTooLate, refuseTooEarlyEnd } from '../../../campaign/preflight/start-time.ts';
import { hooksOf } from '../../../temporal/start-campaign.ts';
import { HookError } from '../../../shared/hooks/errors.ts';
import { refuseClosed, refuseWritten } from '../../../shared/hooks/networks.ts';
import { isKeptUrl } from '../../../shared/input/kept-url.ts';
import { missingRequirementsText, missingRequirements, withAccountRules } from '../../../rules/house-rules.ts';
import { lacksBasis, type LawSummary } from '../../../rules/hours/legal-hours.ts';
import { lawAsJson } from '../../../presentation/words/law.ts';
import { uncheckedLedger, type CheckedCampaign, type CheckedLedger, type LedgerState } from './ledger.ts';
import { checkRecords, type RecordsState, checkService, clockOfService, type ServiceState } from './service.ts';
import { cannotFinishLine } from '../../../presentation/words/forecast.ts';
import type { CampaignFile } from '../../../campaign/file/campaign-file.ts';

export interface CheckReport extends PreflightReport, PreflightForecast {
  service: ServiceState;
  ledger: LedgerState;
  records: RecordsState;
  /** Countries without a known rule for calling hours. */
  withoutRule: readonly UnruledCountry[];
  law: LawSummary;
  /** Advice for the operator although the file is valid. */
  warnings: string[];
}

export interface CheckResult {
  file: CampaignFile;
  rules: CampaignRules;
  /** How the list was read, where that may surprise. */
  listNotes: readonly string[];
  report: CheckReport;
  impossible: ImpossibleWindows;
  /** What the file leaves open about consent. */
  consent: ConsentStats;
  /** Whether a start would reach every callable recipient at least once. */
  canGo: boolean;
  /** Why no recipient could ever be called; null: nothing prevents it. */
  obstacle: string | null;
  /** Sentences without a full stop: the report's warnings after those of impossible windows. */
  warnings: string[];
}

interface CheckInput {
  config: Config;
  /** Epoch ms, when the service does not give the time. */
  now: number;
  file: CampaignFile;
  assumptions: ForecastAssumptions;
  /** Null: skips database and service (`--offline`). */
  openLedger: ((campaign: CheckedCampaign) => Promise<CheckedLedger>) | null;
  /** Default: rows are only counted. */
  takeRows?: (rows: AsyncIterable<CheckedRow[]>) => Promise<void>;
}

/**
 * Reads all that a start would read, and writes nothing. `refuseUnstartable` throws findings that prevent a start. Throws CampaignFileError
 * and ListFileError when a check is impossible, ConfigError, and what `takeRows` throws.
 */
export async function checkCampaign({ config, file, ...input }: CheckInput): Promise<CheckResult> {
  const { openLedger, assumptions, takeRows = drain } = input;
  const isOffline = openLedger === null;
  const now = Math.round((isOffline ? null : await clockOfService(config))?.now() ?? input.now);
  refusePassedTimes(file, now);
  const header = await readHeader(file);
  const own = campaignRules(file, header.columns, now);
  const startsAt = dialsFrom(own, now);
  const leftOut = { asked: false, reason: 'left out by --offline' } as const;
  const ledger = isOffline ? uncheckedLedger(leftOut) : await openLedger({ campaignId: file.id, rules: own, at: startsAt });
  const rules = withAccountRules(own, ledger.house);
  const preflight = new Preflight(rules, startsAt);
  const windowStats = new WindowStats(rules, now);
  const consent = new ConsentStats(file, rules);
  try {
    await takeRows(evaluateRows(consent.count(windowStats.count(readRecipients(file, header, rules))), preflight, ledger));
  } finally {
    await ledger.close();
  }
  const unruled = windowStats.unruled();
  const records = isOffline ? leftOut : await checkRecords(config, rules);
  const accountLines = ledger.state.asked ? ledger.state.accountLines : null;
  const service = isOffline ? leftOut : await checkService(config, rules);
  const report: CheckReport = {
    ...preflight.report(),
    records,
    ...preflight.outlook({ assumptions, accountLines, records: records.asked ? records : null }),
    withoutRule: unruled,
    law: windowStats.law(),
    service,
    ledger: ledger.state,
    warnings: [
      ...campaignWarnings(rules),
      ...lawWarnings(file.law, now),
      ...unruledWarnings(rules, unruled),
      ...zoneDataWarnings(zoneDataRelease, now),
      ...(await hookWarnings(config, { rules, isOffline })),
      ...(service.asked ? service.notes : []),
      ...ledger.warnings,
    ],
  };
  const impossible = windowStats.find(now);
  return {
    file,
    rules,
    consent,
    listNotes: header.notes,
    report,
    impossible,
    canGo: canGo(rules, report),
    obstacle: obstacleOf(rules, report, impossible, consent),
    warnings: [...describeImpossible(impossible), ...report.warnings],
  };
}

/** Throws CampaignFileError when any start would be refused for its file or list. */
export function refuseUnstartable({ file, rules, report, impossible, consent }: CheckResult): void {
  refuseEmptyCampaign({ file, rules }, report);
  refuseImpossible(file, rules, impossible);
  refuseMissingBasis(file, report.law);
  refuseUnmetAccountRules(file, rules);
  refuseOpenConsent(file, rules, consent);
  refuseTooEarlyEnd(file, rules, report);
}

/** Instants are epoch ms. */
export function checkAsJson({ file, report, listNotes, canGo: startable, rules, obstacle, impossible }: CheckResult): object {
  const { id, name, path, hash, listPath: list } = file;
  const campaign = { id, name, path, hash, list, listNotes, law: lawAsJson(file.law), timeZoneData: zoneDataRelease };
  return {
    startable: startable && obstacle === null,
    campaign,
    house: rules.house ?? null,
    ...report,
    impossibleWindows: impossibleAsJson(impossible),
  };
}

async function drain(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows) continue;
}

async function* evaluateRows(chunks: AsyncIterable<ListRow[]>, preflight: Preflight, ledger: CheckedLedger): AsyncGenerator<CheckedRow[]> {
  for await (const rows of chunks) yield preflight.add(rows, await ledger.look(rows));
}

async function hookWarnings(config: Config, { rules, isOffline }: { rules: CampaignRules; isOffline: boolean }): Promise<string[]> {
  const hooks = hooksOf(rules);
  const settings = hooks.map(({ setting }) => setting).join(' and ');
  const warnings =
    hooks.length === 0 || config.CARILLON_HOOK_SECRET !== undefined
      ? []
      : [`CARILLON_HOOK_SECRET is not set: a start is refused without it, since requests of ${settings} are signed`];
  for (const { setting, url } of hooks) {
    if (isKeptUrl(url)) continue;
    const refuse = isOffline ? refuseWritten : refuseClosed;
    try {
      await refuse(new URL(url), config.CARILLON_HOOK_NETWORKS);
    } catch (error) {
      if (!(error instanceof HookError)) throw error;
      const harm = setting === 'pre_dial' ? 'nobody is called' : 'nothing is sent there';
      warnings.push(`${setting}: ${error.message}; unless it does for the workers, ${harm}`);
    }
  }
  return warnings;
}

function obstacleOf(rules: CampaignRules, report: CheckReport, impossible: ImpossibleWindows, consent: ConsentStats): string | null {
  if (impossible.all) return 'no recipient in the list can ever be called';
  if (lacksBasis(report.law).length > 0) return 'the law asks for consent, and the campaign file does not state its basis';
  const lacks = missingRequirements(rules);
  if (lacks.length > 0) return missingRequirementsText(lacks, rules.house?.version ?? 0);
  if (unnamedConsent(rules) !== null) return 'the campaign file states basis: consent and does not say where the list has it (consent:)';
  if (consent.open().length > 0) return 'the list has columns that look like consent, and the campaign file does not say what they are';
  return opensTooLate(rules, report) === null ? null : 'no recipient in the list can be called before ends_at';
}

function canGo(rules: CampaignRules, report: CheckReport): boolean {
  const { forecast, service } = report;
  const canFinish = forecast === null ? awaitsFirst(rules, report) : forecast.canFinish || rules.stopAt !== undefined;
  return canFinish && !(service.asked && service.refusal !== null);
}

/** True for an empty list whose rows are added later. */
export function awaitsFirst(rules: CampaignRules, { rows }: { rows: number }): boolean {
  return rows === 0 && mayBeginEmpty(rules);
}

function refuseEmptyCampaign({ file, rules }: Pick<CheckResult, 'file' | 'rules'>, report: PreflightReport): void {
  if (report.accepted > 0 || awaitsFirst(rules, report)) return;
  const message = `none of the ${String(report.rows)} rows of ${file.settings.list.file} can be dialled; fix the rows as described above`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['list']), path: 'list', message }]);
}

export function verdictText({ report, obstacle, rules }: Pick<CheckResult, 'report' | 'obstacle' | 'rules'>): string {
  if (obstacle !== null) return `Cannot start: ${obstacle}.`;
  const { accepted, rejected, forecast, service } = report;
  const isAwaiting = awaitsFirst(rules, report);
  if (accepted === 0 && !isAwaiting) return 'Cannot start: no row can be dialled.';
  if (forecast === null && !isAwaiting) return 'Nobody would be called: all accepted rows are left out above.';
  if (service.asked && service.refusal !== null) return 'Cannot start: the service would refuse its calls.';
  if (forecast === null) return 'Ready to start with an empty list: it waits for rows that are added. No call was placed.';
  if (!forecast.canFinish && rules.stopAt === undefined) return cannotFinishLine(forecast);
  const kept = rejected === 0 ? '' : ' Rejected rows do not stop it: they are kept and reported.';
  return `Ready to start. No call was placed.${kept}`;
}

/** Release days of the IANA time-zone data, from its NEWS file; for 2026f the day of its archive. */
const releases: Readonly<Record<string, string>> = {
  '2023a': '2023-03-22',
  '2023b': '2023-03-23',
  '2023c': '2023-03-28',
  '2023d': '2023-12-21',
  '2024a': '2024-02-01',
  '2024b': '2024-09-04',
  '2025a': '2025-01-15',
  '2025b': '2025-03-22',
  '2025c': '2025-12-10',
  '2026a': '2026-03-01',
  '2026b': '2026-04-22',
  '2026c': '2026-07-08',
  '2026d': '2026-09-11',
  '2026f': '2026-10-28',
};
const newestKnown = '2026f';

/** `newer`, `superseded`: a release of unknown day, after or before the newest known one. */
type TimeZoneDataAge = { kind: 'dated'; days: number } | { kind: 'newer' } | { kind: 'superseded'; by: string };

/** How old a release such as `2025c` is; null when the name has another form. */
export function timeZoneDataAge(release: string, nowMs: number): TimeZoneDataAge | null {
  if (!/^\d{4}[a-z]+$/.test(release)) return null;
  const released = releases[release];
  if (released === undefined) return release > newestKnown ? { kind: 'newer' } : { kind: 'superseded', by: newestKnown };
  return { kind: 'dated', days: Math.max(0, Math.floor((nowMs - Date.parse(released)) / 86_400_000)) };
}

const staleAfterDays = 183;

/** Clocks change at short notice: data half a year old, or behind a known release, misses some. */
export function isOldZoneData(age: TimeZoneDataAge): boolean {
  return age.kind === 'superseded' || (age.kind === 'dated' && age.days > staleAfterDays);
}

function zoneDataWarnings(release: string, nowMs: number): string[] {
  const age = timeZoneDataAge(release, nowMs);
  if (age !== null && !isOldZoneData(age)) return [];
  return [`the time-zone data is ${release}, and clock changes since then are missing: update Carillon, or the package moment-timezone`];
}
