import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { looksLikeNumber } from '../../../shared/input/phone-number.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';

export interface ListCell {
  /** Of its column, from 0. */
  place: number;
  column: string;
  value: string;
}

type List = Pick<CampaignRules['list'], 'columns' | 'phoneColumn' | 'defaultRegion'>;

/** The cells of a row as they may be shown; numbers are masked unless `whole`. `cells`: JSON, as the database has them. */
export function listCells(cells: string, list: List, whole: boolean): ListCell[] {
  const values = JSON.parse(cells) as string[];
  return list.columns.map((column, place) => {
    const value = printable((values[place] ?? '').trim());
    return { place, column: printable(column), value: maskedCell(value, { column, list, whole }) };
  });
}

/** A cell as it may be shown. Of what is no number either, and stands where one should, no more is shown. */
function maskedCell(value: string, { column, list, whole }: { column: string; list: List; whole: boolean }): string {
  return !whole && (column === list.phoneColumn || looksLikeNumber(value, list.defaultRegion)) ? maskedNumber(value) : value;
}

/** The column in which the name of a person stands, by what it is called; undefined: none is called so. */
export function nameColumn(list: Pick<List, 'columns'>): number | undefined {
  const wanted = [/^(full[ _]?)?name$/i, /^(first|given)[ _]?name$/i, /name/i];
  for (const pattern of wanted) {
    const place = list.columns.findIndex((column) => pattern.test(column.trim()));
    if (place >= 0) return place;
  }
  return undefined;
}
