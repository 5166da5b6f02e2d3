import { endOfTerm } from '../../../operations/control/suppress.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { capital } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { FormInput } from './press.ts';

/** As attributes of its control and as a line below; null without an error. */
export function refusedField({ errors = [] }: Pick<FormInput, 'errors'>, name: string): { marks: HtmlValue; line: HtmlValue } {
  const [error] = errors.filter(({ path }) => path === name);
  if (error === undefined) return { marks: null, line: null };
  return {
    marks: html`aria-invalid="true" aria-describedby="${name}-problem" ${errors[0] === error ? html`autofocus` : null}`,
    line: html`<p class="error" id="${name}-problem">${icon('stop')} <span>${printable(capital(error.message))}.</span></p>`,
  };
}

/** `given`: shows the API's error if `name` is the request's field. */
export function lineField(
  fields: URLSearchParams | null,
  { name, label, most = 1000, size, required = false }: { name: string; label: string; most?: number; size?: number; required?: boolean },
  given: Pick<FormInput, 'errors'> = {},
): Html {
  const { marks, line } = refusedField(given, name);
  const control = html`<label class="field"
    >${label}
    <input
      name="${name}"
      ${marks}
      maxlength="${most}"
      ${size === undefined ? null : html`size="${size}"`}
      autocomplete="off"
      value="${fields?.get(name) ?? ''}"
      ${required ? html`required` : null}
  /></label>`;
  return html`${control}${line}`;
}

/** Trimmed values of these fields, without empty ones. */
export function written<Name extends string>(fields: URLSearchParams, ...names: readonly Name[]): { [Field in Name]?: string } {
  const texts = names.map((name) => [name, fields.get(name)?.trim() ?? ''] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== '')) as { [Field in Name]?: string };
}

/** `none`: label of the empty choice. */
export function selectField(
  { name, label, none, chosen, isBlock = false }: { name: string; label: string; none: string; chosen: string; isBlock?: boolean },
  options: readonly (readonly [value: string, text: string])[],
): Html {
  return html`<label ${isBlock ? html`class="field"` : null}
    >${label}
    <select name="${name}">
      <option value="">${none}</option>
      ${options.map(([value, text]) => html`<option value="${value}" ${value === chosen ? html`selected` : null}>${text}</option>`)}
    </select></label
  >`;
}

/** Reason and end of a do-not-call entry, as `reason` and `until`. */
export function termFields(fields: URLSearchParams | null, { reason = true }: { reason?: boolean } = {}): Html {
  return html`${reason ? lineField(fields, { name: 'reason', label: 'Reason, if there is one to keep' }) : null}
    <label class="field"
      >Until the end of this day; empty: for good <input name="until" type="date" value="${fields?.get('until') ?? ''}"
    /></label>`;
}

/** For the API, which refuses an invalid date. */
export function readTerms(fields: URLSearchParams, now: number): { reason?: string; expiresAt?: string } {
  const { until, ...reason } = written(fields, 'reason', 'until');
  if (until === undefined) return reason;
  const end = endOfTerm(until, now);
  return { ...reason, expiresAt: end === null ? until : new Date(end).toISOString() };
}

export function numberFields(fields: URLSearchParams | null, { settled }: { settled: boolean }): Html {
  return html`<label class="field"
    >Numbers, one a line
    <textarea name="numbers" rows="8" autocomplete="off" spellcheck="false" required ${settled ? html`readonly` : null}>
${fields?.get('numbers') ?? ''}</textarea>
  </label>`;
}

export function regionField(fields: URLSearchParams | null): Html {
  const label = 'Country of numbers without +, such as US; empty: all have it';
  return lineField(fields, { name: 'region', label, most: 2, size: 4 });
}

export function readNumberFields(fields: URLSearchParams): { numbers: string[]; region?: string } {
  const lines = (fields.get('numbers') ?? '').split(/[\n\r,;]+/).map((line) => line.trim());
  return { numbers: lines.filter((line) => line !== ''), ...written(fields, 'region') };
}

/** One checkbox per choice, sent as `name`; earlier choices are checked. */
export function checkboxes(
  fields: URLSearchParams | null,
  name: string,
  choices: readonly { value: string; label: HtmlValue }[],
): HtmlValue {
  const chosen = fields?.getAll(name) ?? [];
  return choices.map(
    ({ value, label }) =>
      html`<label
        ><input type="checkbox" name="${name}" value="${value}" ${chosen.includes(value) ? html`checked` : null} /> ${label}</label
      >`,
  );
}

export function scopeField(fields: URLSearchParams | null, campaignIds: readonly string[]): Html {
  const chosen = fields?.get('campaign') ?? '';
  const known = new Set([...campaignIds, ...(chosen === '' ? [] : [chosen])]);
  const options = [...known].map((each) => [each, `only ${each}`] as const);
  return selectField({ name: 'campaign', label: 'For', none: 'all campaigns', chosen, isBlock: true }, options);
}

export function readScope(fields: URLSearchParams): { campaign?: string } {
  return written(fields, 'campaign');
}

export function hidden(fields: Readonly<Record<string, string>>): HtmlValue {
  return Object.entries(fields)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}
