import { outcomes, type Outcome } from '../../../rules/outcome.ts';
import { empty, figure, id, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readStatus, type CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { readCampaignRows, type CampaignRow, type RowQuery } from '../../../ledger/read/campaign-rows.ts';
import type { WaitingGroup } from '../../../ledger/read/waiting.ts';
import { reasonText, waitingText } from '../../../presentation/words/causes.ts';
import { dispositionText } from '../../../presentation/words/history.ts';
import { waitFor } from '../../../operations/control/read-cache.ts';
import { hidden, selectField } from '../core/fields.ts';
import { rowPath, rowsPath, withQuery } from '../core/links.ts';
import { openCampaign, inCampaign, numbersForm, shownNumber, outcomeWord, rowBadge, rowStateWord } from '../core/rows.ts';
import type { View, ViewRequest } from '../core/view.ts';

const pageSize = 50;
const rowStates = ['waiting', 'open', 'done'] as const satisfies CampaignRow['state'][];
const mostSearched = 200;
const waitingWithinMs = 100;

/** Which rows are asked for, each empty where nothing is said. */
interface Asked {
  state: CampaignRow['state'] | '';
  outcome: Outcome | '';
  waiting: string;
  search: string;
  after: number;
}

/** The rows of a campaign, a page at a time, by filter or as somebody searches them. */
export async function rowsView(request: ViewRequest): Promise<View> {
  const { now, cache } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  const asked = readAsked(request);
  const found = await readCampaignRows(db, campaignId, { ...queryOf(asked), limit: pageSize + 1 }, now);
  const rows = found.slice(0, pageSize);
  const status = await cache.read(`status ${campaignId}`, () => readStatus(db, campaign));
  const waiting = await cache.readWithin(waitFor(campaign.rowsTotal, waitingWithinMs), `waiting ${campaignId}`, () =>
    request.context.aside.read('waiting', campaign, now),
  );
  const path = rowsPath(campaignId);
  const isSearch = request.sent !== null;
  const here = rowsPath(campaignId, { ...filtersOf(asked), ...(asked.after > 0 ? { after: asked.after } : {}) });
  return {
    title: `Rows of ${campaignId}`,
    // What was searched for would be gone from a page that is asked for again.
    ...(isSearch ? {} : { follows: campaignId }),
    ...inCampaign(campaign),
    body: [
      html`<div class="filters">${filterForm(path, asked, { status, waiting: waiting ?? [] })} ${searchForm(path, asked)}</div>`,
      panel(
        titleOf(asked),
        [
          table(
            'Rows in the order of the list',
            rows.map((row) => ({ key: `row-${row.row}`, cells: cellsOf(row, { request, campaignId }) })),
            nothingFound(asked, path),
          ),
          pages(asked, { path, next: found.length > pageSize ? (rows.at(-1)?.row ?? 0) : null, isSearch }),
        ],
        numbersForm(request, campaignId, isSearch ? { to: path, search: fieldsOf(asked) } : { to: here }),
      ),
    ],
  };
}

function readAsked(request: ViewRequest): Asked {
  const said = (name: string) => request.sent?.get(name) ?? request.query(name);
  const after = Number(said('after'));
  return {
    state: rowStates.find((state) => state === said('state')) ?? '',
    outcome: outcomes.find((outcome) => outcome === said('outcome')) ?? '',
    waiting: said('waiting'),
    search: (request.sent?.get('search') ?? '').trim().slice(0, mostSearched),
    after: Number.isSafeInteger(after) && after > 0 ? after : 0,
  };
}

function queryOf({ state, outcome, waiting, search, after }: Asked): RowQuery {
  return {
    afterRow: after,
    ...(state === '' ? {} : { states: [state] }),
    ...(outcome === '' ? {} : { outcomes: [outcome] }),
    ...(waiting === '' ? {} : { waitingFor: waiting }),
    ...(search === '' ? {} : { search }),
  };
}

function filtersOf({ state, outcome, waiting }: Asked): Record<'state' | 'outcome' | 'waiting', string> {
  return { state, outcome, waiting };
}

function fieldsOf(asked: Asked): URLSearchParams {
  const { search, after } = asked;
  return new URLSearchParams({ ...filtersOf(asked), search, ...(after > 0 ? { after: String(after) } : {}) });
}

function filterForm(path: string, asked: Asked, { status, waiting }: { status: CampaignStatus; waiting: readonly WaitingGroup[] }): Html {
  const outcomesSeen = outcomes.filter((outcome) => outcome === asked.outcome || (status.outcomes[outcome] ?? 0) > 0);
  const rules = waiting.map(({ rule, rows }) => [rule, `${waitingText(rule)} (${rows.toLocaleString('en')})`] as const);
  const states = rowStates.map((state) => [state, rowStateWord(state)] as const);
  const ended = outcomesSeen.map(
    (outcome) => [outcome, `${outcomeWord(outcome)} (${(status.outcomes[outcome] ?? 0).toLocaleString('en')})`] as const,
  );
  const other = [asked.waiting, waitingText(asked.waiting)] as const;
  const known = asked.waiting === '' || rules.some(([rule]) => rule === asked.waiting);
  return html`<form id="rows-filter" class="filter" method="get" action="${path}">
    ${selectField({ name: 'state', label: 'State', none: 'any', chosen: asked.state }, states)}
    ${selectField({ name: 'outcome', label: 'Outcome', none: 'any', chosen: asked.outcome }, ended)}
    ${selectField({ name: 'waiting', label: 'Waits for', none: 'any', chosen: asked.waiting }, known ? rules : [...rules, other])}
    <button class="btn">Show</button>
  </form>`;
}

function searchForm(path: string, asked: Asked): Html {
  return html`<form id="rows-search" class="filter" method="post" action="${path}" role="search">
    ${hidden(filtersOf(asked))}
    <label
      >Number, ID, or # and a row
      <input name="search" type="search" autocomplete="off" maxlength="${mostSearched}" value="${asked.search}" required
    /></label>
    <button class="btn">Search</button>
    ${asked.search === '' ? null : link(withQuery(path, filtersOf(asked)), 'All rows')}
  </form>`;
}

function titleOf({ search, after }: Asked): string {
  const where = after > 0 ? `, below row ${after.toLocaleString('en')}` : '';
  return `${search === '' ? 'Rows' : 'Found'}${where}`;
}

function nothingFound({ search, state, outcome, waiting, after }: Asked, path: string): HtmlValue {
  if (search !== '')
    return empty('No row is found', [
      'Write four digits or more of a number, a whole ID, or # and a row such as #12. ',
      link(path, 'All rows'),
    ]);
  if (state !== '' || outcome !== '' || waiting !== '' || after > 0) return empty('No such row', link(path, 'All rows'));
  return empty('This campaign has no row', 'Its list was empty. Update it with a list that has rows.');
}

function pages(asked: Asked, { path, next, isSearch }: { path: string; next: number | null; isSearch: boolean }): Html {
  const filters = filtersOf(asked);
  const to = (after: number | null) => {
    if (isSearch)
      return html`<form class="inline" method="post" action="${path}">
        ${hidden({ ...filters, search: asked.search, ...(after === null ? {} : { after: String(after) }) })}
        <button class="btn sm">${after === null ? 'First rows' : 'Next rows'}</button>
      </form>`;
    return link(withQuery(path, { ...filters, after: after ?? undefined }), after === null ? 'First rows' : 'Next rows');
  };
  return html`<div class="pages">${asked.after > 0 ? to(null) : null} ${next === null ? null : to(next)}</div>`;
}

function cellsOf(row: CampaignRow, { request, campaignId }: { request: ViewRequest; campaignId: string }) {
  const { externalId, e164, reason, attempts, disposition, lastDialedAt, dueAt } = row;
  return {
    Row: link(rowPath(campaignId, row.row), figure(row.row)),
    State: rowBadge(row),
    ID: externalId === null ? '–' : id(printable(externalId)),
    Number: shownNumber(request, campaignId, e164),
    Reason: reason === null ? '–' : reasonText(reason),
    Calls: figure(attempts),
    'Last call': instant(lastDialedAt, 'full'),
    Result: disposition === null ? '–' : dispositionText(disposition),
    'Looked at again': dueAt === null ? '–' : dueAt <= request.now ? 'due' : instant(dueAt, 'full'),
  };
}
