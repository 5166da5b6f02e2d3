import { count } from '../../shared/input/figures.ts';
import { html, type Html, type HtmlValue } from '../html/html.ts';
import { printable } from '../../shared/input/printable.ts';

export interface Chart {
  title: string;
  note?: string;
  drawing: Html | null;
  figures: FigureTable;
  whenEmpty: string;
}

export interface FigureTable {
  /** The first column names the rows; the others hold figures. */
  columns: readonly string[];
  rows: readonly FigureRow[];
  more?: number;
}

export interface FigureRow {
  cells: readonly string[];
  /** Colour of the row in the drawing, if that has no label for it. */
  ink?: string;
}

/** `heading` null: the page already shows the title. `fold`: collapses the table below its drawing. */
export function renderChart(
  { title, note, drawing, figures, whenEmpty }: Chart,
  heading: 'h2' | 'h3' | 'h4' | null,
  { fold = false }: { fold?: boolean } = {},
): Html {
  const heads = { h2: html`<h2>${title}</h2>`, h3: html`<h3>${title}</h3>`, h4: html`<h4>${title}</h4>` };
  const head = heading === null ? null : heads[heading];
  const body: HtmlValue =
    figures.rows.length === 0
      ? html`<p class="chart-note">${whenEmpty}</p>`
      : [
          drawing === null
            ? null
            : html`<div class="chart-drawing" role="group" aria-label="${title}, drawn" tabindex="0">${drawing}</div>`,
          fold && drawing !== null
            ? html`<details>
                <summary>Figures</summary>
                ${figureTable(title, figures)}
              </details>`
            : figureTable(title, figures),
        ];
  const noteText = note === undefined ? null : html`<p class="chart-note">${note}</p>`;
  return html`<figure class="chart">
    ${head === null && noteText === null ? null : html`<figcaption>${head}${noteText}</figcaption>`} ${body}
  </figure>`;
}

interface HtmlTable extends Omit<FigureTable, 'rows'> {
  rows: readonly { cells: readonly HtmlValue[]; ink?: string }[];
}

/** `words`: cells hold text in any writing direction. */
export function figureTable(title: string, { columns, rows, more = 0 }: HtmlTable, kind: 'figures' | 'words' = 'figures'): Html {
  const isText = kind === 'words';
  const lines = rows.map(
    ({ cells: [name = '', ...cells], ink }) =>
      html`<tr>
        <th scope="row">${ink === undefined ? null : swatch(ink)}<bdi>${name}</bdi></th>
        ${cells.map((cell) => (isText ? html`<td><bdi>${cell}</bdi></td>` : html`<td>${cell}</td>`))}
      </tr>`,
  );
  return html`<div
    class="chart-figures ${isText ? 'words' : ''}"
    role="group"
    aria-label="${title}${isText ? '' : ', figures'}"
    tabindex="0"
  >
    <table>
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
    ${more === 0 ? null : html`<p class="chart-note">And ${count(more)} more.</p>`}
  </div>`;
}

function swatch(ink: string): Html {
  return html`<svg class="chart-swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect width="10" height="10" fill="${ink}"></rect>
  </svg>`;
}

const longestLabel = 24;

/** Shortens text to a one-line label; the table shows it in full. */
export function label(text: string): string {
  const letters = Array.from(printable(text));
  return letters.length <= longestLabel ? letters.join('') : `${letters.slice(0, longestLabel - 1).join('')}…`;
}
