import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { CampaignRules, RetryDisposition, RetryDelays } from '../domain/campaign-rules.ts';
import { templateVariables } from '../domain/personalisation.ts';
import { defaultRetryDelays } from '../domain/retry-schedule.ts';
import { describeIssues, showValue } from './campaign-problems.ts';
import { campaignSchema, type CampaignSettings } from './campaign-schema.ts';
import { readCampaignText } from './campaign-text.ts';
import { CampaignFileError, type CampaignProblem } from './errors.ts';
import { holidayDates } from './holidays.ts';
import { legalHours, readLegalRules, type LegalRule } from './legal-rules.ts';
import { nearestName } from './nearest-name.ts';
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
  delimiter: string;
  settings: CampaignSettings;
  /** Rules by law that hold for this campaign; empty when the file turns them off. */
  law: readonly LegalRule[];
  /** Line of a setting, or of the nearest parent that is written, for messages. */
  lineOf: (path: readonly PropertyKey[]) => number | null;
}

/**
 * Reads and checks a campaign file.
 * @throws CampaignFileError with all problems at once.
 */
export async function readCampaignFile(path: string): Promise<CampaignFile> {
  const { content, lineOf } = await readCampaignText(path);
  const parsed = campaignSchema.safeParse(content);
  if (!parsed.success) {
    throw new CampaignFileError(path, describeIssues(parsed.error.issues, content, campaignSchema, lineOf));
  }
  const settings = parsed.data;
  const problems = listTemplates(settings).flatMap(({ path: at, template }) => {
    const reading = readTemplate(template);
    return 'fault' in reading ? [{ line: lineOf(at), path: at.join('.'), message: reading.fault }] : [];
  });
  if (problems.length > 0) throw new CampaignFileError(path, problems);
  const { law } = settings;
  const ownRules = typeof law === 'string' ? resolve(dirname(path), law) : null;
  return {
    id: settings.id,
    name: settings.name ?? null,
    path,
    hash: createHash('sha256').update(canonicalJson(content)).digest('hex'),
    listPath: resolve(dirname(path), settings.list.file),
    delimiter: settings.list.delimiter,
    settings,
    law: law === false ? [] : await readLegalRules(ownRules),
    lineOf,
  };
}

/**
 * The rules of the campaign over a list with these columns, as they are frozen when it starts at `nowMs`: holidays are those of its time.
 * @throws CampaignFileError when the file or one of its templates names a column that the list does not have.
 */
export function campaignRules(file: CampaignFile, columns: readonly string[], nowMs: number): CampaignRules {
  refuseUnknownColumns(file, columns);
  const { list, retry, pacing, advanced, variables, ...settings } = file.settings;
  return {
    agentId: settings.agent_id,
    fromPhoneNumberId: settings.from_phone_number_id,
    list: {
      columns: [...columns],
      phoneColumn: list.phone,
      idColumn: list.id ?? null,
      timezoneColumn: list.timezone ?? null,
      countryColumn: list.country ?? null,
      regionColumn: list.state ?? null,
      defaultRegion: list.default_region ?? null,
      fallbackTimezone: list.fallback_timezone ?? null,
    },
    firstMessage: settings.first_message ?? null,
    variables:
      variables === undefined
        ? null
        : { key: variables.key, values: variables.values, reference: variables.reference || null },
    calendar: {
      hours: settings.hours === null ? null : weeklyHours(withoutUndefined(settings.hours)),
      closedOn: closedDates(settings.holidays, nowMs),
    },
    law: legalHours(file.law, nowMs),
    endsAt: settings.ends_at ?? null,
    caps: settings.caps.map(({ by, calls = 0, within = 0, after_talk: afterTalkMs }) =>
      afterTalkMs === undefined ? { by, calls, withinMs: within } : { by, afterTalkMs },
    ),
    retry: { maxAttempts: retry.max_attempts, delays: retryDelays(retry), maxUncounted: retry.max_uncounted },
    pacing: {
      maxConcurrentCalls: pacing.max_concurrent_calls,
      startsPerMinute: pacing.starts_per_minute ?? null,
      batchSize: pacing.batch_size,
      refillThreshold: pacing.refill_threshold ?? defaultRefillThreshold(pacing),
    },
    optOut: settings.opt_out.map((rule) => ({
      source: rule.collected === undefined ? 'evaluation' : 'collected',
      key: rule.collected ?? rule.evaluation ?? '',
      values: rule.equals,
    })),
    timing: {
      dispatchMarginMs: advanced.dispatch_margin,
      settleMs: advanced.settle,
      analysisWaitMs: advanced.analysis_wait,
      lateDeliveryMs: advanced.late_delivery,
      lateLookbackMs: advanced.late_lookback,
      pollMs: advanced.poll,
    },
  };
}

/**
 * Refuses to start a campaign whose end has passed.
 * @throws CampaignFileError
 */
export function refuseEndedCampaign(file: CampaignFile, nowMs: number): void {
  const end = file.settings.ends_at;
  if (end === undefined || end > nowMs) return;
  const times = `${new Date(end).toISOString()} has passed (it is ${new Date(nowMs).toISOString()})`;
  const message = `${times}; write a later time, or leave the setting out`;
  throw new CampaignFileError(file.path, [{ line: file.lineOf(['ends_at']), path: 'ends_at', message }]);
}

function refuseUnknownColumns(file: CampaignFile, columns: readonly string[]): void {
  const { list } = file.settings;
  const problems: CampaignProblem[] = [];
  const check = (column: string | undefined, path: readonly string[], use: string): void => {
    if (column === undefined || columns.includes(column)) return;
    const nearest = nearestName(column, columns);
    const advice = nearest === null ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
    const names = `the columns of ${list.file} are ${columns.map((name) => showValue(name)).join(', ')}`;
    const message = `${use} ${JSON.stringify(column)}, which is no column of the list.${advice} In order, ${names}`;
    problems.push({ line: file.lineOf(path), path: path.join('.'), message });
  };
  check(list.phone, ['list', 'phone'], 'this names');
  check(list.id, ['list', 'id'], 'this names');
  check(list.timezone, ['list', 'timezone'], 'this names');
  check(list.country, ['list', 'country'], 'this names');
  check(list.state, ['list', 'state'], 'this names');
  for (const { path, template } of listTemplates(file.settings)) {
    const reading = readTemplate(template);
    if ('variables' in reading) for (const name of reading.variables) check(name, path, 'the template uses');
  }
  if (problems.length > 0) throw new CampaignFileError(file.path, problems);
}

function listTemplates(settings: CampaignSettings): { path: string[]; template: string }[] {
  const values = Object.entries(settings.variables?.values ?? {});
  const templates = values.map(([name, template]) => ({ path: ['variables', 'values', name], template }));
  if (settings.first_message !== undefined)
    templates.unshift({ path: ['first_message'], template: settings.first_message });
  return templates;
}

function readTemplate(template: string): { variables: string[] } | { fault: string } {
  try {
    return { variables: templateVariables(template) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function closedDates(holidays: CampaignSettings['holidays'], nowMs: number): string[] {
  const year = new Date(nowMs).getUTCFullYear();
  const dates = holidays.flatMap((holiday) => ('date' in holiday ? [holiday.date] : holidayDates(holiday, year, 3)));
  return [...new Set(dates)].sort();
}

function retryDelays(retry: CampaignSettings['retry']): Record<RetryDisposition, RetryDelays> {
  const { max_attempts: _attempts, max_uncounted: _uncounted, ...delays } = retry;
  return { ...defaultRetryDelays, ...withoutUndefined(delays) };
}

/** A fifth of the capacity keeps lines busy without a POST for every call that ends; never more than one batch. */
function defaultRefillThreshold(pacing: CampaignSettings['pacing']): number {
  return Math.min(pacing.batch_size, Math.ceil(pacing.max_concurrent_calls / 5));
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
