import { html, type Html } from '../../html/html.ts';

/** Reason and end of an entry of the do-not-call list, as `reason` and `until`. */
export function termFields(fields: URLSearchParams | null): Html {
  return html`<label class="field"
      >Reason, if there is one to keep
      <input name="reason" maxlength="1000" autocomplete="off" value="${fields?.get('reason') ?? ''}"
    /></label>
    <label class="field"
      >Until the end of this day; empty: for ever <input name="until" type="date" value="${fields?.get('until') ?? ''}"
    /></label>`;
}
