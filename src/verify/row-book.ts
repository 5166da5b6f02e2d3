import { createHmac, hash } from 'node:crypto';

/** What a row of the list says about whom it leads to, when and where, under the names that the log has. */
export type RowFacts = Readonly<Record<string, unknown>>;

/** A hash in the log, and how it is made: 1, where the log does not tell, of a list of the facts that there were then; else of all. */
export interface LoggedHash {
  hash: string;
  version: number;
}

const firstFacts = ['e164', 'person', 'zones', 'country', 'regions', 'notBefore', 'expiresAt'];

const hashBytes = 8;

/** The keyed hash of a row as its import wrote it, made anew. */
export function hashRow(key: string, recipientId: string, facts: RowFacts, version: number): string {
  const said = Object.entries(facts).filter(([, value]) => value != null);
  // Where only the first facts were hashed, a row that tells more was changed.
  const more = said.filter(([name]) => !firstFacts.includes(name));
  const text =
    version === 1
      ? JSON.stringify([recipientId, ...firstFacts.map((name) => facts[name] ?? null), ...more])
      : `${recipientId}\n${JSON.stringify(Object.fromEntries(said.toSorted(([one], [other]) => (one < other ? -1 : 1))))}`;
  return createHmac('sha256', key).update(text).digest().subarray(0, hashBytes).toString('base64url');
}

/** The keyed hash of what the results show of a row, as its import wrote it: its cells as JSON, and the code with which it was rejected. */
export function hashCells(key: string, recipientId: string, shown: { cells: string; rejectedAs: string | null }): string {
  const text = [key, recipientId, shown.rejectedAs ?? '', shown.cells].join('\n');
  return hash('sha256', text, 'buffer').subarray(0, hashBytes).toString('base64url');
}

/** The hashes of the rows of a campaign: eight bytes for each row of the list, and those of rows that were added or corrected. */
export class RowBook {
  readonly #parts: { from: number; hashes: Buffer; version: number }[] = [];
  readonly #changed = new Map<number, LoggedHash | undefined>();

  /** Whether the log has told any when the list was imported: an earlier version told none of the cells. */
  get isHashed(): boolean {
    return this.#parts.length > 0;
  }

  take(from: number, hashes: string, version = 1): void {
    this.#parts.push({ from, hashes: Buffer.from(hashes, 'base64url'), version });
  }

  /** A row that was added or corrected; null: without a hash. */
  change(row: number, hash: string | null, version = 1): void {
    this.#changed.set(row, hash === null ? undefined : { hash, version });
  }

  /** Null: the list has no such row. */
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
