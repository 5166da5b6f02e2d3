import { readNumbers } from '../../../operations/control/suppress.ts';
import { hasClosed } from '../../../rules/lifecycle.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { plural } from '../../../shared/input/figures.ts';
import { facts, figure, empty } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { findEntries } from '../../../ledger/rows/suppressions.ts';
import type { ConsoleAction } from '../core/action.ts';
import { callFacts } from '../core/press.ts';
import { numberFields, readNumberFields, readScope, readTerms, scopeField, termFields, regionField, lineField, written } from '../core/fields.ts'; // prettier-ignore
import type { ViewRequest } from '../core/view.ts';

const to = '/do-not-call';
const place = { section: 'do-not-call', crumbs: [[to, 'Do not call']], back: [to, 'the list'] } as const;

/** The first submit counts the numbers and changes nothing; the second one applies the change. */
const change = (isAdding: boolean): ConsoleAction => ({
  path: isAdding ? '/do-not-call/add' : '/do-not-call/remove',
  op: isAdding ? 'addSuppressions' : 'removeSuppressions',
  form: async (request, { fields, answer }) => {
    const { db } = request.context.store;
    const settled = answer !== null || fields?.get('step') === 'change';
    const numbers = settled ? numbersOf(fields) : [];
    const known = await countKnown(request, numbers);
    const calls = await callFacts(db, numbers);
    const numbersText = plural(isAdding ? numbers.length : known, 'number');
    const campaigns = (await listCampaigns(db)).filter((campaign) => !hasClosed(campaign)).map(({ campaignId }) => campaignId);
    const words = isAdding
      ? { title: 'Add numbers', ask: `Put ${numbersText} on the do-not-call list?`, button: `Do not call ${numbersText}` }
      : {
          title: 'Allow calls again',
          ask: `Allow calls to ${numbersText} again?`,
          button: `Allow calls to ${plural(numbers.length, 'number')}`,
        };
    return {
      ...place,
      title: settled ? words.ask : words.title,
      says: isAdding
        ? 'These numbers are not called from then on, even if a call is already planned. What is on the list is never shortened.'
        : 'Somebody may have asked not to be called. Campaigns that go on may call these numbers at once.',
      standing: !settled
        ? []
        : isAdding
          ? [['Numbers', figure(numbers.length)], ['On the list already', figure(known)], ...calls]
          : [
              ['Numbers', figure(numbers.length)],
              ['On the list', figure(known)],
              ['Rows that wait, in all campaigns', calls[0]?.[1]],
            ],
      button: settled ? words.button : 'Say what this does',
      danger: settled && !isAdding,
      body: html`${numberFields(fields, { settled })}
        <div class="fields">${regionField(fields)} ${scopeField(fields, campaigns)} ${isAdding ? termFields(fields) : null}</div>
        <input type="hidden" name="step" value="${settled ? 'change' : 'check'}" />`,
    };
  },
  call: ({ fields }, { now }) => {
    if (fields.get('step') !== 'change') return { op: 'checkSuppressions', body: readNumberFields(fields) };
    return { body: { ...readNumberFields(fields), ...readScope(fields), ...(isAdding ? readTerms(fields, now) : {}) } };
  },
  done: ({ fields }, answer) => {
    if (fields.get('step') !== 'change') return null;
    const of = (name: string) => plural(Number(answer[name]), 'number');
    const said = isAdding
      ? `${of('added')} added; ${of('known')} stood there already.`
      : `${of('removed')} taken off the list; ${of('unknown')} did not stand there.`;
    return { to, said };
  },
});

/** Distinct numbers of the form; none if one of them is invalid. */
function numbersOf(fields: URLSearchParams | null): string[] {
  const { numbers, region } = readNumberFields(fields ?? new URLSearchParams());
  try {
    return readNumbers(numbers, region);
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

async function countKnown({ context, now }: ViewRequest, numbers: readonly string[]): Promise<number> {
  const entries = numbers.length === 0 ? [] : await findEntries(context.store.db, numbers);
  return new Set(entries.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ e164 }) => e164)).size;
}

const importNumbers: ConsoleAction = {
  path: '/do-not-call/import',
  op: 'importSuppressions',
  files: ['numbers'],
  form: (_request, { fields, answer }) => ({
    ...place,
    title: answer === null ? 'Import numbers that must not be called' : 'The file was imported',
    ...(answer === null ? {} : { instead: imported(answer) }),
    says: 'All numbers of the file go on the list, or none where it cannot be read. Lines that are no number are left out and counted. Calls that are planned to them are stopped; open calls go on.',
    button: 'Import the file',
    body: html`<label class="field"
        >CSV or a workbook, with or without a header <input name="numbers" type="file" accept=".csv,.txt,.xlsx,text/csv" required
      /></label>
      ${lineField(fields, { name: 'column', label: 'Column of the numbers; empty: the only one there is', most: 200 })}
      ${regionField(fields)} ${termFields(fields, { reason: false })}`,
  }),
  call: ({ fields }, { now }) => {
    const { expiresAt } = readTerms(fields, now);
    return { query: { ...written(fields, 'region', 'column'), ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) } };
  },
  done: () => null,
};

function imported(answer: Record<string, unknown>): Html {
  const { rows, added, known, repeated, bad } = answer as Record<'rows' | 'added' | 'known' | 'repeated' | 'bad', number>;
  const badLines = answer['badLines'] as number[];
  return html`<section class="panel pad-all stack narrow">
    ${facts([
      ['Rows of the file', figure(rows)],
      ['Numbers added', figure(added)],
      ['Stood there already', figure(known)],
      ['Repeated in the file', figure(repeated)],
      ['No number', figure(bad)],
    ])}
    ${
      bad === 0
        ? empty('Every line was a number', html`<a href="${to}">Do not call</a>`)
        : empty(
            `${plural(bad, 'line')} protect${bad === 1 ? 's' : ''} nobody`,
            html`Lines ${badLines.join(', ')}${bad > badLines.length ? ' and more' : ''} of the file are no number. Correct them and
              <a href="/do-not-call/import">import the file again</a>: what stands on the list stays.`,
          )
    }
  </section>`;
}

export const doNotCallActions = [change(true), change(false), importNumbers];
