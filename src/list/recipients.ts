import type { CampaignRules } from '../rules/campaign-rules.ts';
import type { RejectionReason } from '../rules/outcome.ts';
import type { RowTerms, OwnColumns, OwnTerms } from '../rules/row-terms.ts';
import { compileTemplates, type Personalisation } from '../rules/personalisation.ts';
import { readPhoneNumber } from '../shared/input/phone-number.ts';
import { recipientFields } from '../rules/columns.ts';
import { unwrapped, type ListRecord } from './format/record.ts';
import { readListRecords } from './records.ts';
import type { ListHeader } from './header.ts';
import { idFault, textFault } from '../rules/text.ts';
import { quoteCell } from '../shared/input/printable.ts';
import { RowIndex } from './row-index.ts';
import { readConsent } from './row-consent.ts';
import { readPlace, type CellOf } from './row-place.ts';
import { describeSpreadsheetError, isRoundedNumber } from '../shared/input/cells.ts';
import { ownFields, type RowSoFar } from './row-fields.ts';

interface AcceptedRow extends RowTerms {
  verdict: 'accepted';
  e164: string;
}

interface RejectedRow extends RowTerms {
  verdict: 'rejected';
  reason: RejectionReason;
  column: string | null;
  /** What is wrong and how to fix it; may quote the cell. */
  hint: string;
}

export type ListRow = {
  /** Data row from 1, in file order; blank lines do not count. */
  row: number;
  line: number;
  /** As parsed; a malformed row may have fewer or more than the header. */
  cells: string[];
} & (AcceptedRow | RejectedRow);

const rowsPerChunk = 1000;

/**
 * Reads and validates every data row of a list exactly once, in file order.
 *
 * A row with several faults reports the first in this order: `malformed_row`, the phone number and its country, `invalid_timezone`,
 * `invalid_zip`, `invalid_state`, the row's own terms, `missing_consent`, `missing_value`, `duplicate_phone`, `duplicate_id`. The first
 * *accepted* row with a number or id wins: a rejected row is never dialled, so it causes no duplicate. An empty country cell falls back to
 * the default region.
 * @throws ListFileError when the file as a whole cannot be used; discard rows already yielded.
 */
export async function* readRecipients(file: { listPath: string }, header: ListHeader, rules: CampaignRules): AsyncGenerator<ListRow[]> {
  const validator = new RowValidator(header, rules);
  for await (const records of readListRecords(file.listPath, header.layout, rowsPerChunk)) {
    const rows: ListRow[] = [];
    for (const record of records) if (record.row > 0) rows.push(validator.judge(record));
    if (rows.length > 0) yield rows;
  }
}

/** Validates rows with known cells as `readRecipients` does, in this order; the row number serves as line number. */
export function validateRows(rules: CampaignRules, rows: readonly Pick<ListRow, 'row' | 'cells'>[]): ListRow[] {
  const validator = new RowValidator(rules.list, rules);
  return rows.map(({ row, cells }) => validator.judge({ row, line: row, cells: cells.map(unwrapped), damage: null }));
}

const nowhere = { country: null, regions: null } as const;

type Judgement = AcceptedRow | RejectedRow;

class RowValidator {
  readonly #columns: readonly string[];
  readonly #rules: CampaignRules;
  readonly #personalisation: Personalisation;
  /** Index of each column; for unnamed columns, the first. */
  readonly #places: ReadonlyMap<string | null, number>;
  /** Columns that decide whether, when and where to call: a missing cell there is an error, not an empty value. */
  readonly #guards: readonly string[];
  /** Indexes of the cells that identify a row or recipient. */
  readonly #ids: readonly number[];
  /** Rows of accepted recipients; the at most 15 digits of an E.164 number fit a JS number exactly. */
  readonly #rowByNumber = new RowIndex();
  readonly #rowById = new RowIndex();

  constructor(header: Pick<ListHeader, 'columns'>, rules: CampaignRules) {
    this.#columns = header.columns;
    this.#rules = rules;
    this.#personalisation = compileTemplates(rules);
    this.#places = new Map(header.columns.map((column, index) => [column, index] as const).toReversed());
    const { consent, list } = rules;
    const { idColumn, personKeyColumn = null, priorityColumn: _, ...guards } = list;
    const named = [...Object.entries({ ...guards, personKeyColumn }), ...Object.entries(consent ?? {})];
    this.#guards = named.flatMap(([name, column]) => (name.endsWith('Column') && typeof column === 'string' ? [column] : []));
    this.#ids = [idColumn, personKeyColumn].flatMap((column) => this.#places.get(column) ?? []);
  }

  judge({ row, line, cells: read, damage, isLast }: ListRecord): ListRow {
    const cells = this.#fitted(read, isLast === true);
    return { row, line, cells, ...(this.#findDamage(cells, damage) ?? this.#judgeCells(row, cells)) };
  }

  /** Trims surplus empty cells and pads cells that an export left out at the end; leaves any other row as it is. */
  #fitted(cells: string[], isLast: boolean): string[] {
    const width = this.#columns.length;
    if (cells.slice(width).some((cell) => cell !== '')) return cells;
    if (cells.length >= width) return cells.slice(0, width);
    return isLast || this.#missingGuard(cells) !== undefined ? cells : [...cells, ...Array<string>(width - cells.length).fill('')];
  }

  #missingGuard(cells: readonly string[]): string | undefined {
    return this.#guards.find((column) => (this.#places.get(column) ?? 0) >= cells.length);
  }

  #findDamage(cells: readonly string[], damage: ListRecord['damage']): RejectedRow | null {
    // When cells may have shifted, nothing in the row is trusted.
    const untrusted = { ...nowhere, externalId: null, e164: null, zones: [] };
    const refuse = (column: string | null, hint: string): RejectedRow => {
      return { verdict: 'rejected', reason: 'malformed_row', column, hint, ...untrusted };
    };
    if (damage !== null) return refuse(this.#columns[damage.index] ?? null, damage.hint);
    for (let index = 0; index < cells.length; index++) {
      const fault = (this.#ids.includes(index) ? idFault : textFault)(cells[index] ?? '');
      if (fault !== null) return refuse(this.#columns[index] ?? null, `the cell holds ${fault}; remove it`);
    }
    if (cells.length === this.#columns.length) return null;
    const counts = `${String(cells.length)} cells under ${String(this.#columns.length)} columns`;
    if (cells.length > this.#columns.length) return refuse(null, `${counts}; put a cell that holds the delimiter in quotes`);
    const guard = this.#missingGuard(cells);
    const fix = 'and keep empty cells';
    if (guard !== undefined) return refuse(null, `${counts}, and that of ${quoteCell(guard)} is missing; write it, ${fix}`);
    return refuse(null, `${counts}, in a last line that nothing ends: the file may have been cut off. Send it whole, ${fix}`);
  }

  #judgeCells(row: number, cells: readonly string[]): Judgement {
    const { list } = this.#rules;
    const written = (column: string | null): string => cells[this.#places.get(column) ?? -1] ?? '';
    const cell: CellOf = (column) => written(column).trim();
    const externalId = cell(list.idColumn) || null;
    const reject = (reason: RejectionReason, column: string | null, hint: string, e164: string | null, zones: readonly string[]) =>
      ({ verdict: 'rejected', reason, column, hint, externalId, e164, zones, ...nowhere }) as const;

    const number = readPhoneNumber(written(list.phoneColumn), cell(list.countryColumn) || list.defaultRegion, list.numbering);
    if (!number.ok) {
      const column = number.reason === 'invalid_country' ? list.countryColumn : list.phoneColumn;
      return reject(number.reason, column, number.hint, null, []);
    }
    const { e164 } = number;
    const place = readPlace(list, cell, number);
    if (!place.ok) return reject(place.reason, place.column, place.hint, e164, place.zones);
    const { zones, regions } = place;
    const own = readOwnTerms(cell, { rules: this.#rules, zones, country: number.country, regions });
    if (!own.ok) return reject(own.reason, own.column, own.hint, e164, zones);
    const consent = readConsent(this.#rules, cell, zones);
    if (!consent.ok) return reject('missing_consent', consent.column, consent.hint, e164, zones);
    const { consentedAt } = consent;
    for (const column of this.#personalisation.columns) {
      const damage = describeSpreadsheetError(cell(column));
      if (damage !== null) return reject('missing_value', column, damage, e164, zones);
    }
    const rendered = this.#personalisation.render(recipientFields(this.#columns, cells));
    if (!rendered.ok) {
      const names = rendered.missing.map(quoteCell).join(', ');
      const hint =
        names === ''
          ? `the template cannot be filled in: ${rendered.problem ?? 'no reason given'}`
          : `the template uses ${names}, which is empty here; fill it in, or give the template a default`;
      return reject('missing_value', rendered.missing[0] ?? null, hint, e164, zones);
    }
    const key = Number(e164.slice(1));
    const earlierNumber = this.#rowByNumber.rowOf(key);
    if (earlierNumber !== null) {
      const hint = `row ${String(earlierNumber)} has the same number; each number is dialled for one row only`;
      return reject('duplicate_phone', list.phoneColumn, hint, e164, zones);
    }
    const earlierId = externalId === null ? null : this.#rowById.rowOf(externalId, row);
    if (earlierId !== null) {
      const cause = isRoundedNumber(externalId ?? '')
        ? 'a spreadsheet has rounded the ids to scientific notation, so format the column as text and export again'
        : 'give each row its own';
      const hint = `row ${String(earlierId)} has the same id; ${cause}`;
      return reject('duplicate_id', list.idColumn, hint, e164, zones);
    }
    this.#rowByNumber.rowOf(key, row);
    return {
      verdict: 'accepted',
      externalId,
      e164,
      zones,
      country: number.country,
      regions,
      ...own.terms,
      ...(consentedAt === null ? {} : { consentedAt }),
    };
  }
}

type OwnReading = { ok: true; terms: OwnTerms } | { ok: false; reason: RejectionReason; column: string; hint: string };

/** Reads the row's own terms; an empty cell sets none. */
function readOwnTerms(cell: CellOf, row: Omit<RowSoFar, 'terms'>): OwnReading {
  const terms: OwnTerms = {};
  for (const { term, rules, read, reason } of ownFields) {
    const column = row.rules.list[rules as keyof OwnColumns] ?? null;
    const text = column === null ? '' : cell(column);
    if (column === null || text === '') continue;
    const reading = read(text, { ...row, terms });
    if ('fault' in reading) return { ok: false, reason, column, hint: reading.fault };
    Object.assign(terms, { [term]: reading.value });
  }
  return { ok: true, terms };
}
