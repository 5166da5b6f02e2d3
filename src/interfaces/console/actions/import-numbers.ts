import { count, empty, figure, facts } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { actionForm, apiCall, type ConsoleAction } from '../core/action.ts';
import { readTerms, regionField, termFields } from '../core/fields.ts';
import { operations } from '../../../operations/list.ts';

const back = '/do-not-call';

/** A file of numbers onto the do-not-call list. */
export const importNumbers: ConsoleAction = {
  path: '/do-not-call/import',
  role: operations.importSuppressions.role,
  files: ['numbers'],
  form: async (_request, given) => ({
    title: given.answer === null ? 'Import numbers that nobody calls' : 'The file was imported',
    section: 'do-not-call',
    crumbs: [[back, 'Do not call']],
    body:
      given.answer === null
        ? html`<section class="panel">
            <p>
              All numbers of the file go on the list, or none where it cannot be read. Lines that are no number are left out and counted.
              Calls that are planned to them are stopped; open calls go on.
            </p>
            ${actionForm(given, {
              button: 'Import the file',
              back,
              files: true,
              body: html`<label class="field"
                  >CSV or a workbook, with or without a header <input name="numbers" type="file" accept=".csv,.txt,.xlsx,text/csv" required
                /></label>
                <label class="field"
                  >Column of the numbers; empty: the only one there is
                  <input name="column" maxlength="200" autocomplete="off" value="${given.fields?.get('column') ?? ''}"
                /></label>
                ${regionField(given.fields)} ${termFields(given.fields, { reason: false })}`,
            })}
          </section>`
        : imported(given.answer),
  }),
  call: ({ fields, files }, { now }) => {
    const form = new FormData();
    if (files['numbers'] !== undefined) form.append('numbers', files['numbers'], 'numbers');
    const { expiresAt } = readTerms(fields, now);
    const [region, column] = [fields.get('region')?.trim() ?? '', fields.get('column')?.trim() ?? ''];
    const query = {
      ...(region === '' ? {} : { region }),
      ...(column === '' ? {} : { column }),
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    };
    return { ...apiCall('importSuppressions', {}, query), body: form };
  },
  done: () => null,
};

function imported(answer: Record<string, unknown>) {
  const { rows, added, known, repeated, bad, badLines } = answer as Record<'rows' | 'added' | 'known' | 'repeated' | 'bad', number> & {
    badLines: number[];
  };
  return html`<section class="panel">
    ${facts([
      ['Rows of the file', figure(rows)],
      ['Numbers added', figure(added)],
      ['Stood there already', figure(known)],
      ['Repeated in the file', figure(repeated)],
      ['No number', figure(bad)],
    ])}
    ${
      bad === 0
        ? empty('Every line was a number', html`<a href="${back}">Do not call</a>`)
        : empty(
            `${count(bad, 'line')} protect${bad === 1 ? 's' : ''} nobody`,
            html`Lines ${badLines.join(', ')}${bad > badLines.length ? ' and more' : ''} of the file are no number. Correct them and
              <a href="/do-not-call/import">import the file again</a>: what stands on the list stays.`,
          )
    }
  </section>`;
}
