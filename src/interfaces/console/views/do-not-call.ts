import { checkDoNotCall, readNumbers, type CheckedNumber } from '../../../operations/control/suppress.ts';
import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { capital, count, plural } from '../../../shared/input/figures.ts';
import { purposeOf } from '../../../rules/consent.ts';
import {
  badge,
  empty,
  figure,
  figures,
  instant,
  link,
  linkButton,
  menu,
  menuLink,
  panel,
  phone,
  table,
} from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { accountScope, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { entryKinds, readEntryPage, readListFigures, type EntryKind, type ListFigures } from '../../../ledger/read/do-not-call.ts';
import { entriesPath } from '../core/links.ts';
import { readNumberFields } from '../core/fields.ts';
import { chip, chips, pager, postButton, searchForm } from '../core/tools.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { numbersForm, shownNumber } from '../core/rows.ts';

const mostChecked = 1000;
const dayMs = 86_400_000;
const spans = { spanMs: 7 * dayMs, endMs: 30 * dayMs };
const pageSize = 50;
const mostSearched = 200;

interface EntryQuery {
  kind: EntryKind;
  search: string;
  page: number;
}

/** Figures, check of numbers, and entries, newest first. */
export async function doNotCallView(request: ViewRequest): Promise<View> {
  const { context, now, sent } = request;
  const list = await request.cache.read('do-not-call figures', () => readListFigures(context.store.db, { now, ...spans }));
  const isCheck = sent?.has('numbers') === true;
  const checked = isCheck ? await check(request, sent) : null;
  // As in the API: the role read may only check single numbers.
  const mayList = may(request, 'operate');
  return {
    title: 'Do not call',
    section: 'do-not-call',
    ...(mayList ? { actions: buttons(request) } : {}),
    meta: html`<span>
      These numbers are never called. Whoever asks an agent not to be called is added at once, if the campaign file says so.
    </span>`,
    body: [
      inFigures(list, now),
      checkPanel(typeof checked === 'string' ? sent : null, checked, now),
      mayList ? await entries(request, list) : null,
    ],
  };
}

function buttons(request: ViewRequest): Html {
  const entries = [
    menuLink('/do-not-call/import', 'Import a file…', { drawing: 'upload', small: 'CSV or Excel, one number a row' }),
    may(request, 'admin')
      ? menuLink('/do-not-call/remove', 'Allow calls again…', { drawing: 'phone', small: 'Takes numbers off the list', danger: true })
      : null,
  ];
  return html`${linkButton('/do-not-call/add', 'Add numbers', 'primary', 'plus')} ${menu('More actions', entries)}`;
}

function inFigures({ holding, holdingForAll, added, addedInCalls, ending }: ListFigures, now: number): Html {
  return html`<section class="panel" aria-label="In figures">
    ${figures([
      { name: 'Numbers', value: figure(holding), of: `${count(holdingForAll)} for all campaigns` },
      { name: 'Added this week', value: figure(added), of: `${count(addedInCalls)} asked in a call` },
      { name: 'Expire soon', value: figure(ending), of: ['until ', instant(now + spans.endMs, 'brief')] },
    ])}
  </section>`;
}

/** `fields`: kept only after a refusal, so that no number stays on a page longer than needed. */
function checkPanel(fields: URLSearchParams | null, checked: CheckedNumber[] | string | null, now: number): Html {
  const [one] = Array.isArray(checked) && checked.length === 1 ? checked : [];
  return panel(
    'Is a number on the list?',
    html`<form id="check" class="pad tools" method="post" action="/do-not-call">
        <label class="hidden" for="check-numbers">Phone numbers, one a line</label>
        <textarea
          id="check-numbers"
          class="grows"
          name="numbers"
          rows="1"
          inputmode="tel"
          placeholder="+1 212 555 0143"
          autocomplete="off"
          spellcheck="false"
          required
          ${typeof checked === 'string' ? html`aria-invalid="true" aria-describedby="checked"` : null}
        >
${fields?.get('numbers') ?? ''}</textarea>
        <label class="hidden" for="check-region">Country of numbers without +, such as US</label>
        <input id="check-region" name="region" maxlength="2" size="8" placeholder="Country" value="${fields?.get('region') ?? ''}" />
        <button class="btn">Check</button>
        ${
          typeof checked === 'string'
            ? html`<p class="error" id="checked" role="alert">${icon('stop')} ${checked}</p>`
            : one === undefined
              ? null
              : html`<p class="outcome wrapped" id="checked" role="status">
                  ${verdict(one)} <span class="soft">${entryTexts(one, now)}</span>
                </p>`
        }
      </form>
      ${Array.isArray(checked) && one === undefined ? [html`<p role="status">${verdictOf(checked)}</p>`, checkedTable(checked, now)] : null}`,
    html`<p>Up to ${count(mostChecked)} at once, one a line</p>`,
    'check-title',
  );
}

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

function verdict({ suppressed }: CheckedNumber): Html {
  return suppressed ? badge('bad', 'Not called', 'ban') : badge('good', 'May be called');
}

function verdictOf(checked: readonly CheckedNumber[]): string {
  const kept = checked.filter(({ suppressed }) => suppressed).length;
  return `${count(kept)} of ${plural(checked.length, 'number')} ${kept === 1 ? 'is' : 'are'} not called.`;
}

function checkedTable(checked: readonly CheckedNumber[], now: number): HtmlValue {
  return table(
    'The numbers that were checked, in their order',
    checked.map((one, index) => ({
      key: `checked-${index + 1}`,
      cells: { Number: phone(maskedNumber(one.e164)), Verdict: verdict(one), Entries: entryTexts(one, now) },
    })),
  );
}

function entryTexts({ e164, entries }: CheckedNumber, now: number): HtmlValue {
  if (entries.length === 0) return `${maskedNumber(e164)} is not on the list`;
  return entries.map((entry) => html`<span class="whole">${entryText(entry, now)}</span>`);
}

function entryText({ e164, scope, source, reason, createdAt, expiresAt }: StoredSuppression, now: number): HtmlValue {
  const until = expiresAt === null ? '' : [expiresAt > now ? ', until ' : ', over since ', instant(expiresAt, 'minute')];
  return [
    `${maskedNumber(e164)}, ${scopeText(scope)}, since `,
    instant(createdAt, 'minute'),
    until,
    `. Added by: ${sourceText(source)}.`,
    reason === null ? null : ` ${printable(reason)}`,
  ];
}

function scopeText(scope: string): string {
  const purpose = purposeOf(scope);
  if (purpose !== null) return `calls for ${purpose} (consent taken back)`;
  return scope === accountScope ? 'all campaigns' : `only ${scope}`;
}

/** `call:<attempt>`, `possible:<conversation>`, `import:<who>`, `person:<who>`. */
function sourceText(source: string): string {
  const [, kind = '', who = ''] = /^(\w+):(.*)$/s.exec(source) ?? [];
  const texts: Record<string, string> = {
    call: 'The person, in a call',
    possible: 'Perhaps the person, in a call',
    import: `Import: ${printable(who)}`,
    person: printable(who),
  };
  return texts[kind] ?? (source === 'person' ? 'The command line' : printable(source));
}

const kindWords: Readonly<Record<EntryKind, string>> = {
  all: 'All',
  asked: 'Asked in a call',
  imported: 'Imported',
  single: 'One campaign only',
};

async function entries(request: ViewRequest, { kinds }: ListFigures): Promise<HtmlValue> {
  const query = readEntryQuery(request);
  const { entries: read, hasMore } = await readEntryPage(request.context.store.db, { ...query, pageSize });
  const { kind, page, search } = query;
  return [
    html`<div class="tools" id="entries-tools">
      ${chips(
        'Which entries',
        entryKinds.map((each) => chip(entriesPath({ kind: each }), kindWords[each], kinds[each], each === kind && search === '')),
      )}
      ${searchForm({
        id: 'entries',
        path: entriesPath({}),
        label: 'Search by digits, who added it, reason or campaign',
        placeholder: 'Digits, person or reason',
        text: search,
        isLast: true,
      })}
      ${numbersForm(request, accountScope, { to: entriesPath({ kind, page }) })}
    </div>`,
    read.length === 0
      ? html`<div class="panel pad-all">${nothingFound(query)}</div>`
      : html`<section class="panel" aria-label="Numbers that are not called, newest first">
          ${table(
            'Numbers that are not called, newest first',
            read.map((entry, index) => ({ key: `entry-${index + 1}`, cells: cellsOf(entry, request) })),
          )}
          ${pages(query, read.length, hasMore)}
        </section>`,
  ];
}

function readEntryQuery(request: ViewRequest): EntryQuery {
  const readParam = (name: string) => request.sent?.get(name) ?? request.query(name);
  const page = Number(readParam('page'));
  return {
    kind: entryKinds.find((each) => each === readParam('kind')) ?? 'all',
    search: (request.sent?.get('search') ?? '').trim().slice(0, mostSearched),
    page: Number.isSafeInteger(page) && page > 0 && page < 1e9 ? page : 1,
  };
}

function cellsOf(entry: StoredSuppression, request: ViewRequest): Record<string, HtmlValue> {
  const { e164, scope, source, reason, createdAt, expiresAt } = entry;
  const isOver = expiresAt !== null && expiresAt <= request.now;
  const cells = {
    Number: shownNumber(request, accountScope, e164),
    'Holds for': scope === accountScope || purposeOf(scope) !== null ? capital(scopeText(scope)) : scope,
    'Added by': sourceText(source),
    Reason: reason === null ? '–' : printable(reason),
    Since: instant(createdAt, 'minute'),
    Until: expiresAt === null ? 'For good' : [isOver ? 'Over since ' : null, instant(expiresAt, 'minute')],
  };
  // The form needs the whole number, so numbers must be shown. Consent revoked for a purpose needs a newer one with its time: carillon
  // consent renew.
  const isRemovable = purposeOf(scope) === null && may(request, 'admin') && request.numbersShown(accountScope);
  const fields = { step: 'check', numbers: e164, campaign: scope === accountScope ? '' : scope };
  return isRemovable ? { ...cells, '': postButton('/do-not-call/remove', fields, 'Allow again…', 'sm bare') } : cells;
}

function pages({ kind, search, page }: EntryQuery, shown: number, hasMore: boolean): Html {
  const first = (page - 1) * pageSize + 1;
  const steps = [page > 1 && (['Newer', { page: page - 1 }] as const), hasMore && (['Older', { page: page + 1 }] as const)];
  return html`<footer>
    <span>${count(first)}–${count(first + shown - 1)}</span>
    ${pager((at) => entriesPath(search === '' ? { kind, page: Number(at['page'] ?? 1) } : {}), steps, { fields: search === '' ? null : { search } })}
  </footer>`;
}

function nothingFound({ search, page, kind }: EntryQuery): HtmlValue {
  const all = link(entriesPath({}), 'Clear filters');
  if (search !== '')
    return empty('No number matches', ['Write four digits or more, or a part of who added it, of the reason or of a campaign. ', all]);
  if (page > 1 || kind !== 'all') return empty('No number here', all);
  return empty('No number is on the list', 'A person who asks an agent not to be called is added, if the campaign file says so.');
}
