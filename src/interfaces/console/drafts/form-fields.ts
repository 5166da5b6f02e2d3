import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { draftPath } from '../core/drafts.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import { looksLikeNumber } from '../core/rows.ts';
import { note } from '../../../presentation/html/elements.ts';
import { fieldOf, labelOf, type FormPart } from './parts.ts';
import { isUnder } from './reading.ts';
import { versionOf } from './settings.ts';
import type { FieldProblem, DraftFields, OpenDraft } from './draft-types.ts';

export interface FormState {
  fields: DraftFields;
  problems: readonly FieldProblem[];
  /** Takes the focus when the page loads. */
  first?: string | undefined;
  /** A part submitted from an outdated version, and the stored differences. */
  changed?: { part: FormPart; fields: readonly (readonly [label: string, value: string])[] } | undefined;
}

type Options = readonly (readonly [value: string, text: string])[];

function named(form: FormState, name: string, hint = false): Html {
  const problem = problemOf(form, name) !== null;
  const described = [...(problem ? [`${name}-problem`] : []), ...(hint ? [`${name}-hint`] : [])].join(' ');
  return html`id="${name}" name="${name}" ${described === '' ? null : html`aria-describedby="${described}"`}
  ${problem ? html`aria-invalid="true"` : null} ${form.first === name ? html`autofocus` : null}`;
}

/** Form of a part: saved on change, or without a script by its button. */
export function partForm(
  { draft, ...open }: Pick<OpenDraft, 'draft' | 'fields'>,
  part: FormPart | 'fix',
  form: Pick<FormState, 'changed'>,
  body: HtmlValue,
): Html {
  const path = draftPath(draft.draftId, `/${part}`);
  return html`<form class="stack" id="form-${part}" method="post" action="${path}" data-save="${path}" novalidate>
    ${part === 'fix' ? null : html`<input type="hidden" name="version" value="${versionOf(open, part)}" />`}
    ${form.changed?.part === part ? changedNote(form.changed) : null} ${body}
    <noscript><button class="btn">Save</button></noscript>
  </form>`;
}

/** Values stored since the form was loaded. */
function changedNote({ part, fields }: NonNullable<FormState['changed']>): Html {
  return note('bad', {
    title: 'Changed in another window',
    body: html`<p>Not saved here. What you have written is kept. Stored there:</p>
      <ul>
        ${fields.map(([label, value]) => html`<li>${label}: ${value === '' ? 'nothing' : cut(value)}</li>`)}
      </ul>`,
    action: html`<button class="btn" form="form-${part}">Save what is shown here</button>`,
  });
}

interface ControlSettings {
  label?: string;
  hint?: HtmlValue;
  list?: string;
  unknown?: string;
}

export function input(form: FormState, name: string, { hint = null, list }: ControlSettings = {}): Html {
  const { type = 'text', placeholder } = fieldOf(name);
  return html`<input
    ${named(form, name, hint !== null)}
    type="${type}"
    value="${form.fields[name] ?? ''}"
    ${type === 'number' ? html`min="1" inputmode="numeric"` : null}
    ${placeholder === undefined ? null : html`placeholder="${placeholder}"`}
    ${list === undefined ? null : html`list="${list}"`}
    autocomplete="off"
  />`;
}

/** An unknown value is kept as an option. */
export function select(form: FormState, name: string, options: Options, { hint = null, unknown }: ControlSettings = {}): Html {
  const written = form.fields[name] ?? '';
  const isKnown = options.some(([value]) => value === written);
  const own = [written, `${written}${unknown === undefined ? '' : ` (${unknown})`}`] as const;
  return html`<select ${named(form, name, hint !== null)}>
    ${[...options, ...(isKnown ? [] : [own])].map(
      ([value, text]) => html`<option value="${value}" ${value === written ? html`selected` : null}>${text}</option>`,
    )}
  </select>`;
}

type Control = (settings: ControlSettings) => Html;

function field(form: FormState, name: string, settings: ControlSettings, control: Control): Html {
  const { label = labelOf(name), hint = fieldOf(name).hint ?? null } = settings;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${control({ ...settings, hint })} ${hint === null ? null : html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${problemsOf(form, name)}
  </div>`;
}

export function textField(form: FormState, name: string, settings: ControlSettings = {}): Html {
  return field(form, name, settings, (shown) => input(form, name, shown));
}

export function selectField(form: FormState, name: string, options: Options, settings: ControlSettings = {}): Html {
  return field(form, name, settings, (shown) => select(form, name, options, shown));
}

export function textArea(form: FormState, name: string, rows: number): Html {
  // HTML drops a line break right after the tag.
  return field(
    form,
    name,
    {},
    ({ hint = null }) => html`<textarea rows="${rows}" ${named(form, name, hint !== null)}>${form.fields[name] ?? ''}</textarea>`,
  );
}

/** Radio buttons with explanations, or checkboxes. */
export function marks(
  form: FormState,
  name: string,
  {
    type,
    options,
    hint = null,
  }: { type: 'checkbox' | 'radio'; options: readonly (readonly [value: string, text: string, small?: string])[]; hint?: HtmlValue },
): Html {
  const written = (form.fields[name] ?? '').split('\n');
  const problem = problemOf(form, name);
  return html`<fieldset
    class="field"
    id="${name}"
    ${problem === null ? null : html`aria-invalid="true" aria-describedby="${name}-problem"`}
  >
    <legend class="${type === 'radio' ? 'hidden' : ''}">${labelOf(name)}</legend>
    <div class="pick">
      ${options.map(
        ([value, text, small], at) =>
          html`<label
            ><input
              type="${type}"
              name="${name}"
              value="${value}"
              ${written.includes(value) ? html`checked` : null}
              ${form.first === name && at === 0 ? html`autofocus` : null}
            /><b>${text}</b>${small === undefined ? null : html`<small>${small}</small>`}</label
          >`,
      )}
    </div>
    ${hint === null ? null : html`<p class="hint">${hint}</p>`} ${problemsOf(form, name)}
  </fieldset>`;
}

export function sentence(form: FormState, names: readonly string[], words: HtmlValue): Html {
  return html`<div class="field">
    <div class="sentence">${words}</div>
    ${problemsOf(form, ...names)}
  </div>`;
}

export function problemOf({ problems }: FormState, name: string): string | null {
  const own = problems.filter(({ field: at }) => at === name || (!isOwn(at) && isUnder(at, name)));
  return own.length === 0 ? null : [...new Set(own.map(({ message }) => message))].join(' ');
}

export function problemsOf(form: FormState, ...names: string[]): HtmlValue {
  return names.map((name) => {
    const problem = problemOf(form, name);
    return problem === null ? null : html`<p class="error" id="${name}-problem">${icon('stop')} <span>${printable(problem)}</span></p>`;
  });
}

/** Each day has a field of its own below `hours`. */
function isOwn(name: string): boolean {
  return name.startsWith('hours.');
}

export function maskedRows({ sample, fields }: Pick<OpenDraft, 'sample' | 'fields'>): string[][] {
  const phone = sample.columns.indexOf(fields['list.phone'] ?? '');
  const region = fields['list.default_region'] || null;
  return sample.rows.map((cells) =>
    cells.map((cell, at) => (at === phone || looksLikeNumber(cell, region) ? maskedNumber(cell.trim()) : cell)),
  );
}

const mostCharacters = 60;

export function cut(text: string): string {
  const line = printable(text);
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
}
