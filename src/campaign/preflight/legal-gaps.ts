import { unruledCountries, weekdays, type CampaignRules, type WeeklyHours, basisWords } from '../../rules/campaign-rules.ts';
import { windowText } from '../../rules/hours/weekly-hours.ts';
import { refusalOf, type CampaignFile } from '../file/file.ts';
import { lacksBasis, type LawOutlook } from '../../rules/hours/legal-hours.ts';
import { plural } from '../../shared/input/figures.ts';

/** A country whose hours by law no rule knows, and the rows of the list that are there; null: numbers of no country. */
export interface UnruledCountry {
  country: string | null;
  rows: number;
}

const mostNamed = 10;

/** What to know before a start about countries whose law is not known: when they are called, and how to say otherwise. */
export function unruledWarnings({ law }: Pick<CampaignRules, 'law'>, countries: readonly UnruledCountry[]): string[] {
  const first = countries.find(({ country }) => country !== null)?.country ?? null;
  if (countries.length === 0) return [];
  const named = countries.slice(0, mostNamed).map(({ country, rows }) => {
    const where = country ?? 'numbers of no country';
    return `${where} (${rows === 1 ? '1 row' : `${String(rows)} rows`})`;
  });
  const more = countries.length > mostNamed ? ` and ${String(countries.length - mostNamed)} more countries` : '';
  const rules = law.filter(({ country }) => country === unruledCountries);
  const hours = rules.map((rule) => (rule.hours === null ? 'no calls' : hoursText(rule.hours)));
  const holidays = rules.some((rule) => rule.holidays === 'closed') ? ', nor on public holidays that are known there' : '';
  const fix = first === null ? '' : `, or law: { ${first}: none } if the hours of the campaign are to hold alone there`;
  return [
    `no rule by law is known for ${named.join(', ')}${more}: nobody there is called outside of ${hours.join(' and ')} of their own time${holidays}; name a file with a rule of your own under law${fix}`,
  ];
}

/** `mon-fri 09:00-20:00` */
function hoursText(hours: WeeklyHours): string {
  const stretches: { from: string; to: string; open: string }[] = [];
  for (const day of weekdays) {
    const open = (hours[day] ?? []).map(windowText).join(' and ');
    const last = stretches.at(-1);
    if (last?.open === open) last.to = day;
    else stretches.push({ from: day, to: day, open });
  }
  return stretches
    .filter(({ open }) => open !== '')
    .map(({ from, to, open }) => `${from === to ? from : `${from}-${to}`} ${open}`)
    .join(', ');
}

/**
 * Refuses to begin a campaign that does not state what its calls rest on, where the law forbids them without consent.
 * @throws CampaignFileError
 */
export function refuseMissingBasis(file: CampaignFile, outlook: LawOutlook): void {
  const lacking = lacksBasis(outlook);
  const [first] = lacking;
  if (first === undefined) return;
  const where = lacking.map(({ country, rows, source }) => `${country} (${plural(rows, 'row')}; ${source})`).join(', ');
  const message = `is missing, and the law asks for consent in ${where}; write what your calls rest on: ${basisWords}; or leave the rows out, or write law: { ${first.country}: none } if that law does not hold for your calls`;
  throw refusalOf(file, ['basis'], message);
}
