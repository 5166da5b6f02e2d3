import { phone } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { maskedNumber } from '../../../shared/input/printable.ts';
import { campaignPath } from './links.ts';
import { may, type ViewRequest } from './view.ts';

/** A number of a person: whole where this holder has asked for the numbers of the campaign, else masked. */
export function shownNumber(request: ViewRequest, campaignId: string, e164: string | null): Html | string {
  if (e164 === null) return '–';
  return phone(request.numbersShown(campaignId) ? e164 : maskedNumber(e164));
}

/**
 * Asks for whole numbers, or has them masked again; nothing for whoever may not. `to`: where it leads. With `search` the view itself is
 * asked by POST with these fields, so that what was searched for stays.
 */
export function numbersForm(
  request: ViewRequest,
  campaignId: string,
  { to, search }: { to: string; search?: URLSearchParams },
): Html | null {
  if (!may(request, 'operate')) return null;
  const shown = request.numbersShown(campaignId);
  const fields = [...(search ?? new URLSearchParams({ to }))].filter(([name]) => name !== 'show');
  return html`<form id="numbers" class="inline" method="post" action="${search === undefined ? campaignPath(campaignId, '/numbers') : to}">
    ${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <input type="hidden" name="show" value="${shown ? 'no' : 'yes'}" />
    <button class="small" title="${shown ? 'Masks them again' : 'For 15 minutes; the log says that you asked'}">
      ${shown ? 'Hide numbers' : 'Show numbers'}
    </button>
  </form>`;
}
