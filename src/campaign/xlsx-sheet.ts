import type { Readable } from 'node:stream';
import { showNumber, type CellFormat } from './xlsx-number-format.ts';
import { RichText, unescape } from './xlsx-strings.ts';
import { readXml } from './xlsx-xml.ts';

/** A row of a sheet as its cells show themselves. */
export interface SheetRow {
  /** From 1, as the spreadsheet numbers it. */
  number: number;
  /** Up to the last cell that is not empty. */
  cells: string[];
  /** Place of the first cell whose formula was never computed, or -1. */
  uncomputed: number;
}

export interface CellContext {
  strings: readonly string[];
  formats: readonly CellFormat[];
  from1904: boolean;
}

const mostColumns = 16_384;
const general: CellFormat = { kind: 'general' };

/** Streams the rows of a sheet, those without content left out, as they are read. */
export async function* readSheetRows(stream: Readable, context: CellContext): AsyncGenerator<SheetRow[]> {
  let rows: SheetRow[] = [];
  const reader = new RowReader(context, (row) => rows.push(row));
  for await (const _ of readXml(stream, reader)) {
    if (rows.length === 0) continue;
    yield rows;
    rows = [];
  }
}

class RowReader {
  readonly #context: CellContext;
  readonly #emit: (row: SheetRow) => void;
  readonly #rich = new RichText();
  #row: SheetRow = { number: 0, cells: [], uncomputed: -1 };
  #column = -1;
  #type = 'n';
  #format = general;
  #value = '';
  #inValue = false;
  #hasFormula = false;
  #hasValue = false;

  constructor(context: CellContext, emit: (row: SheetRow) => void) {
    this.#context = context;
    this.#emit = emit;
  }

  open(name: string, attribute: (name: string) => string | undefined): void {
    switch (name) {
      case 'row':
        this.#row = { number: Number(attribute('r') ?? this.#row.number + 1), cells: [], uncomputed: -1 };
        this.#column = -1;
        break;
      case 'c': {
        const reference = attribute('r');
        this.#column = reference === undefined ? this.#column + 1 : columnOf(reference);
        if (this.#column >= mostColumns) throw new Error('a cell stands outside of the sheet');
        this.#type = attribute('t') ?? 'n';
        this.#format = this.#context.formats[Number(attribute('s') ?? '0')] ?? general;
        this.#value = '';
        this.#hasFormula = false;
        this.#hasValue = false;
        break;
      }
      case 'f':
        this.#hasFormula = true;
        break;
      case 'v':
        this.#inValue = true;
        this.#hasValue = true;
        break;
      default:
        this.#rich.open(name);
    }
  }

  text(text: string): void {
    if (this.#inValue) this.#value += text;
    else this.#rich.text(text);
  }

  close(name: string): void {
    if (name === 'v') this.#inValue = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
    else this.#rich.close(name);
  }

  #endCell(): void {
    const inline = this.#rich.take();
    const cell = this.#type === 'inlineStr' ? inline : this.#show();
    if (this.#hasFormula && !this.#hasValue && this.#row.uncomputed < 0) this.#row.uncomputed = this.#column;
    if (cell === '') return;
    while (this.#row.cells.length < this.#column) this.#row.cells.push('');
    this.#row.cells[this.#column] = cell;
  }

  #show(): string {
    switch (this.#type) {
      case 's':
        return this.#context.strings[Number(this.#value)] ?? '';
      case 'b':
        return this.#value === '' ? '' : this.#value.trim() === '1' ? 'TRUE' : 'FALSE';
      case 'n':
        return showNumber(this.#value, this.#format, this.#context.from1904);
      default:
        return unescape(this.#value);
    }
  }

  #endRow(): void {
    if (this.#row.cells.some((cell) => cell.trim() !== '') || this.#row.uncomputed >= 0) this.#emit(this.#row);
  }
}

/** The column of `BC12`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (let index = 0; index < reference.length; index++) {
    const letter = reference.charCodeAt(index) & ~0x20;
    if (letter < 0x41 || letter > 0x5a) break;
    column = column * 26 + letter - 0x40;
  }
  return column - 1;
}
