import type { Readable } from 'node:stream';
import { longestRecord, mostColumns } from '../record.ts';
import { showNumber, type CellFormat } from './number-format.ts';
import { CappedText, RichText, unescape } from './strings.ts';
import { readXml } from './xml.ts';

export interface SheetRow {
  number: number;
  /** Non-empty cells by column from 0: a cell far to the right costs no more than another. */
  cells: ReadonlyMap<number, string>;
  /** Column of the first formula without a stored result, or -1. */
  uncomputed: number;
}

export interface CellContext {
  strings: readonly string[];
  formats: readonly CellFormat[];
  from1904: boolean;
}

const mostRows = 1_048_576;
const general: CellFormat = { kind: 'general' };

/** Streams the non-empty rows of a sheet as they are read. */
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
  readonly #value = new CappedText();
  #number = 0;
  #rows = 0;
  #cells = new Map<number, string>();
  #uncomputed = -1;
  #characters = 0;
  #column = -1;
  #type = 'n';
  #format = general;
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
        this.#number = readRowNumber(attribute('r')) ?? this.#number + 1;
        if (++this.#rows > mostRows) throw new Error('it has more rows than a sheet can have');
        this.#cells = new Map();
        this.#uncomputed = -1;
        this.#characters = 0;
        this.#column = -1;
        break;
      case 'c': {
        const reference = attribute('r');
        this.#column = reference === undefined ? this.#column + 1 : columnOf(reference);
        if (this.#column < 0 || this.#column >= mostColumns) throw new Error('a cell stands outside of the sheet');
        this.#type = attribute('t') ?? 'n';
        this.#format = this.#context.formats[Number(attribute('s') ?? '0')] ?? general;
        this.#value.take();
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
    if (this.#inValue) this.#value.add(text);
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
    const cell = this.#type === 'inlineStr' ? inline : this.#show(this.#value.take());
    if (this.#hasFormula && !this.#hasValue && this.#uncomputed < 0) this.#uncomputed = this.#column;
    if (cell === '') return;
    this.#characters += cell.length;
    if (this.#characters > longestRecord)
      throw new Error(`row ${String(this.#number)} holds more than ${String(longestRecord)} characters`);
    this.#cells.set(this.#column, cell);
  }

  #show(value: string): string {
    switch (this.#type) {
      case 's':
        return this.#context.strings[Number(value)] ?? '';
      case 'b':
        return value === '' ? '' : value.trim() === '1' ? 'TRUE' : 'FALSE';
      case 'n':
        return showNumber(value, this.#format, this.#context.from1904);
      default:
        return unescape(value);
    }
  }

  #endRow(): void {
    if (this.#uncomputed < 0 && [...this.#cells.values()].every((cell) => cell.trim() === '')) return;
    this.#emit({ number: this.#number, cells: this.#cells, uncomputed: this.#uncomputed });
  }
}

function readRowNumber(text: string | undefined): number | null {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/** Column of `BC12`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (let index = 0; index < reference.length && column <= mostColumns; index++) {
    const letter = reference.charCodeAt(index) & ~0x20;
    if (letter < 0x41 || letter > 0x5a) break;
    column = column * 26 + letter - 0x40;
  }
  return column - 1;
}

/** Letters of a column index (from 0), such as `BC`. */
export function lettersOf(column: number): string {
  const rest = Math.floor(column / 26) - 1;
  return (rest < 0 ? '' : lettersOf(rest)) + String.fromCharCode(0x41 + (column % 26));
}
