import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { looksLikeNumber } from '../../../shared/input/phone-number.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';

export interface ListCell {
  /** Column index, from 0. */
  place: number;
  column: string;
  value: string;
}

type List = Pick<CampaignRules['list'], 'columns' | 'phoneColumn' | 'defaultRegion'>;

/** Numbers are masked unless `whole`. `cells`: JSON, as in the database. */
export function listCells(cells: string, list: List, whole: boolean): ListCell[] {
  const values = JSON.parse(cells) as string[];
  return list.columns.map((column, place) => {
    const value = printable((values[place] ?? '').trim());
    return { place, column: printable(column), value: maskedCell(value, { column, list, whole }) };
  });
}

/** Masks numbers, and anything in the phone column. */
function maskedCell(value: string, { column, list, whole }: { column: string; list: List; whole: boolean }): string {
  return !whole && (column === list.phoneColumn || looksLikeNumber(value, list.defaultRegion)) ? maskedNumber(value) : value;
}

/** Index of the name column, guessed by its header; undefined: none. */
export function nameColumn(list: Pick<List, 'columns'>): number | undefined {
  const patterns = [/^(full[ _]?)?name$/i, /^(first|given)[ _]?name$/i, /name/i];
  for (const pattern of patterns) {
    const place = list.columns.findIndex((column) => pattern.test(column.trim()));
    if (place >= 0) return place;
  }
  return undefined;
}
