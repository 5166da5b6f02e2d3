import { checkDoNotCall, readNumbers, type CheckedNumber } from '../../../operations/control/suppress.ts';
import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { count, empty, figure, instant, link, panel, phone, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { accountScope, countEntries, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { entriesPath } from '../core/links.ts';
import { numberFields, readNumberFields } from '../core/fields.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

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
            empty('No number is on the list', 'Whoever asks an agent not to be called is put on it, if the campaign file says so.'),
          ),
          buttons(request),
        ],
        may(request, 'operate') && counts.length > 0 ? link(entriesPath({}), 'All entries') : null,
      ),
      panel('Is a number on it?', [
        typeof checked === 'string' ? html`<p class="refused" role="alert">${checked}</p>` : null,
        html`<form class="act" method="post" action="/do-not-call">
          ${numberFields(typeof checked === 'string' ? sent : null, { settled: false })}
          <p class="actions"><button>Check</button></p>
        </form>`,
      ]),
      checked === null || typeof checked === 'string' ? null : panel(verdictOf(checked), checkedTable(checked, now)),
    ],
  };
}

function buttons(request: ViewRequest): Html | null {
  if (!may(request, 'operate')) return null;
  return html`<p class="actions">
    <a class="button" href="/do-not-call/add">Add numbers</a>
    <a class="button" href="/do-not-call/import">Import a file</a>
    ${may(request, 'admin') ? html`<a class="button danger" href="/do-not-call/remove">Allow calls again</a>` : null}
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
