import { empty, figure, link, linkButton, menu, menuLink, phone, scrolled } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { hasClosed } from '../../../rules/lifecycle.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { readPeople, type CampaignRow, type RowOrder } from '../../../ledger/read/campaign-rows.ts';
import { orderByColumn } from '../../../ledger/rows/list-order.ts';
import { readCampaignParts } from '../../../operations/control/read-cache.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { pager } from '../core/tools.ts';
import { campaignNav, campaignPath, fixPath, rowPath, rowsPath } from '../core/links.ts';
import { inCampaign, numbersForm, openCampaign, personName, shownNumber, stateBadge } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { peoplePath, columnsOf, fieldsOf, queryOf, readPeopleQuery, type PeopleQuery } from '../people/asked.ts';
import { listCells } from '../core/cells.ts';
import { drawer } from '../people/drawer.ts';
import { lastCallOf, nextCallOf, statusOf } from '../people/standing.ts';
import { countMatching, resultChips, statusChips, tools } from '../people/tools.ts';

const pageSize = 50;

export async function rowsView(request: ViewRequest): Promise<View> {
  const { now, cache, context } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  const peopleQuery = readPeopleQuery(request, campaign);
  const { list } = campaign.rules;
  if (peopleQuery.sort.by === 'column') await orderByColumn(context.store, campaignId, peopleQuery.sort.place);
  const query = { ...queryOf(peopleQuery, may(request, 'operate')), cells: peopleQuery.columns.length > 0 };
  const { rows, next } = await readPeople(
    db,
    campaignId,
    { ...query, order: peopleQuery.sort, after: peopleQuery.after, limit: pageSize },
    now,
  );
  const status = await cache.read(`status ${campaignId}`, () => readStatus(db, campaign));
  const { waiting = [] } = await readCampaignParts(context, ['waiting'], { campaign, now });
  const isSearch = request.sent !== null;
  const columns = columnsOf(request, list).filter(({ place }) => peopleQuery.columns.includes(place));
  const people = rows.map((row) => ({ row, cells: cellsOf(row.cells, campaign, request) }));
  const side = await drawer(request, campaign, peopleQuery);
  const fields = new URLSearchParams({ ...fieldsOf(peopleQuery, list), search: peopleQuery.search, after: peopleQuery.after });
  const here = peoplePath(campaign, peopleQuery, { after: peopleQuery.after, person: peopleQuery.person });
  const shown = countMatching(peopleQuery, status, waiting);
  return {
    title: 'People',
    // A refresh would lose the search.
    ...(isSearch ? {} : { follows: campaignId }),
    ...inCampaign(campaign),
    badge: stateBadge(campaign.state),
    actions: [
      correctButton(request, campaign, peopleQuery, status.outcomes.rejected ?? 0),
      numbersForm(request, campaignId, isSearch ? { to: rowsPath(campaignId), search: fields } : { to: here }),
      moreMenu(request, campaign),
    ],
    tabs: campaignNav(campaign, 'rows'),
    body: [
      statusChips(campaign, peopleQuery, status),
      resultChips(campaign, peopleQuery, status),
      tools(request, campaign, { asked: peopleQuery, waiting }),
      html`<div class="${side === null ? 'people' : 'people with-drawer'}">
        <section class="panel" aria-labelledby="people">
          <h2 class="hidden" id="people">${titleOf(peopleQuery)}</h2>
          ${rows.length === 0 ? nothingFound(peopleQuery, campaign) : peopleTable(request, campaign, { asked: peopleQuery, people, columns })}
          ${
            rows.length === 0 && peopleQuery.after === ''
              ? null
              : html`<footer>
                  <span>${count(rows.length)}${shown === null ? ' shown' : ` of ${count(shown)} people`}</span>
                  ${pager(
                    ({ after = '' }) => (isSearch ? rowsPath(campaignId) : peoplePath(campaign, peopleQuery, { after: String(after) })),
                    [peopleQuery.after !== '' && ['First', { after: '' }], next !== null && ['Next', { after: next }]],
                    { fields: isSearch ? Object.fromEntries(fields) : null },
                  )}
                </footer>`
          }
        </section>
        ${side}
      </div>`,
    ],
  };
}

function titleOf({ search, sort }: PeopleQuery): string {
  if (search !== '') return 'Found';
  const orders = {
    row: 'in the order of the list',
    next: 'who wait, the next call first',
    last: 'the last call first',
    column: 'by a column of the list',
  };
  return `People, ${orders[sort.by]}`;
}

function correctButton(request: ViewRequest, { campaignId }: Campaign, { outcome }: PeopleQuery, rejected: number): HtmlValue {
  if (!may(request, 'operate') || rejected === 0 || (outcome !== 'cannot' && outcome !== 'rejected')) return null;
  return linkButton(fixPath(campaignId), `Correct ${plural(rejected, 'row')}…`, '', 'pencil');
}

function moreMenu(request: ViewRequest, campaign: Campaign): HtmlValue {
  if (!may(request, 'operate')) return null;
  const { campaignId } = campaign;
  return menu('More actions', [
    hasClosed(campaign)
      ? null
      : menuLink(campaignPath(campaignId, '/update'), 'Change the list…', { drawing: 'pencil', small: 'Add, correct or withdraw people' }),
    menuLink(campaignPath(campaignId, '/results'), 'Download the results', { drawing: 'download', small: 'With all cells of the list' }),
  ]);
}

function nothingFound({ search, state, outcome, waiting, result, after }: PeopleQuery, campaign: Campaign): Html {
  const all = link(rowsPath(campaign.campaignId), 'Clear filters');
  if (search !== '') return empty('No one matches', ['A whole ID, or # and a row such as #12, finds one person. ', all]);
  if (state !== '' || outcome !== '' || waiting !== '' || result !== '' || after !== '') return empty('No one matches', all);
  return empty('Nobody is in this campaign', 'Its list was empty. Change the list to one with people.');
}

function cellsOf(cells: string | undefined, { campaignId, rules }: Campaign, request: ViewRequest): readonly string[] {
  return cells === undefined ? [] : listCells(cells, rules.list, request.numbersShown(campaignId)).map(({ value }) => value);
}

interface TableData {
  asked: PeopleQuery;
  people: readonly { row: CampaignRow; cells: readonly string[] }[];
  columns: readonly { place: number; column: string }[];
}

function peopleTable(request: ViewRequest, campaign: Campaign, { asked, people, columns }: TableData): Html {
  const { list } = campaign.rules;
  const idPlace = list.idColumn === null ? -1 : list.columns.indexOf(list.idColumn);
  const head = (words: string, sort: RowOrder): Html => sortHead(words, sort, { campaign, asked });
  return scrolled(titleOf(asked), {
    by: 'people',
    heads: [
      head('Person', idPlace < 0 ? { by: 'row' } : { by: 'column', place: idPlace }),
      ...columns.map(({ place, column }) => head(printable(column), { by: 'column', place })),
      'Number',
      'Status',
      html`<th scope="col" class="r">Calls</th>`,
      head('Last call', { by: 'last' }),
      head('Next call', { by: 'next' }),
    ],
    lines: people.map(({ row, cells }) => personLine(request, campaign, { asked, row, cells, columns })),
  });
}

/** Search results are too few to sort. */
function sortHead(words: string, sort: RowOrder, { campaign, asked }: { campaign: Campaign; asked: PeopleQuery }): Html {
  if (asked.search !== '') return html`<th scope="col">${words}</th>`;
  const isHere = sort.by === asked.sort.by && (sort.by !== 'column' || asked.sort.by !== 'column' || sort.place === asked.sort.place);
  const filters = sort.by === 'next' ? { state: '' as const, outcome: '' as const } : {};
  return html`<th scope="col" ${isHere ? html`aria-sort="${sort.by === 'last' ? 'descending' : 'ascending'}"` : null}>
    <a href="${peoplePath(campaign, asked, { sort, ...filters })}">${words} ${isHere ? icon('down') : null}</a>
  </th>`;
}

interface Line extends Omit<TableData, 'people'> {
  row: CampaignRow;
  cells: readonly string[];
}

/** The row links to the drawer if there is space, else to the person's page. */
function personLine(request: ViewRequest, campaign: Campaign, { asked, row, cells, columns }: Line): Html {
  const { campaignId } = campaign;
  const name = personName(row.row, row.externalId);
  const page = rowPath(campaignId, row.row);
  const beside = asked.search === '' ? peoplePath(campaign, asked, { after: asked.after, person: row.row }) : null;
  return html`<tr id="row-${row.row}" class="go" ${row.row === asked.person ? html`aria-current="true"` : null}>
    <th scope="row">
      ${beside === null ? html`<a href="${page}">${name}</a>` : html`<a class="to-page" href="${page}">${name}</a><a class="to-drawer" href="${beside}">${name}</a>`}
    </th>
    ${columns.map(({ place, column }) => html`<td class="list-cell" data-label="${printable(column)}">${cells[place]}</td>`)}
    <td class="nowrap number">${row.e164 === null ? phone('–') : shownNumber(request, campaignId, row.e164)}</td>
    <td class="wide">${statusOf(row, request.now)}</td>
    <td class="r skip-narrow" data-label="Calls">${figure(row.attempts)}</td>
    <td class="nowrap" data-label="Last call">${lastCallOf(row)}</td>
    <td class="nowrap" data-label="Next call">${nextCallOf(row, request.now)}</td>
  </tr>`; // prettier-ignore
}
