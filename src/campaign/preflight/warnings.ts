import { unruledCountries, type CampaignRules } from '../../rules/campaign-rules.ts';
import { missingRequirements } from '../../rules/house-rules.ts';
import { weekText } from '../../rules/hours/weekly-hours.ts';
import { refusalOf } from '../file/file.ts';
import { lacksBasis, type LawSummary } from '../../rules/hours/legal-hours.ts';
import { talksToRuleOut } from '../../rules/gates.ts';
import { plural, span } from '../../shared/input/figures.ts';
import type { LegalRules } from '../file/legal-rules.ts';
import type { CampaignFile } from '../file/campaign-file.ts';
import { basisWords } from '../../rules/consent.ts';

/** A country without a calling-hours rule, and its rows in the list; null: numbers of no country. */
export interface UnruledCountry {
  country: string | null;
  rows: number;
}

const mostNamed = 10;

export function unruledWarnings({ law }: Pick<CampaignRules, 'law'>, countries: readonly UnruledCountry[]): string[] {
  const first = countries.find(({ country }) => country !== null)?.country ?? null;
  if (countries.length === 0) return [];
  const named = countries.slice(0, mostNamed).map(({ country, rows }) => {
    const where = country ?? 'numbers of no country';
    return `${where} (${rows === 1 ? '1 row' : `${String(rows)} rows`})`;
  });
  const more = countries.length > mostNamed ? ` and ${String(countries.length - mostNamed)} more countries` : '';
  const rules = law.filter(({ country }) => country === unruledCountries);
  const hours = rules.map((rule) => (rule.hours === null ? 'no calls' : weekText(rule.hours)));
  const holidays = rules.some((rule) => rule.holidays === 'closed') ? ', nor on public holidays that are known there' : '';
  const fix = first === null ? '' : `, or law: { ${first}: none } if the hours of the campaign are to hold alone there`;
  return [
    `no rule by law is known for ${named.join(', ')}${more}: nobody there is called outside of ${hours.join(' and ')} of their own time${holidays}; name a file with a rule of your own under law${fix}`,
  ];
}

/**
 * Refuses a campaign without a stated basis where the law requires consent.
 * @throws CampaignFileError
 */
export function refuseMissingBasis(file: CampaignFile, law: LawSummary): void {
  const lacking = lacksBasis(law);
  const [first] = lacking;
  if (first === undefined) return;
  const where = lacking.map(({ country, rows, source }) => `${country} (${plural(rows, 'row')}; ${source})`).join(', ');
  const message = `is missing, and the law asks for consent in ${where}; write what your calls rest on: ${basisWords}; or leave the rows out, or write law: { ${first.country}: none } if that law does not hold for your calls`;
  throw refusalOf(file, ['basis'], message);
}

export function refuseUnmetAccountRules(file: CampaignFile, rules: CampaignRules): void {
  const lacks = missingRequirements(rules);
  const [first] = lacks;
  if (first === undefined) return;
  const others = lacks.slice(1).map((name) => ` (and so is ${name})`);
  const message = `is missing${others.join('')}, and version ${rules.house?.version ?? 0} of the house rules requires it; add it to the campaign file (carillon rules show tells what else holds)`;
  throw refusalOf(file, [first], message);
}

export function campaignWarnings(rules: CampaignRules): string[] {
  const { retry, optOut, dispositions } = rules;
  const redials = retry.delays.unknown !== 'never';
  const hearsOptOuts = optOut.length > 0 || dispositions.some(({ disposition }) => disposition === 'opted_out');
  return [
    ...(redials
      ? ['on_unknown: redial: people of whom nobody knows whether they were called are dialled again, and may be called twice']
      : []),
    ...(hearsOptOuts
      ? []
      : [
          'a request not to be called again would not be heard: add opt_out, or a rule of dispositions with is: opted_out, that says where the record of a call shows it',
        ]),
    ...callbackWarnings(rules),
    ...pilotWarnings(rules),
  ];
}

/** Warns of gates whose limit a pilot of that size cannot distinguish from chance, even if every row is a talk. */
function pilotWarnings({ pilot, gates = [] }: CampaignRules): string[] {
  if (pilot === undefined) return [];
  return gates.flatMap(({ always, ...gate }, index) => {
    const needed = talksToRuleOut(gate);
    if (needed === null || needed <= pilot.rows || always) return [];
    const limit = `${Number(((gate.atMost ?? 0) * 100).toFixed(1))} %`;
    return [
      `gates[${index}] cannot be told by a pilot of ${plural(pilot.rows, 'row')}: even if none of them is such a case, a share above ${limit} is possible, and ${needed} ${gate.of} without one would be needed; add always: true, or call more rows first`,
    ];
  });
}

/** Warns of caps that forbid requested callbacks, and of an end too early for the callback horizon. */
function callbackWarnings({ callback, caps, endsAt, startsAt }: CampaignRules): string[] {
  if (callback === undefined) return [];
  const forbidding = caps.flatMap((cap, index) => {
    const forMs = 'afterTalkMs' in cap ? cap.afterTalkMs : cap.calls === 1 ? cap.withinMs : 0;
    return forMs === 0 ? [] : [{ index, forMs }];
  });
  const runsMs = endsAt === null || startsAt === null ? Infinity : endsAt - startsAt;
  return [
    ...forbidding.map(
      ({ index, forMs }) =>
        `caps[${index}] allows no call back within ${span(forMs)} of the talk in which it was asked for: it would be missed; loosen the cap, or expect to decide about such people`,
    ),
    ...(runsMs < callback.horizonMs
      ? [`the campaign ends ${span(runsMs)} after its start: whoever asks to be called back later is left to you`]
      : []),
  ];
}

/** Laws change, so rules older than this get a warning. */
const staleAfterMonths = 6;

/** True when rules of this date (`2026-01-31`) need a recheck. */
export function isStale(asOf: string, nowMs: number): boolean {
  const until = new Date(`${asOf}T00:00:00Z`);
  until.setUTCMonth(until.getUTCMonth() + staleAfterMonths);
  return nowMs >= until.getTime();
}

/** Warnings about outdated or future-dated rules; `law` null: rules are off. */
export function lawWarnings(law: LegalRules | null, nowMs: number): string[] {
  if (law === null) return [];
  const { packagedAsOf, own } = law;
  const old = `more than ${String(staleAfterMonths)} months ago`;
  const warnings: string[] = [];
  if (packagedAsOf !== null && isStale(packagedAsOf, nowMs))
    warnings.push(
      `the rules by law that come with Carillon are as of ${packagedAsOf}, ${old}: update Carillon, or look them up and name a file of your own under law`,
    );
  if (own !== null && isStale(own.asOf, nowMs))
    warnings.push(`the rules of ${own.path} are as of ${own.asOf}, ${old}: look them up again, and write the date of that under as_of`);
  if (own !== null && Date.parse(own.asOf) > nowMs)
    warnings.push(`the rules of ${own.path} are as of ${own.asOf}, which is yet to come: correct as_of`);
  return warnings;
}
