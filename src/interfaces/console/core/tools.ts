import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { linkButton } from '../../../presentation/html/elements.ts';
import { count } from '../../../shared/input/figures.ts';
import { hidden } from './fields.ts';

/** Link to a filter with its count. `here`: active; `within`: a choice below it is. */
export function chip(path: string, words: HtmlValue, number: number | null, here: boolean | 'within' = false): Html {
  const current = here === false ? null : html`aria-current="${here === true ? 'page' : 'true'}"`;
  return html`<a class="chip" href="${path}" ${current}
    >${words}${number === null ? null : html` <span class="n">${count(number)}</span>`}</a
  > `;
}

export function chips(label: string, entries: HtmlValue): Html {
  return html`<nav class="chips" aria-label="${label}">${entries}</nav>`;
}

interface Search {
  /** Id of the form, and prefix of its field's. */
  id: string;
  path: string;
  label: string;
  placeholder: string;
  text: string;
  fields?: Readonly<Record<string, string>>;
  isLast?: boolean;
}

/** Posted, so that the search is in no address. The key `/` focuses it. */
export function searchForm({ id, path, label, placeholder, text, fields = {}, isLast = false }: Search): Html {
  return html`<form id="${id}-search" class="search${isLast ? ' end' : ''}" role="search" method="post" action="${path}">
    ${hidden(fields)}
    <label class="hidden" for="${id}-sought">${label}</label>
    ${icon('search')}<input
      id="${id}-sought"
      name="search"
      type="search"
      placeholder="${placeholder}"
      autocomplete="off"
      maxlength="200"
      value="${text}"
    /><kbd aria-hidden="true">/</kbd>
    <button class="hidden">Search</button>
  </form>`;
}

export function postButton(path: string, fields: Readonly<Record<string, string>>, words: HtmlValue, style = 'sm'): Html {
  return html`<form class="inline" method="post" action="${path}">
    ${hidden(fields)}
    <button class="btn ${style}">${words}</button>
  </form>`;
}

/** Links to the neighbouring pages. `fields`: posted again for a posted view. */
export function pager(
  path: (at: Readonly<Record<string, string | number>>) => string,
  steps: readonly (false | readonly [words: string, at: Readonly<Record<string, string | number>>])[],
  { fields, says = null }: { fields?: Readonly<Record<string, string>> | null; says?: HtmlValue } = {},
): Html | null {
  const ways = steps.flatMap((step) => {
    if (step === false) return [];
    const [words, at] = step;
    const shown = ['Older', 'Next'].includes(words) ? [words, ' ', icon('right')] : words;
    const sent = Object.entries(at).map(([name, value]) => [name, String(value)]);
    return [fields == null ? linkButton(path(at), shown, 'sm') : postButton(path({}), { ...fields, ...Object.fromEntries(sent) }, shown)];
  });
  return ways.length === 0 && says === null ? null : html`<span class="pager">${says} ${ways.map((way) => [way, ' '])}</span>`;
}
