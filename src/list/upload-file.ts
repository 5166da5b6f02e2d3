import type { CampaignRules } from '../rules/campaign-rules.ts';
import { theColumn } from '../rules/columns.ts';
import { ListFileError } from '../shared/input/errors.ts';
import type { EncodingChoice, ListChoice } from './records.ts';
import { findHeader, type ListHeader } from './header.ts';
import { readRecipients, type ListRow } from './recipients.ts';

export interface UploadFile extends Pick<ListHeader, 'notes'> {
  path: string;
  /** As read; `utf-8` also for UTF-16 and workbooks, whose letters are equally certain. */
  encoding: string;
  /** Every data row, validated by the campaign's rules, cells in its column order. Repeatable. */
  read: () => AsyncGenerator<ListRow[]>;
}

export interface UploadQuestion extends ListChoice {
  rules: CampaignRules;
}

/** Opens a list with exactly the campaign's columns, in any order. Throws ListFileError that names the odd column. */
export async function openUpload({ rules, ...choice }: UploadQuestion): Promise<UploadFile> {
  const { path } = choice;
  const { columns, defaultRegion } = rules.list;
  const names = columns.filter((column) => column.trim() !== '');
  const own = encodingOf(rules);
  const header = await findHeader({ ...choice, ...own, encoding: choice.encoding ?? own.encoding, names, defaultRegion });
  const places = placesOf(path, columns, header.columns);
  const renamed: string[] = [];
  places.forEach((place, index) => (renamed[place] = columns[index] ?? ''));
  const inOrder: ListHeader = { ...header, columns: renamed };
  const { layout } = header;
  const encoding = layout.kind === 'sheet' || layout.encoding.startsWith('utf-') ? 'utf-8' : layout.encoding;
  return { path, encoding, notes: header.notes, read: () => readInOrder(path, inOrder, rules, places) };
}

/** Encoding that the campaign's rules set for its later files. */
export function encodingOf({ list }: Pick<CampaignRules, 'list'>): EncodingChoice {
  return list.encoding === undefined ? { unnamed: 'western' } : { encoding: list.encoding ?? undefined };
}

async function* readInOrder(path: string, header: ListHeader, rules: CampaignRules, places: readonly number[]): AsyncGenerator<ListRow[]> {
  for await (const rows of readRecipients({ listPath: path }, header, rules))
    yield rows.map((row) => ({ ...row, cells: places.map((place) => row.cells[place] ?? '') }));
}

function placesOf(path: string, columns: readonly string[], found: readonly string[]): number[] {
  const taken = new Set<number>();
  const places = columns.map((column) => {
    const place = placeOf(column, found, taken);
    if (place === null) throw new ListFileError(path, describeMissing(column, columns));
    taken.add(place);
    return place;
  });
  const other = found.findIndex((_, place) => !taken.has(place));
  if (other === -1) return places;
  const name = found[other] === '' ? `column ${other + 1}, which has no name,` : `the column ${quote(found[other])}`;
  throw new ListFileError(
    path,
    `${name} is no column of the campaign's list, and the results show that list's columns only; remove it. The columns are ${listOf(columns)}`,
  );
}

/** Unnamed columns are matched by order. */
function placeOf(column: string, found: readonly string[], taken: ReadonlySet<number>): number | null {
  if (column === '') {
    const place = found.findIndex((name, index) => name === '' && !taken.has(index));
    return place === -1 ? null : place;
  }
  const own = theColumn(column, found);
  const place = own === null ? -1 : found.indexOf(own);
  return place === -1 || taken.has(place) ? null : place;
}

function describeMissing(column: string, columns: readonly string[]): string {
  const what = column === '' ? 'a column without a name' : `the column ${quote(column)}`;
  return `${what} of the campaign's list is missing; export the list with all of ${listOf(columns)}`;
}

function listOf(columns: readonly string[]): string {
  return columns.map(quote).join(', ');
}

function quote(name: string | undefined): string {
  return JSON.stringify(name ?? '');
}
