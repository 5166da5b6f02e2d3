import { createHmac, hash } from 'node:crypto';

/** A row's recipient, place and times, under the names of the log. */
export type RowFacts = Readonly<Record<string, unknown>>;

/** Version 1, the default, hashes a list of the first facts; later ones hash all. */
export interface LoggedHash {
  hash: string;
  version: number;
}

const firstFacts = ['e164', 'person', 'zones', 'country', 'regions', 'notBefore', 'expiresAt'];

const hashBytes = 8;

/** Recomputes the keyed hash of a row that its import wrote. */
export function hashRow(key: string, recipientId: string, facts: RowFacts, version: number): string {
  const presentFacts = Object.entries(facts).filter(([, value]) => value != null);
  // Version 1 hashed only the first facts; a row with more was changed.
  const more = presentFacts.filter(([name]) => !firstFacts.includes(name));
  const text =
    version === 1
      ? JSON.stringify([recipientId, ...firstFacts.map((name) => facts[name] ?? null), ...more])
      : `${recipientId}\n${JSON.stringify(Object.fromEntries(presentFacts.toSorted(([one], [other]) => (one < other ? -1 : 1))))}`;
  return createHmac('sha256', key).update(text).digest().subarray(0, hashBytes).toString('base64url');
}

/** Hashes a row's cells as JSON and the code of its rejection, as its import did. */
export function hashCells(key: string, recipientId: string, shown: { cells: string; rejectedAs: string | null }): string {
  const text = [key, recipientId, shown.rejectedAs ?? '', shown.cells].join('\n');
  return hash('sha256', text, 'buffer').subarray(0, hashBytes).toString('base64url');
}

/** Eight bytes per row of the list, plus added and corrected rows. */
export class RowHashes {
  readonly #parts: { from: number; hashes: Buffer; version: number }[] = [];
  readonly #changed = new Map<number, LoggedHash | undefined>();

  /** True when the import logged hashes; an earlier version logged none of the cells. */
  get isHashed(): boolean {
    return this.#parts.length > 0;
  }

  take(from: number, hashes: string, version = 1): void {
    this.#parts.push({ from, hashes: Buffer.from(hashes, 'base64url'), version });
  }

  /** Sets an added or corrected row; null: without a hash. */
  change(row: number, hash: string | null, version = 1): void {
    this.#changed.set(row, hash === null ? undefined : { hash, version });
  }

  /** `row` null: the list has no such row. */
  of(row: number | null): LoggedHash | undefined {
    if (row === null) return undefined;
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
    if (part === undefined || hash?.length !== hashBytes) return undefined;
    return { hash: hash.toString('base64url'), version: part.version };
  }
}
