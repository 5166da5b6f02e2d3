import { createHmac, hash } from 'node:crypto';
import type { NewEvent, RowHash, RowHashVersion } from '../../rules/events.ts';
import { ownTerms, type RowTerms } from '../../rules/row-terms.ts';
import type { Row } from '../schema.ts';
import type { Queries } from '../tx.ts';

/** Truncation is safe: a key holder can forge any length, and no one else can guess this many bytes. */
const hashBytes = 8;
const rowsPerEvent = 500;

export async function readRowKey(db: Queries): Promise<string> {
  return (await db.selectFrom('meta').select('value').where('key', '=', 'row_key').executeTakeFirstOrThrow()).value;
}

const version: RowHashVersion = 2;

const hashed = [...ownTerms, 'country', 'e164', 'person', 'regions', 'zones']
  .sort()
  .map((name) => [name, name === 'person' ? 'externalId' : name] as [name: string, term: keyof RowTerms]);

/** Keyed hash of what decides whom a call reaches. Omits absent terms, so that new terms keep old hashes. */
function digest(key: string, recipientId: string, row: ImportRow): Buffer {
  const terms: Record<string, unknown> = {};
  for (const [name, term] of hashed) if (row[term] != null) terms[name] = row[term];
  return createHmac('sha256', key)
    .update(`${recipientId}\n${JSON.stringify(terms)}`)
    .digest()
    .subarray(0, hashBytes);
}

type StoredRow = Pick<Row<'recipients'>, 'recipient_id' | 'cells'> & { reason?: string | null | undefined };

/** Hash of cells and reason, which do not decide whom a call reaches and are not in call events. */
function digestShown(key: string, { recipient_id: recipientId, cells, reason }: StoredRow): Buffer {
  // Unambiguous: the first three contain no line break.
  const text = [key, recipientId, reason ?? '', cells].join('\n');
  return hash('sha256', text, 'buffer').subarray(0, hashBytes);
}

export async function rowHasher(db: Queries): Promise<(recipientId: string, row: ImportRow) => RowHash> {
  const key = await readRowKey(db);
  return (id, row) => ({
    hash: digest(key, id, row).toString('base64url'),
    cells: digestShown(key, { recipient_id: id, cells: JSON.stringify(row.cells) }).toString('base64url'),
    version,
  });
}

/** 500 rows per event: a million rows take 16 MB. */
export class RowHashes {
  readonly #key: string;
  readonly #parts: { from: number; rows: number; hashes: Buffer; cells: Buffer }[] = [];

  constructor(key: string) {
    this.#key = key;
  }

  /** `shown`: recipient made from the row. */
  add(row: ImportRow, shown: StoredRow): void {
    const last = this.#parts.at(-1);
    const goesOn = last !== undefined && last.rows < rowsPerEvent && row.row === last.from + last.rows;
    const newBuffer = () => Buffer.allocUnsafe(rowsPerEvent * hashBytes);
    const part = goesOn ? last : { from: row.row, rows: 0, hashes: newBuffer(), cells: newBuffer() };
    if (!goesOn) this.#parts.push(part);
    digest(this.#key, shown.recipient_id, row).copy(part.hashes, part.rows * hashBytes);
    digestShown(this.#key, shown).copy(part.cells, part.rows * hashBytes);
    part.rows += 1;
  }

  events(campaignId: string, at: number): NewEvent[] {
    return this.#parts.map(({ from, rows, ...part }) => {
      const text = (hashes: Buffer) => hashes.toString('base64url', 0, rows * hashBytes);
      const data = { from, hashes: text(part.hashes), cells: text(part.cells), version };
      return { at, campaignId, type: 'campaign.rows', data };
    });
  }
}

export interface ImportRow extends RowTerms {
  /** Data row from 1, in file order. */
  row: number;
  cells: string[];
  verdict: 'accepted' | 'rejected';
  reason?: string;
}
