import { cannotOutcomes, outcomes, type Outcome } from '../../../rules/outcome.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import type { CampaignRow, RowOrder, RowQuery } from '../../../ledger/read/campaign-rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { rowsPath } from '../core/links.ts';
import { may, type ViewRequest } from '../core/view.ts';
import { nameColumn } from '../core/cells.ts';

/** Requested people of a campaign: filter, order and columns; empty: the default. */
export interface PeopleQuery {
  state: CampaignRow['state'] | '';
  outcome: Outcome | 'cannot' | '';
  waiting: string;
  result: string;
  search: string;
  /** Cursor of the page, from the page before. */
  after: string;
  sort: RowOrder;
  /** Indices of the visible columns. */
  columns: readonly number[];
  /** Row with an open drawer. */
  person: number | null;
}

const states = ['waiting', 'open', 'done'] as const satisfies CampaignRow['state'][];
const mostSearched = 200;
const longestResult = 40;
const mostColumns = 8;
/** No column, instead of the usual ones. */
const noColumns = '-';

export function readPeopleQuery(request: ViewRequest, { rules, state: campaignState }: Campaign): PeopleQuery {
  const readParam = (name: string): string => request.sent?.get(name) ?? request.query(name);
  const search = (request.sent?.get('search') ?? '').trim().slice(0, mostSearched);
  // A search covers all people: an invisible filter would hide matches.
  const filter = (name: string): string => (search === '' ? readParam(name) : '');
  const state = states.find((each) => each === filter('state')) ?? '';
  const outcome = filter('outcome') === 'cannot' ? 'cannot' : (outcomes.find((each) => each === filter('outcome')) ?? '');
  const sort = search === '' && campaignState !== 'importing' ? readSort(request, readParam('sort'), rules.list) : ({ by: 'row' } as const);
  const isNext = sort.by === 'next' && (outcome !== '' || (state !== '' && state !== 'waiting'));
  return {
    state,
    outcome,
    waiting: filter('waiting'),
    result: filter('result').slice(0, longestResult),
    search,
    after: /^-?\d{1,16}(\.\d{1,9}){0,2}$/.test(readParam('after')) ? readParam('after') : '',
    // Only waiting rows have a next call.
    sort: isNext ? { by: 'row' } : sort,
    columns: readColumns(request, readParam('columns'), rules.list),
    person: /^[1-9]\d{0,8}$/.test(readParam('person')) ? Number(readParam('person')) : null,
  };
}

type List = CampaignRules['list'];

/** Cells take the role operate; own ids are public. */
function mayOrderBy(request: ViewRequest, list: List, place: number): boolean {
  const column = list.columns[place];
  return column !== undefined && (column === list.idColumn || (may(request, 'operate') && column !== list.phoneColumn));
}

function readSort(request: ViewRequest, text: string, list: List): RowOrder {
  if (text === 'next' || text === 'last') return { by: text };
  const place = Number(/^column-(\d{1,4})$/.exec(text)?.[1] ?? -1);
  return mayOrderBy(request, list, place) ? { by: 'column', place } : { by: 'row' };
}

function readColumns(request: ViewRequest, text: string, list: List): readonly number[] {
  const offered = columnsOf(request, list).map(({ place }) => place);
  if (text === '') return offered.filter((place) => place === nameColumn(list));
  return text
    .split(',')
    .map(Number)
    .filter((place) => offered.includes(place))
    .slice(0, mostColumns);
}

/** Columns that may be shown besides the fixed ones. */
export function columnsOf(request: ViewRequest, list: List): { place: number; column: string }[] {
  if (!may(request, 'operate')) return [];
  return list.columns
    .map((column, place) => ({ place, column }))
    .filter(({ column }) => column !== list.idColumn && column !== list.phoneColumn);
}

function sortText(sort: RowOrder): string {
  return sort.by === 'row' ? '' : sort.by === 'column' ? `column-${sort.place}` : sort.by;
}

/** For an address, without the search. */
export function fieldsOf(
  { state, outcome, waiting, result, sort, columns }: PeopleQuery,
  list: List,
): Record<'state' | 'outcome' | 'waiting' | 'result' | 'sort' | 'columns', string> {
  const isUsual = columns.length <= 1 && columns[0] === nameColumn(list);
  return {
    state,
    outcome,
    waiting,
    result,
    sort: sortText(sort),
    columns: isUsual ? '' : columns.length === 0 ? noColumns : columns.join(','),
  };
}

/** The same people with a change; resets the page and closes the drawer unless these are the change. */
export function peoplePath(campaign: Campaign, query: PeopleQuery, changed: Partial<PeopleQuery> = {}): string {
  const { after = '', person = null } = changed;
  return rowsPath(campaign.campaignId, {
    ...fieldsOf({ ...query, ...changed }, campaign.rules.list),
    after,
    ...(person === null ? {} : { person }),
  });
}

export function queryOf({ state, outcome, waiting, result, search }: PeopleQuery, mayFindAll: boolean): RowQuery {
  return {
    ...(state === '' ? {} : { states: [state] }),
    ...(outcome === '' ? {} : { outcomes: outcome === 'cannot' ? cannotOutcomes : [outcome] }),
    ...(waiting === '' ? {} : { waitingFor: waiting }),
    ...(result === '' ? {} : { results: [result] }),
    ...(search === '' ? {} : { search: { text: search, everywhere: mayFindAll } }),
  };
}
