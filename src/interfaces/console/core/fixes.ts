import { scrolled } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { capital } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';

export interface FixLine {
  row: number;
  title?: string;
  hint: string;
  column: string | null;
  /** Index of the editable column, from 0; null: fix the row in the file. */
  at: number | null;
  value: string;
  /** No error is left: the row can wait for its call as it is. */
  isMended?: boolean;
  /** Masked present value; an empty field keeps it. */
  masked?: string | undefined;
}

/** Rows that cannot be called, each with an editable cell. `hintId`: explains what happens with it. */
export function fixTable(lines: readonly FixLine[], hintId: string): Html {
  return scrolled('Rows that cannot be called', {
    heads: ['Where', 'What is wrong', 'Fix'],
    lines: lines.map((line) => fixRow(line, hintId)),
  });
}

function fixRow({ row, title, hint, column, at, value, isMended = false, masked }: FixLine, hintId: string): Html {
  const name = `fix.${row}.${at ?? ''}`;
  const filled: HtmlValue = masked === undefined ? html`value="${value}"` : html`value="" placeholder="${masked}"`;
  return html`<tr class="fix" id="fix-row-${row}">
    <th scope="row" class="wide" ${title === undefined ? null : html`title="${title}"`}>Row ${row}</th>
    <td class="wide">
      <span class="two" id="fix-${row}-problem"
        ><span>${capital(printable(hint))}</span>${column === null ? null : html`<small>${printable(column)}</small>`}</span
      >
    </td>
    <td class="wide">
      ${
        isMended
          ? html`<label><input type="checkbox" name="again" value="${row}" /> Put it in line</label>`
          : at === null
            ? html`<span class="soft small">Fix it in the file</span>`
            : html`<label class="hidden" for="${name}">New value of ${printable(column ?? '')} in row ${row}</label
                ><input
                  id="${name}"
                  name="${name}"
                  ${filled}
                  autocomplete="off"
                  aria-invalid="true"
                  aria-describedby="fix-${row}-problem ${hintId}"
                />`
      }
    </td>
  </tr>`;
}

type CellFixes = ReadonlyMap<number, ReadonlyMap<number, string>>;

/** Input of `fixTable`. `fix.18.3`: row 18, column index 3. */
export function sentFixes(sent: URLSearchParams): CellFixes {
  const fixes = new Map<number, Map<number, string>>();
  for (const [name, value] of sent) {
    const [, row, at] = /^fix\.(\d{1,9})\.(\d{1,5})$/.exec(name) ?? [];
    if (row === undefined || at === undefined) continue;
    const cells = fixes.get(Number(row)) ?? new Map<number, string>();
    fixes.set(Number(row), cells.set(Number(at), value));
  }
  return fixes;
}
