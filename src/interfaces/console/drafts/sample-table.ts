import { html, type Html } from '../../../presentation/html/html.ts';
import { readPhoneNumber } from '../../../rules/phone-number.ts';
import { maskedNumber, printable } from '../../../shared/input/printable.ts';
import type { OpenDraft } from './settings.ts';

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
    <p class="muted">The first rows. Telephone numbers are masked.${more}</p>`;
}

/** The first rows, with numbers of people as far as they may be seen. */
export function maskedRows({ sample, fields }: Pick<OpenDraft, 'sample' | 'fields'>): string[][] {
  const phone = sample.columns.indexOf(fields['list.phone'] ?? '');
  const region = fields['list.default_region'] || null;
  return sample.rows.map((cells) =>
    cells.map((cell, at) => (at === phone || looksLikeNumber(cell, region) ? maskedNumber(cell.trim()) : cell)),
  );
}

function looksLikeNumber(cell: string, region: string | null): boolean {
  return readPhoneNumber(cell, region).ok || /^\+?[\s()./-]*(?:\d[\s()./-]*){9,15}$/.test(cell.trim());
}

function cut(text: string): string {
  const line = printable(text);
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
}
