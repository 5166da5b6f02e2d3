import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { isUnder, type FieldProblem } from './reading.ts';
import type { DraftFields, OpenDraft } from './settings.ts';
import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { looksLikeNumber } from '../core/rows.ts';

/** What a form is shown with: what stands in its fields, and what is wrong with them. */
export interface FormState {
  fields: DraftFields;
  problems: readonly FieldProblem[];
}

interface FieldText {
  /** As the campaign file has it; the hint names it, so that messages and the file's own documentation are understood. */
  name: string;
  label: string;
  hint?: HtmlValue;
}

/** A line to write in. */
export function textField(
  form: FormState,
  field: FieldText & { type?: 'text' | 'number' | 'datetime-local'; placeholder?: string; list?: string },
): Html {
  const { name, type = 'text', placeholder, list } = field;
  return around(
    form,
    field,
    html`<input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${form.fields[name] ?? ''}"
      ${type === 'number' ? html`min="1" inputmode="numeric"` : null}
      ${placeholder === undefined ? null : html`placeholder="${placeholder}"`}
      ${list === undefined ? null : html`list="${list}"`}
      autocomplete="off"
      ${described(form, name)}
    />`,
  );
}

/** Several lines to write in. */
export function textArea(form: FormState, field: FieldText & { rows: number }): Html {
  const { name, rows } = field;
  // A line break right behind the tag is not the text's own.
  return around(
    form,
    field,
    html`<textarea id="${name}" name="${name}" rows="${rows}" ${described(form, name)}>${form.fields[name] ?? ''}</textarea>`,
  );
}

/** One of several things; what stands in the field and is no option of its own is kept as one. */
export function choice(
  form: FormState,
  field: FieldText & { options: readonly (readonly [value: string, text: string])[]; unknown?: string },
): Html {
  const { name, options, unknown = 'not there any more' } = field;
  const written = form.fields[name] ?? '';
  const own = options.some(([value]) => value === written) ? [] : [[written, `${written} (${unknown})`] as const];
  return around(
    form,
    field,
    html`<select id="${name}" name="${name}" ${described(form, name)}>
      ${[...options, ...own].map(
        ([value, text]) => html`<option value="${value}" ${value === written ? html`selected` : null}>${text}</option>`,
      )}
    </select>`,
  );
}

/** Some of several things, or one of them; shown together under a name of their own. */
export function marks(
  form: FormState,
  field: FieldText & { type: 'checkbox' | 'radio'; options: readonly (readonly [value: string, text: HtmlValue])[] },
): Html {
  const { name, label, type, options } = field;
  const written = (form.fields[name] ?? '').split('\n');
  return html`<fieldset class="entry" id="${name}" ${described(form, name)}>
    <legend>${label}</legend>
    ${options.map(
      ([value, text]) =>
        html`<label class="mark"
          ><input type="${type}" name="${name}" value="${value}" ${written.includes(value) ? html`checked` : null} /><span
            >${text}</span
          ></label
        >`,
    )}
    ${notes(form, field)}
  </fieldset>`;
}

/** What is wrong with a field, in a place of its own under it. */
export function problemOf({ problems }: FormState, name: string): string | null {
  const own = problems.filter(({ field }) => field === name || (!isOwn(field) && isUnder(field, name)));
  return own.length === 0 ? null : [...new Set(own.map(({ message }) => message))].join(' ');
}

/** Days have fields of their own below that of the hours as a whole. */
function isOwn(field: string): boolean {
  return field.startsWith('hours.');
}

/** Above a form that was not saved: how many fields need a change, each a way to it. */
export function refusedFields({ problems }: FormState, labels: (field: string) => string): Html | null {
  if (problems.length === 0) return null;
  const fields = [...new Set(problems.map(({ field }) => field))];
  return html`<div class="refused fields" role="alert">
    <p>Not saved yet. ${fields.length === 1 ? 'This needs a change' : `${fields.length} things need a change`}:</p>
    <ul>
      ${fields.map((field) => html`<li><a href="#${anchorOf(field)}">${labels(field)}</a></li>`)}
    </ul>
  </div>`;
}

function anchorOf(field: string): string {
  return /^variables\.\d+$/.test(field) ? `${field}.name` : field;
}

function around(form: FormState, field: FieldText, control: Html): Html {
  return html`<div class="entry">
    <label for="${field.name}">${field.label}</label>
    ${control} ${notes(form, field)}
  </div>`;
}

function notes(form: FormState, { name, hint }: FieldText): Html {
  const problem = problemOf(form, name);
  return html`<p class="hint" id="${name}-hint">${hint} <code>${name}</code></p>
    ${problem === null ? null : html`<p class="entry-problem" id="${name}-problem">${problem}</p>`}`;
}

function described(form: FormState, name: string): Html {
  return problemOf(form, name) === null
    ? html`aria-describedby="${name}-hint"`
    : html`aria-invalid="true" aria-describedby="${name}-problem ${name}-hint"`;
}

const mostRows = 8;
const mostColumns = 40;
const mostCharacters = 60;

/** The first rows of the list, its telephone numbers masked. */
export function sampleTable(open: OpenDraft): Html {
  const { columns } = open.sample;
  const shown = columns.slice(0, mostColumns);
  const rows = maskedRows(open).slice(0, mostRows);
  const more = columns.length > shown.length ? ` ${columns.length - shown.length} more columns are left out here.` : '';
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
    <p class="soft">The first rows. Telephone numbers are masked.${more}</p>`;
}

/** The first rows, with numbers of people as far as they may be seen. */
export function maskedRows({ sample, fields }: Pick<OpenDraft, 'sample' | 'fields'>): string[][] {
  const phone = sample.columns.indexOf(fields['list.phone'] ?? '');
  const region = fields['list.default_region'] || null;
  return sample.rows.map((cells) =>
    cells.map((cell, at) => (at === phone || looksLikeNumber(cell, region) ? maskedNumber(cell.trim()) : cell)),
  );
}

function cut(text: string): string {
  const line = printable(text);
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
}
