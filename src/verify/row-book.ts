import { createHmac, hash } from 'node:crypto';

/** What a row of the list says about whom it leads to, under the names that the log has. */
export interface RowFacts {
  e164: string | null;
  person: string | null;
  zones: unknown;
  country: string | null;
  regions: unknown;
  notBefore: number | null;
  expiresAt: number | null;
}

const hashBytes = 8;

/** The keyed hash of a row as its import wrote it, made anew. */
export function hashRow(key: string, recipientId: string, facts: RowFacts): string {
  const { e164, person, zones, country, regions, notBefore, expiresAt } = facts;
  const text = JSON.stringify([recipientId, e164, person, zones, country, regions, notBefore, expiresAt]);
  return createHmac('sha256', key).update(text).digest().subarray(0, hashBytes).toString('base64url');
}

/** The keyed hash of what the results show of a row, as its import wrote it: its cells as JSON, and the code with which it was rejected. */
export function hashCells(
  key: string,
  recipientId: string,
  shown: { cells: string; rejectedAs: string | null },
): string {
  const text = [key, recipientId, shown.rejectedAs ?? '', shown.cells].join('\n');
  return hash('sha256', text, 'buffer').subarray(0, hashBytes).toString('base64url');
}

/** The hashes of the rows of a campaign: eight bytes for each row of the list, and those of rows that were added or corrected. */
export class RowBook {
  readonly #parts: { from: number; hashes: Buffer }[] = [];
  readonly #changed = new Map<number, string | undefined>();

  /** Whether the log has told any when the list was imported: an earlier version told none of the cells. */
  get isHashed(): boolean {
    return this.#parts.length > 0;
  }

  take(from: number, hashes: string): void {
    this.#parts.push({ from, hashes: Buffer.from(hashes, 'base64url') });
  }

  /** A row that was added or corrected; null: without a hash. */
  change(row: number, hash: string | null): void {
    this.#changed.set(row, hash ?? undefined);
  }

  /** The hash of a row; undefined: there is none. */
  of(row: number): string | undefined {
    if (this.#changed.has(row)) return this.#changed.get(row);
    let [low, high] = [0, this.#parts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#parts[middle]?.from ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    const part = this.#parts[low];
    const start = (row - (part?.from ?? 0)) * hashBytes;
    const hash = part === undefined || start < 0 ? undefined : part.hashes.subarray(start, start + hashBytes);
    return hash?.length === hashBytes ? hash.toString('base64url') : undefined;
  }
}
