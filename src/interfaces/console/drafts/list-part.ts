import { getCountries } from 'libphonenumber-js/max';
import { draftPath } from '../core/drafts.ts';
import { fixTable, type FixLine } from '../core/fixes.ts';
import { rowFieldList } from '../../../list/row-fields.ts';
import { scrolled } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readPhoneNumber } from '../../../shared/input/phone-number.ts';
import { cut, maskedRows, partForm, problemOf, problemsOf, select, sentence, textField, type FormState } from './form-fields.ts';
import { mostFixes, type ForecastResult, type RejectedRow } from './outlook.ts';
import { columnFields, fieldOf, labelOf, otherField } from './parts.ts';
import { isUnder, useOf } from './reading.ts';
import { sizeText, uploadForm } from './upload.ts';
import type { OpenDraft } from './draft-types.ts';

const mostRows = 8;
/** Beyond this, only columns with a use are shown. */
const mostColumns = 60;

export function listPart(
  open: OpenDraft,
  { form, outlooked, refusedList }: { form: FormState; outlooked: ForecastResult; refusedList: FormState | undefined },
): HtmlValue {
  const { draft, sample, fields } = open;
  const notes = sample.notes.map((note) => `, ${printable(note)}`).join('');
  return [
    html`<div class="file">
      ${icon('file')}
      <span
        ><b>${printable(draft.list.name)}</b>
        <span class="soft">${plural(sample.columns.length, 'column')}, ${sizeText(draft.list.bytes)}${notes}</span></span
      >
      <details id="look">
        <summary class="btn sm">${icon('eye')} Look</summary>
        ${sampleTable(open)}
      </details>
      <details id="replace" ${refusedList === undefined ? null : html`open`}>
        <summary class="btn sm">Replace…</summary>
        ${uploadForm(draftPath(draft.draftId, '/list'), { problems: [], ...refusedList, fields: { ...fields, ...refusedList?.fields } }, 'Replace the list')}
      </details>
    </div>`,
    encodingForm(open),
    partForm(open, 'columns', form, [
      columnsTable(open, form, outlooked.kind === 'found' ? outlooked.found.consent.open() : []),
      sentence(
        form,
        ['list.default_region'],
        html`<label for="list.default_region">Numbers without + are from</label>
          ${select(form, 'list.default_region', [['', 'no country: all begin with +'], ...countries()])}`,
      ),
      html`<details id="consent-of-list" ${!fields['consent.yes'] && !form.problems.some(({ field }) => isUnder(field, 'consent')) ? null : html`open`}>
        <summary>Consent</summary>
        <p class="hint">
          If the calls rest on consent, choose above the columns that say when, where and to what each person agreed. If one column says yes
          or no, choose that one and the date, and write the rest here once. People without consent are not called.
        </p>
        <div class="fields">
          ${textField(form, 'consent.source_of_list')} ${textField(form, 'consent.text_of_list')}
        </div>
        ${problemsOf(form, ...['consent.at', 'consent.source', 'consent.text'].filter((name) => !fields[name]))}
      </details>`,
      html`<details id="zones-of-list" ${problemOf(form, 'list.fallback_timezone') === null ? null : html`open`}>
        <summary>Whose clock counts</summary>
        <p class="hint">
          Everybody is called by their own clock. It is known from the number; where a number may belong to several time zones, nobody is
          called outside the hours of any of them. A column makes it certain.
        </p>
        <div class="fields">${textField(form, 'list.fallback_timezone', { list: 'zones' })}</div>
      </details>`,
    ]),
    outlooked.kind === 'found' ? fixesForm(open, outlooked.found) : null,
    zoneList(),
  ]; // prettier-ignore
}

function encodingForm({ draft, sample, fields }: OpenDraft): HtmlValue {
  if (sample.readings === undefined) return null;
  const chosen = fields['list.encoding'] ?? '';
  return html`<form class="stack" method="post" action="${draftPath(draft.draftId, '/encoding')}" aria-labelledby="encoding-title">
    <p id="encoding-title">
      <b>Which letters are right?</b>
      <span class="soft">The agent speaks these names. The file does not say how its letters are written.</span>
    </p>
    <p class="actions">
      ${sample.readings.map(
        ({ encoding, words }) =>
          html`<button class="btn" name="encoding" value="${encoding}" aria-pressed="${encoding === chosen ? 'true' : 'false'}">
            ${encoding === chosen ? icon('check') : null} ${words.join(', ')} <span class="soft">${encoding}</span>
          </button>`,
      )}
    </p>
    <p class="hint">If none is right, replace the list and write its encoding there, or save it as CSV UTF-8.</p>
  </form>`;
}

/** `unclear`: columns that look like consent and have no use. */
function columnsTable(open: OpenDraft, form: FormState, unclear: readonly string[]): Html {
  const { sample, fields } = open;
  const uses = [...columnFields, otherField].map((value) => ({ value, label: labelOf(value), hint: hintOf(value) }));
  const rows = maskedRows(open);
  const usedAs = (column: string) => uses.find(({ value }) => value === useOf(fields, column));
  const shown = sample.columns
    .map((column, at) => ({ column, at, use: usedAs(column) }))
    .filter(({ column, at, use }) => column.trim() !== '' && (at < mostColumns || use !== undefined || unclear.includes(column)));
  const more = sample.columns.length - shown.length;
  const table = scrolled('What each column is', {
    heads: ['Column', 'For example', 'It is', html`<th scope="col"><span class="hidden">Found</span></th>`],
    lines: shown.map(({ column, at, use }, index) => {
      const name = `column.${at}`;
      // Without a phone column, the first one shows that error.
      const names = [...(use === undefined ? [] : [use.value]), ...(index === 0 && !fields['list.phone'] ? ['list.phone'] : [])];
      const own = names.find((each) => problemOf(form, each) !== null);
      return html`<tr id="row-${name}">
        <th scope="row" class="mono">${cut(column)}</th>
        <td class="soft wide">${exampleOf(rows, at)}</td>
        <td class="wide">
          <label class="hidden" for="${name}">${printable(column)} is</label
          ><select
            id="${name}"
            name="${name}"
            ${own === undefined ? null : html`aria-invalid="true" aria-describedby="${own}-problem"`}
            ${form.first === name ? html`autofocus` : null}
          >
            <option value="">For the words only</option>
            ${uses.map(
              ({ value, label }) => html`<option value="${value}" ${value === use?.value ? html`selected` : null}>${label}</option>`,
            )}
          </select>
          ${problemsOf(form, ...names)}
          ${unclear.includes(column) ? html`<p class="error">${icon('stop')} <span>This looks like consent. Choose what it is.</span></p>` : null}
        </td>
        <td class="soft small wide">${use === undefined ? null : foundText(open, use, at)}</td>
      </tr>`;
    }),
  });
  return html`${table} ${more > 0 ? html`<p class="hint">${plural(more, 'more column')} can be used in the words.</p>` : null}`;
}

function hintOf(value: string): string {
  return rowFieldList.find(({ key }) => value === `list.${key}`)?.hint ?? fieldOf(value).hint ?? '';
}

function exampleOf(rows: readonly string[][], at: number): string {
  const filled = rows.map((cells) => cells[at]?.trim() ?? '').filter((cell) => cell !== '');
  if (filled.length * 2 < rows.length) return '(mostly empty)';
  return [...new Set(filled)].slice(0, 2).map(cut).join(', ');
}

function foundText({ sample, fields }: OpenDraft, { value, hint }: { value: string; hint: string }, at: number): string {
  const cells = sample.rows.map((row) => row[at]?.trim() ?? '');
  const of = sample.rows.length;
  if (value === 'list.id') return `${new Set(cells.filter((cell) => cell !== '')).size} different of the first ${of}`;
  if (value !== 'list.phone') return hint.replace(/\.$/, '');
  const country = sample.columns.indexOf(fields['list.country'] || '\0');
  const numbers = sample.rows.map((row) => readPhoneNumber(row[at] ?? '', row[country]?.trim() || fields['list.default_region'] || null));
  return `${numbers.filter(({ ok }) => ok).length} of the first ${of} readable`;
}

function countries(): [code: string, name: string][] {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return getCountries()
    .map((code): [string, string] => [code, names.of(code) ?? code])
    .sort(([, one], [, other]) => one.localeCompare(other, 'en'))
    .map(([code, name]) => [code, `${name} (${code})`]);
}

function zoneList(): Html {
  return html`<datalist id="zones">${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`)}</datalist>`;
}

function fixesForm(open: OpenDraft, { rejected, report }: { rejected: readonly RejectedRow[]; report: { rejected: number } }): HtmlValue {
  if (report.rejected === 0) return null;
  const { draft, sample } = open;
  return html`<details id="fixes" open>
    <summary>
      <b>${plural(report.rejected, 'row')} cannot be called</b> <span class="soft">fix them here, or leave them out</span>
    </summary>
    ${partForm(open, 'fix', {}, [
      html`<input type="hidden" name="list" value="${draft.list.listId}" />`,
      html`<p class="hint" id="fix-hint">A saved fix changes this draft, not your file.</p>`,
      fixTable(rejected.map((row) => fixLine(row, sample.columns)), 'fix-hint'),
      report.rejected > mostFixes
        ? html`<p class="hint">The first ${mostFixes}. Fix the others in the file, and replace the list.</p>`
        : null,
    ])}
  </details>`; // prettier-ignore
}

function fixLine({ row, line, column, hint, cells, reason }: RejectedRow, columns: readonly string[]): FixLine {
  const at = column === null || reason === 'malformed_row' ? -1 : columns.indexOf(column);
  return { row, title: `Line ${line} of the file`, hint, column, at: at === -1 ? null : at, value: cells[at] ?? '' };
}

function sampleTable(open: OpenDraft): Html {
  const shown = open.sample.columns.slice(0, mostColumns);
  const rows = maskedRows(open).slice(0, mostRows);
  return html`<div class="sample" tabindex="0" role="region" aria-label="The first rows of the list">
      <table>
        <caption class="hidden">
          The first rows of the list
        </caption>
        <thead>
          <tr>
            ${shown.map((column) => html`<th scope="col">${column.trim() === '' ? '(no name)' : printable(column)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (cells) =>
              html`<tr>
                ${shown.map((_, at) => html`<td>${cut(cells[at] ?? '')}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="soft small">Telephone numbers are masked.</p>`;
}
