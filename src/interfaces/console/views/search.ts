import { plural } from '../../../shared/input/figures.ts';
import { empty, link, panel, scrolled } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import { searchPeople, type FoundRecipient } from '../../../operations/control/search.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { campaignName, personName, shownNumber } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { statusOf } from '../people/standing.ts';

const most = 50;
const mostWritten = 200;

/** Posted, so that the search is in no address, history or log. */
export async function searchView(request: ViewRequest): Promise<View> {
  const text = (request.sent?.get('search') ?? '').trim().slice(0, mostWritten);
  return {
    title: 'Search',
    section: 'search',
    body: [form(request, text), text === '' ? null : await results(request, text)],
  };
}

function form(request: ViewRequest, text: string): Html {
  const hint = may(request, 'operate')
    ? 'An ID, # and a row, at least 4 digits of a number, or what stands in any cell of a list, such as a name.'
    : 'An ID, or # and a row. Numbers, names and other cells are found by whoever may operate.';
  return html`<form id="search-form" class="search-all" role="search" method="post" action="/search">
    <label for="search">People of all campaigns</label>
    <span class="search">${icon('search')}<input
      id="search" name="search" type="search" autocomplete="off" maxlength="${mostWritten}" value="${text}" aria-describedby="search-hint" required
    /><kbd aria-hidden="true">/</kbd></span>
    <button class="btn primary">Search</button>
    <p class="hint" id="search-hint">${hint}</p>
  </form>`; // prettier-ignore
}

async function results(request: ViewRequest, text: string): Promise<Html> {
  const query = { text, everywhere: may(request, 'operate'), limit: most };
  const { people, isComplete } = await searchPeople(request.context, query, request.now);
  const found = plural(people.length, 'person', 'people');
  return panel(
    isComplete ? found : `The first ${found}`,
    people.length === 0 ? empty('No one matches', 'Write another part of it, or look into one campaign.') : foundTable(request, people),
    html`<p>${isComplete ? 'newest campaign first' : 'There may be more: write more of it'}</p>`,
    'found',
  );
}

function foundTable(request: ViewRequest, people: readonly FoundRecipient[]): Html {
  const heads = ['Person', 'Campaign', 'Number', 'Status', 'Found in'];
  return scrolled('People who were found', { by: 'found', heads, lines: people.map((person) => line(request, person)) });
}

function line(request: ViewRequest, { campaign, row, match }: FoundRecipient): Html {
  const { campaignId } = campaign;
  return html`<tr id="found-${campaignId}-${row.row}" class="go">
    <th scope="row"><a href="${rowPath(campaignId, row.row)}">${personName(row.row, row.externalId)}</a></th>
    <td class="list-cell" data-label="Campaign">${link(campaignPath(campaignId), campaignName(campaign))}</td>
    <td class="nowrap number">${shownNumber(request, campaignId, row.e164)}</td>
    <td class="wide">${statusOf(row, request.now)}</td>
    <td class="list-cell" data-label="Found in">
      ${match === null ? 'ID, row or number' : html`<span class="soft">${printable(match.column)}:</span> ${printable(match.value)}`}
    </td>
  </tr>`;
}
