import { endOfTerm } from '../../../operations/control/suppress.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';

/** Reason and end of an entry of the do-not-call list, as `reason` and `until`. */
export function termFields(fields: URLSearchParams | null, { reason = true }: { reason?: boolean } = {}): Html {
  return html`${
      reason
        ? html`<label class="field"
            >Reason, if there is one to keep
            <input name="reason" maxlength="1000" autocomplete="off" value="${fields?.get('reason') ?? ''}"
          /></label>`
        : null
    }
    <label class="field"
      >Until the end of this day; empty: for ever <input name="until" type="date" value="${fields?.get('until') ?? ''}"
    /></label>`;
}

/** What was written there, as the API takes it. What is no date is left to the API to refuse. */
export function readTerms(fields: URLSearchParams, now: number): { reason?: string; expiresAt?: string } {
  const [reason, until] = [fields.get('reason')?.trim() ?? '', fields.get('until')?.trim() ?? ''];
  const end = endOfTerm(until, now);
  return {
    ...(reason === '' ? {} : { reason }),
    ...(until === '' ? {} : { expiresAt: end === null ? until : new Date(end).toISOString() }),
  };
}

/** Numbers as people write them, one a line, and the country of those without `+`; as `numbers` and `region`. */
export function numberFields(fields: URLSearchParams | null, { settled }: { settled: boolean }): Html {
  return html`<label class="field"
      >Numbers, one a line
      <textarea name="numbers" rows="8" autocomplete="off" spellcheck="false" required ${settled ? html`readonly` : null}>
${fields?.get('numbers') ?? ''}</textarea>
    </label>
    ${regionField(fields)}`;
}

/** The country of numbers without `+`, as `region`. */
export function regionField(fields: URLSearchParams | null): Html {
  return html`<label class="field"
    >Country of numbers without +, such as US; empty: all have it
    <input name="region" maxlength="2" size="4" autocomplete="off" value="${fields?.get('region') ?? ''}"
  /></label>`;
}

/** What was written there, as the API takes it. */
export function readNumberFields(fields: URLSearchParams): { numbers: string[]; region?: string } {
  const lines = (fields.get('numbers') ?? '').split(/[\n\r,;]+/).map((line) => line.trim());
  const region = fields.get('region')?.trim() ?? '';
  return { numbers: lines.filter((line) => line !== ''), ...(region === '' ? {} : { region }) };
}

/** One mark for each choice, each of which is sent as `name`; those that were chosen before are set. */
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

/** The campaign that an entry is for, as `campaign`; empty: all of them. */
export function scopeField(fields: URLSearchParams | null, campaignIds: readonly string[]): Html {
  const chosen = fields?.get('campaign') ?? '';
  const known = new Set([...campaignIds, ...(chosen === '' ? [] : [chosen])]);
  return html`<label class="field"
    >For
    <select name="campaign">
      <option value="">all campaigns</option>
      ${[...known].map((each) => html`<option value="${each}" ${each === chosen ? html`selected` : null}>only ${each}</option>`)}
    </select></label
  >`;
}

/** What was chosen there, as the API takes it. */
export function readScope(fields: URLSearchParams): { campaign?: string } {
  const campaign = fields.get('campaign') ?? '';
  return campaign === '' ? {} : { campaign };
}

/** What a form sends along unseen; of the empty ones nothing. */
export function hidden(fields: Readonly<Record<string, string>>): HtmlValue {
  return Object.entries(fields)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}
