import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { CampaignRules, RetryDisposition, RetryDelays } from '../domain/campaign-rules.ts';
import { splitOpeningLine, type JsonObject } from '../domain/conversation-override.ts';
import { defaultRetryDelays } from '../domain/attempts/retry-schedule.ts';
import { describeIssues, problemAt, type LineOf } from '../input/problems.ts';
import { campaignSchema, type CampaignSettings } from './schema.ts';
import { readCampaignText } from '../input/yaml-text.ts';
import { CampaignFileError } from '../input/errors.ts';
import { holidayDates } from './holidays.ts';
import { breakerRules } from './settings/breaker.ts';
import { pacingRules } from './settings/pacing.ts';
import { legalHours, readLegalRules, refuseUnreadableRules, type LegalRules } from './legal-rules.ts';
import { columnOf, refuseUnknownColumns } from './columns-of-rules.ts';
import { listTemplates, readTemplate } from './setting-templates.ts';
import { weeklyHours } from './weekly-hours.ts';

/** A campaign file that is valid in itself; whether it fits its list is known once the header has been read. */
export interface CampaignFile {
  id: string;
  name: string | null;
  path: string;
  /**
   * SHA-256 of what the file says, in hexadecimal: comments, order and spelling of YAML do not matter. Neither the path of
   * the campaign file nor the bytes of the list are part of it: the list is imported once, at the start.
   */
  hash: string;
  /** Path of the list, resolved against the folder of the campaign file. */
  listPath: string;
  /** Undefined: to be found in the list. */
  delimiter: string | undefined;
  settings: CampaignSettings;
  /** Rules by law that hold for this campaign; null when the file turns them off. */
  law: LegalRules | null;
  lineOf: LineOf;
}

/** The refusal of a campaign file for one of its settings. */
export function refusalOf(
  { path, lineOf }: Pick<CampaignFile, 'path' | 'lineOf'>,
  setting: readonly PropertyKey[],
  message: string,
): CampaignFileError {
  return new CampaignFileError(path, [problemAt(lineOf, setting, message)]);
}

/** The same for its list, none of whose rows can be used. */
export function refusalOfRows({ path, lineOf }: CampaignFile, message: string): CampaignFileError {
  return new CampaignFileError(path, [problemAt(lineOf, ['list'], message)], { isAboutRows: true });
}

/**
 * Reads and checks a campaign file, or its text where that was kept elsewhere; paths in it count from the folder of `path` all the same.
 * @throws CampaignFileError with all problems at once.
 */
export async function readCampaignFile(path: string, kept?: string): Promise<CampaignFile> {
  const { content, lineOf } = await readCampaignText(path, kept);
  const parsed = campaignSchema.safeParse(content);
  if (!parsed.success) {
    throw new CampaignFileError(path, describeIssues(parsed.error.issues, content, campaignSchema, lineOf));
  }
  const settings = parsed.data;
  const problems = listTemplates(settings).flatMap(({ path: at, template }) => {
    const reading = readTemplate(template);
    return 'fault' in reading ? [problemAt(lineOf, at, reading.fault)] : [];
  });
  if (problems.length > 0) throw new CampaignFileError(path, problems);
  const { law } = settings;
  const { rules: written, none } = typeof law === 'boolean' ? { rules: null, none: [] } : law;
  const ownRules = written === null ? null : resolve(dirname(path), written);
  if (ownRules !== null) await refuseUnreadableRules(ownRules, { path, line: lineOf(['law']), value: String(written) });
  return {
    id: settings.id,
    name: settings.name ?? null,
    path,
    hash: createHash('sha256').update(canonicalJson(content)).digest('hex'),
    listPath: resolve(dirname(path), settings.list.file),
    delimiter: settings.list.delimiter,
    settings,
    law: law === false ? null : await readLegalRules(ownRules, none),
    lineOf,
  };
}

/**
 * The rules of the campaign over a list with these columns, as they are frozen when it starts at `nowMs`: holidays are those of its time.
 * @throws CampaignFileError when the file or one of its templates names a column that the list does not have.
 */
export function campaignRules(file: CampaignFile, columns: readonly string[], nowMs: number): CampaignRules {
  refuseUnknownColumns(file, columns);
  const { list, retry, pacing, advanced, variables, pre_dial: preDial, ...settings } = file.settings;
  const { correlation } = settings;
  const { firstMessage, override } = splitOverride(file.settings);
  return {
    agentId: settings.agent_id,
    callers: { numbers: settings.from_phone_number_id, choice: settings.caller_choice },
    list: {
      columns: [...columns],
      phoneColumn: columnOf(list.phone, columns) ?? list.phone,
      idColumn: columnOf(list.id, columns),
      timezoneColumn: columnOf(list.timezone, columns),
      countryColumn: columnOf(list.country, columns),
      regionColumn: columnOf(list.state, columns),
      zipColumn: columnOf(list.zip, columns),
      notBeforeColumn: columnOf(list.not_before, columns),
      expiresAtColumn: columnOf(list.expires_at, columns),
      defaultRegion: list.default_region ?? null,
      fallbackTimezone: list.fallback_timezone ?? null,
    },
    firstMessage,
    ...(override === null ? {} : { override }),
    variables:
      variables === undefined
        ? null
        : { key: variables.key, values: variables.values, reference: variables.reference || null },
    calendar: {
      hours: settings.hours === null ? null : weeklyHours(withoutUndefined(settings.hours)),
      closedOn: closedDates(settings.holidays, nowMs),
    },
    law: legalHours(file.law?.rules ?? [], nowMs),
    ...(settings.basis === undefined ? {} : { basis: settings.basis }),
    startsAt: settings.starts_at ?? null,
    endsAt: settings.ends_at ?? null,
    caps: settings.caps.map(({ by, calls = 0, within = 0, after_talk: afterTalkMs }) =>
      afterTalkMs === undefined ? { by, calls, withinMs: within } : { by, afterTalkMs },
    ),
    retry: {
      maxAttempts: retry.max_attempts,
      maxAttemptsPerNumber: retry.max_attempts_per_number ?? null,
      resetAfterMs: retry.reset_after ?? null,
      jitterMs: retry.jitter,
      delays: retryDelays(retry, settings.on_unknown),
      maxUncounted: retry.max_uncounted,
    },
    pacing: pacingRules(pacing),
    breaker: breakerRules(settings.breaker),
    preDial: preDial === undefined ? null : { url: preDial.url, timeoutMs: preDial.timeout },
    onCompletion: settings.on_completion ?? null,
    onPause: settings.on_pause ?? null,
    optOut: settings.opt_out.map((rule) => ({
      source: rule.collected === undefined ? 'evaluation' : 'collected',
      key: rule.collected ?? rule.evaluation ?? '',
      values: rule.equals,
    })),
    dispositions: settings.dispositions.map(({ when, is }) => ({ ...when, disposition: is })),
    correlation: {
      calleeNumber: correlation.callee_number,
      batchId: correlation.batch_id,
      reference: correlation.reference,
    },
    timing: {
      dispatchMarginMs: advanced.dispatch_margin,
      settleMs: advanced.settle,
      analysisWaitMs: advanced.analysis_wait,
      lateDeliveryMs: advanced.late_delivery,
      lateLookbackMs: advanced.late_lookback,
      pollMs: advanced.poll,
      clockToleranceMs: advanced.clock_tolerance,
      ringLimitMs: advanced.ring_limit,
    },
    sharedWords: settings.shared_words,
  };
}

/**
 * Refuses to start a campaign whose end has passed.
 * @throws CampaignFileError
 */
export function refuseEndedCampaign(file: CampaignFile, nowMs: number): void {
  const end = file.settings.ends_at;
  if (end === undefined || end > nowMs) return;
  throw refusalOf(file, ['ends_at'], `${passedText(end, nowMs)}; write a later time, or leave the setting out`);
}

function passedText(at: number, nowMs: number): string {
  return `${new Date(at).toISOString()} has passed (it is ${new Date(nowMs).toISOString()})`;
}

/**
 * Refuses to begin a campaign whose start or end has passed: with a start in the past, such as one of a mistyped year, calls would begin at
 * once.
 * @throws CampaignFileError
 */
export function refusePassedTimes(file: CampaignFile, nowMs: number): void {
  refuseEndedCampaign(file, nowMs);
  const start = file.settings.starts_at;
  if (start === undefined || start >= nowMs) return;
  const fix = 'write a later time, or leave the setting out to begin at once';
  throw refusalOf(file, ['starts_at'], `${passedText(start, nowMs)}, so that calls would begin at once; ${fix}`);
}

/** The opening line may be written in either place; what is spoken first tells calls apart, so it is kept by itself. */
function splitOverride(settings: CampaignSettings): { firstMessage: string | null; override: JsonObject | null } {
  const written = settings.conversation_config_override;
  const firstMessage = settings.first_message ?? null;
  if (written === undefined) return { firstMessage, override: null };
  const { line, rest } = splitOpeningLine(written);
  return { firstMessage: typeof line === 'string' ? line : firstMessage, override: rest };
}

function closedDates(holidays: CampaignSettings['holidays'], nowMs: number): string[] {
  const year = new Date(nowMs).getUTCFullYear();
  const dates = holidays.flatMap((holiday) => ('date' in holiday ? [holiday.date] : holidayDates(holiday, year, 3)));
  return [...new Set(dates)].sort();
}

/** What a person chose when the fate of a call is not known: without a delay of their own it is dialled again after this long. */
const redialUnknownAfterMs = 30 * 60_000;

function retryDelays(
  retry: CampaignSettings['retry'],
  onUnknown: CampaignSettings['on_unknown'],
): Record<RetryDisposition, RetryDelays> {
  const { busy, no_answer, unreached, voicemail, failed, unknown } = retry;
  const redial = onUnknown === 'redial' ? { unknown: unknown ?? [redialUnknownAfterMs] } : {};
  return { ...defaultRetryDelays, ...withoutUndefined({ busy, no_answer, unreached, voicemail, failed }), ...redial };
}

function withoutUndefined<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
