import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { WordsForecast } from '../domain/forecast/words-forecast.ts';

export interface OpeningLines extends WordsForecast {
  /** `shared` as a part of the accepted rows, 0 to 1. */
  share: number;
  /** What to change in the campaign file; null when the lines tell all recipients apart. */
  advice: string | null;
}

/** The columns that could be spoken: not those that have a part of their own in the list. */
export function speakableColumns(list: CampaignRules['list']): { name: string; index: number }[] {
  const taken: unknown[] = Object.entries(list).flatMap(([key, value]) => (key.endsWith('Column') ? [value] : []));
  return list.columns.flatMap((name, index) => (taken.includes(name) ? [] : [{ name, index }]));
}

/** What the lines of the accepted rows come to, and what mends it. */
export function describeOpeningLines(
  { firstMessage }: Pick<CampaignRules, 'firstMessage'>,
  accepted: number,
  words: WordsForecast,
): OpeningLines {
  if (accepted > 1 && firstMessage === null) {
    const advice = 'Add a first_message with columns that differ from row to row, such as a name with a date or time.';
    const sizes = [{ rows: accepted, groups: 1 }];
    return { ...words, rows: accepted, shared: accepted, groups: 1, largest: accepted, sizes, share: 1, advice };
  }
  if (words.shared === 0) return { ...words, share: 0, advice: null };
  return { ...words, share: words.shared / accepted, advice: adviseColumn(words) };
}

function adviseColumn({ column }: Pick<WordsForecast, 'column'>): string {
  if (column === null)
    return 'No column of the list tells them apart: add one that differs, such as a last name or the time of an appointment, and put it into first_message.';
  const add = `Add a column that differs, such as ${column.name}, to first_message`;
  return column.left === 0 ? `${add}.` : `${add}: ${column.left} of ${column.looked} rows would still share theirs.`;
}
