import { join } from 'node:path';
import { unruledCountries, type LegalHours, weekdays } from '../../rules/campaign-rules.ts';
import { findLaw } from '../../rules/hours/legal-hours.ts';
import { describeIssues, problemAt, showValue, type LineOf } from '../../shared/input/problems.ts';
import { loadCampaignText, readCampaignText } from '../../shared/input/yaml-text.ts';
import { CampaignFileError, type CampaignProblem } from '../../shared/input/errors.ts';
import { holidayDates, knowsHolidays } from './holidays.ts';
import { legalRulesSchema, type LegalRule } from './legal-rules-schema.ts';
import { packageFolder } from '../../shared/input/package-folder.ts';
import { weeklyHours } from '../../rules/hours/weekly-hours.ts';

export interface LegalRules {
  rules: readonly LegalRule[];
  /** Date of the packaged rules; null when the user's file replaces all of them. */
  packagedAsOf: string | null;
  own: OwnRules | null;
  /** Countries for which the campaign file turns the law off. */
  none: readonly string[];
}

export interface OwnRules {
  path: string;
  asOf: string;
  replaced: readonly string[];
  added: readonly string[];
}

/** Years of holidays computed in advance: no campaign runs longer. */
const holidayYears = 3;

let packagedRules: Promise<RulesFile> | undefined;

/** Packaged rules plus the user's own, which replace those of the same id; countries in `none` are exempt. Throws CampaignFileError. */
export async function readLegalRules(ownPath: string | null, none: readonly string[] = []): Promise<LegalRules> {
  const packaged = await (packagedRules ??= readRules(join(packageFolder('rules'), 'calling-hours.yaml')));
  const rules = new Map(packaged.rules.map((rule) => [rule.id, rule]));
  if (ownPath === null) return { rules: withoutLawIn(packaged.rules, none), packagedAsOf: packaged.asOf, own: null, none };
  const file = await readRules(ownPath);
  const moved = file.rules.flatMap((rule, index) => findMove(rules.get(rule.id), rule, index, file.lineOf));
  if (moved.length > 0) throw new CampaignFileError(ownPath, moved);
  const ids = file.rules.map(({ id }) => id);
  const replaced = ids.filter((id) => rules.has(id));
  const added = ids.filter((id) => !rules.has(id));
  for (const rule of file.rules) rules.set(rule.id, rule);
  return {
    rules: withoutLawIn([...rules.values()], none),
    packagedAsOf: replaced.length === packaged.rules.length ? null : packaged.asOf,
    own: { path: ownPath, asOf: file.asOf, replaced, added },
    none,
  };
}

/** Replaces a country's rules with one open all day; without any rule its hours would count as unknown. */
function withoutLawIn(rules: readonly LegalRule[], none: readonly string[]): readonly LegalRule[] {
  const open = none.map((country) => ({
    id: `none-${country}`,
    country: country as LegalRule['country'],
    hours: { daily: [{ from: 0, to: 1440 }] },
    source: `law: { ${country}: none }`,
  }));
  return [...rules.filter(({ country }) => !none.includes(country)), ...open];
}

export async function describePackagedRules(): Promise<{ asOf: string; count: number }> {
  const { rules, packagedAsOf } = await readLegalRules(null);
  return { asOf: packagedAsOf ?? '', count: rules.length };
}

interface RulesFile {
  asOf: string;
  rules: readonly LegalRule[];
  lineOf: LineOf;
}

async function readRules(path: string): Promise<RulesFile> {
  const { content, lineOf } = await readCampaignText(path);
  const parsed = legalRulesSchema.safeParse(content);
  if (!parsed.success) throw new CampaignFileError(path, describeIssues(parsed.error.issues, content, legalRulesSchema, lineOf));
  const { as_of: asOf, rules } = parsed.data;
  return { asOf, rules: rules.map((rule) => ({ ...rule, asOf })), lineOf };
}

/** A rule that replaces one for another place would leave that place without its law. */
function findMove(packaged: LegalRule | undefined, own: LegalRule, index: number, lineOf: RulesFile['lineOf']): CampaignProblem[] {
  if (packaged === undefined || placeOf(packaged) === placeOf(own)) return [];
  const message = `${showValue(own.id)} cannot be used; choose another id for ${placeOf(own)}, or write the rule for ${placeOf(packaged)}: the packaged rule that it would replace is for that`;
  return [problemAt(lineOf, ['rules', index, 'id'], message)];
}

function placeOf({ country, region }: LegalRule): string {
  return region === undefined ? country : `${country}-${region}`;
}

export async function refuseUnreadableRules(ownPath: string, setting: { path: string; line: number | null; value: string }): Promise<void> {
  try {
    await loadCampaignText(ownPath);
  } catch (error) {
    const reason = error instanceof CampaignFileError ? (error.problems[0]?.message ?? '') : String(error);
    const message = `${showValue(setting.value)} cannot be used as a rules file (${ownPath}); ${reason}`;
    throw new CampaignFileError(setting.path, [{ line: setting.line, path: 'law', message }], { cause: error });
  }
}

/** The rules frozen at campaign start, with holidays as dates. */
export function legalHours(rules: readonly LegalRule[], nowMs: number): LegalHours[] {
  const year = new Date(nowMs).getUTCFullYear();
  return rules.map((rule) => {
    const { id, country, region = null, hours, caps = [], from = null, until = null, source } = rule;
    const { eves, consent, unconfirmed, asOf } = rule;
    const { daily, ...own } = hours ?? {};
    const isForAll = country === unruledCountries;
    const holidays = rule.holidays === undefined || isForAll ? [] : holidayDates({ country, region }, year, holidayYears);
    const week = Object.fromEntries(weekdays.map((day) => [day, own[day] ?? daily ?? []]));
    return {
      id,
      country,
      region,
      hours: hours === undefined ? null : weeklyHours(week),
      closedOn: [...holidays, ...(rule.closed_on ?? []).flatMap((day) => datesOfDay(day, year))],
      caps: caps.map(({ calls, within }) => ({ by: 'number' as const, calls, withinMs: within })),
      ...(eves === undefined ? {} : { eves: { dates: holidays.map(dayBefore), windows: eves } }),
      ...(rule.holidays !== undefined && isForAll ? { holidays: rule.holidays } : {}),
      ...(consent === undefined ? {} : { consent }),
      ...(unconfirmed === undefined ? {} : { unconfirmed }),
      from,
      until,
      source,
      ...(asOf === undefined ? {} : { asOf }),
    };
  });
}

function dayBefore(date: string): string {
  return new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
}

/** Copies the rules for countries without law to this country, with its holidays closed. Slow, so only for countries in the list. */
export function closeHolidaysOf(country: string, law: LegalHours[], nowMs: number): void {
  const closing = findLaw(law, { country, regions: null }).filter(({ holidays }) => holidays === 'closed');
  const place = { country, region: null };
  if (closing.length === 0 || !knowsHolidays(place)) return;
  const dates = holidayDates(place, new Date(nowMs).getUTCFullYear(), holidayYears);
  for (const rule of closing)
    law.push({
      ...rule,
      id: `${rule.id}-${country}`,
      country,
      closedOn: [...rule.closedOn, ...dates],
      holidays: 'made',
    });
}

/** Expands `01-08` to that day in each computed year; a full date stays as it is. */
function datesOfDay(day: string, firstYear: number): string[] {
  if (day.length > 5) return [day];
  return Array.from({ length: holidayYears }, (_, index) => `${String(firstYear + index)}-${day}`);
}
