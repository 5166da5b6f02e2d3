import { checkDoNotCall, readNumbers, type CheckedNumber } from '../../../operations/control/suppress.ts';
import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { count, empty, figure, instant, link, panel, phone, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { accountScope, countEntries, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { entriesPath } from '../core/links.ts';
import { numberFields, readNumberFields, hidden, selectField } from '../core/fields.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { readEntryPage } from '../../../ledger/read/do-not-call.ts';
import { numbersForm, shownNumber } from '../core/rows.ts';

const mostChecked = 1000;

/** How many numbers nobody calls, and whether some number is one of them. */
export async function doNotCallView(request: ViewRequest): Promise<View> {
  const { context, now, sent } = request;
  const counts = await countEntries(context.store.db, now);
  const checked = sent === null ? null : await check(request, sent);
  return {
    title: 'Do not call',
    section: 'do-not-call',
    body: [
      panel(
        'The list',
        [
          table(
            'Entries of the do-not-call list',
            counts.map(({ scope, holding, over }) => ({
              key: `scope-${scope}`,
              cells: {
                For: scope === accountScope ? 'all campaigns' : `only ${scope}`,
                Numbers: may(request, 'operate') ? link(entriesPath({ scope }), figure(holding)) : figure(holding),
                Over: figure(over),
              },
            })),
            empty('No number is on the list', 'A person who asks an agent not to be called is added, if the campaign file says so.'),
          ),
          buttons(request),
        ],
        may(request, 'operate') && counts.length > 0 ? link(entriesPath({}), 'All entries') : null,
      ),
      panel('Is a number on it?', [
        typeof checked === 'string' ? html`<p class="refused" role="alert">${checked}</p>` : null,
        html`<form class="act" method="post" action="/do-not-call">
          ${numberFields(typeof checked === 'string' ? sent : null, { settled: false })}
          <p class="actions"><button class="btn">Check</button></p>
        </form>`,
      ]),
      checked === null || typeof checked === 'string' ? null : panel(verdictOf(checked), checkedTable(checked, now)),
    ],
  };
}

function buttons(request: ViewRequest): Html | null {
  if (!may(request, 'operate')) return null;
  return html`<p class="actions">
    <a class="btn" href="/do-not-call/add">Add numbers</a>
    <a class="btn" href="/do-not-call/import">Import a file</a>
    ${may(request, 'admin') ? html`<a class="btn danger" href="/do-not-call/remove">Allow calls again</a>` : null}
  </p>`;
}

/** What the list says of each number; or why that cannot be said. */
async function check({ context }: ViewRequest, sent: URLSearchParams): Promise<CheckedNumber[] | string> {
  const { numbers, region } = readNumberFields(sent);
  if (numbers.length === 0) return 'Write a number.';
  if (numbers.length > mostChecked) return `Check at most ${mostChecked} numbers at once.`;
  try {
    return (await checkDoNotCall(context, readNumbers(numbers, region))).numbers;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

function verdictOf(checked: readonly CheckedNumber[]): string {
  const kept = checked.filter(({ suppressed }) => suppressed).length;
  return `${kept.toLocaleString('en')} of ${count(checked.length, 'number')} ${kept === 1 ? 'is' : 'are'} not called`;
}

function checkedTable(checked: readonly CheckedNumber[], now: number): HtmlValue {
  return table(
    'The numbers that were checked, in their order',
    checked.map(({ e164, suppressed, entries }, index) => ({
      key: `checked-${index + 1}`,
      cells: {
        '#': figure(index + 1),
        Number: phone(maskedNumber(e164)),
        'Is called': suppressed ? 'no' : 'yes',
        Entries: entries.length === 0 ? '–' : entries.map((entry) => html`<p>${entryText(entry, now)}</p>`),
      },
    })),
  );
}

function entryText({ scope, source, reason, createdAt, expiresAt }: StoredSuppression, now: number): HtmlValue {
  const until = expiresAt === null ? ', for ever' : [expiresAt > now ? ', until ' : ', over since ', instant(expiresAt, 'full')];
  return [
    scope === accountScope ? 'for all campaigns' : `only for ${scope}`,
    ', since ',
    instant(createdAt, 'full'),
    until,
    `, said by ${printable(source)}`,
    reason === null ? null : `: ${printable(reason)}`,
  ];
}

const pageSize = 50;
const mostSearched = 200;

interface Asked {
  /** Empty: all. */
  scope: string;
  search: string;
  page: number;
}

/** The entries of the do-not-call list, a page at a time, by scope or as somebody searches them. */
export async function doNotCallEntriesView(request: ViewRequest): Promise<View> {
  const frame = { title: 'Entries', section: 'do-not-call', crumbs: [['/do-not-call', 'Do not call']] } as const;
  // As the API has it: whoever may only look asks about single numbers.
  if (!may(request, 'operate'))
    return {
      ...frame,
      status: 403,
      body: empty('The list takes the role operate', link('/do-not-call', 'Check a number')),
    };
  const { context, now } = request;
  const { db } = context.store;
  const asked = readAsked(request);
  const { entries, hasMore } = await readEntryPage(db, {
    ...asked,
    scope: asked.scope === '' ? null : asked.scope,
    pageSize,
  });
  const scopes = (await request.cache.read('do-not-call scopes', () => countEntries(db, now))).map(({ scope }) => scope);
  return {
    ...frame,
    body: [
      html`<div class="filters">${filterForm(asked, scopes)} ${searchForm(asked)}</div>`,
      panel(
        asked.search === '' ? 'Entries' : 'Found',
        [
          table(
            'Entries of the do-not-call list, by number',
            entries.map((entry, index) => ({ key: `entry-${index + 1}`, cells: cellsOf(entry, request) })),
            nothingFound(asked),
          ),
          pages(asked, hasMore),
        ],
        numbersForm(request, accountScope, { to: entriesPath({ scope: asked.scope, page: asked.page }) }),
      ),
    ],
  };
}

function readAsked(request: ViewRequest): Asked {
  const said = (name: string) => request.sent?.get(name) ?? request.query(name);
  const page = Number(said('page'));
  return {
    scope: said('scope'),
    search: (request.sent?.get('search') ?? '').trim().slice(0, mostSearched),
    page: Number.isSafeInteger(page) && page > 0 && page < 1e9 ? page : 1,
  };
}

function cellsOf(entry: StoredSuppression, request: ViewRequest): Record<string, HtmlValue> {
  const { e164, scope, source, reason, createdAt, expiresAt } = entry;
  const isOver = expiresAt !== null && expiresAt <= request.now;
  const cells = {
    Number: shownNumber(request, accountScope, e164),
    For: scope === accountScope ? 'all campaigns' : `only ${scope}`,
    Since: instant(createdAt, 'full'),
    Until: expiresAt === null ? 'for ever' : [isOver ? 'over since ' : null, instant(expiresAt, 'full')],
    'Said by': printable(source),
    Reason: reason === null ? '–' : printable(reason),
  };
  // The form needs the whole number, which stands on the page only for whoever asked for it.
  const isRemovable = may(request, 'admin') && request.numbersShown(accountScope);
  return isRemovable ? { ...cells, '': removeForm(entry) } : cells;
}

/** Leads to the form that says what it will do. */
function removeForm({ e164, scope }: StoredSuppression): Html {
  return html`<form class="inline" method="post" action="/do-not-call/remove">
    ${hidden({ step: 'check', numbers: e164, campaign: scope === accountScope ? '' : scope })}
    <button class="btn sm danger">Allow calls again …</button>
  </form>`;
}

function filterForm({ scope }: Asked, scopes: readonly string[]): Html {
  const known = [...new Set([...scopes, ...(scope === '' ? [] : [scope])])];
  const options = known.map((each) => [each, each === accountScope ? 'all campaigns' : `only ${each}`] as const);
  return html`<form id="entries-filter" class="filter" method="get" action="${entriesPath({})}">
    ${selectField({ name: 'scope', label: 'For', none: 'all there are', chosen: scope }, options)}
    <button class="btn">Show</button>
  </form>`;
}

function searchForm({ scope, search }: Asked): Html {
  return html`<form id="entries-search" class="filter" method="post" action="${entriesPath({})}" role="search">
    ${hidden({ scope })}
    <label
      >Number, who said so, or reason
      <input name="search" type="search" autocomplete="off" maxlength="${mostSearched}" value="${search}" required
    /></label>
    <button class="btn">Search</button>
    ${search === '' ? null : link(entriesPath({ scope }), 'All entries')}
  </form>`;
}

function pages({ scope, search, page }: Asked, hasMore: boolean): Html {
  const to = (number: number, words: string): Html =>
    search === ''
      ? link(entriesPath({ scope, page: number }), words)
      : html`<form class="inline" method="post" action="${entriesPath({})}">
          ${hidden({ scope, search, page: String(number) })}
          <button class="btn sm">${words}</button>
        </form>`;
  return html`<div class="pages">
    ${page > 1 ? to(page - 1, 'Page before') : null} ${hasMore ? to(page + 1, 'Next page') : null}
    ${page > 1 || hasMore ? html`<span class="soft">Page ${page.toLocaleString('en')}</span>` : null}
  </div>`;
}

function nothingFound({ scope, search, page }: Asked): HtmlValue {
  if (search !== '')
    return empty('No entry is found', [
      'Write four digits or more of a number, or a part of who said so or of the reason. ',
      link(entriesPath({ scope }), 'All entries'),
    ]);
  if (page > 1 || scope !== '') return empty('No entry here', link(entriesPath({}), 'All entries'));
  return empty('No number is on the list', link('/do-not-call', 'Check or add numbers'));
}
