import { createHmac } from 'node:crypto';
import type { NewEvent } from '../../domain/events.ts';
import type { ImportRow } from './import-campaign.ts';
import type { Queries } from '../tx.ts';

/** So much of a hash stands in the log: who has the key can forge it anyway, and nobody else guesses it. */
const hashBytes = 8;
const rowsPerEvent = 500;

/** The key of the database for hashes of rows. */
export async function readRowKey(db: Queries): Promise<string> {
  return (await db.selectFrom('meta').select('value').where('key', '=', 'row_key').executeTakeFirstOrThrow()).value;
}

/** What a row says about whom a call leads to, hashed: a call that went elsewhere shows. */
function digest(key: string, recipientId: string, row: ImportRow): Buffer {
  const { e164, externalId, zones, country, regions, notBefore = null, expiresAt = null } = row;
  const text = JSON.stringify([recipientId, e164, externalId, zones, country, regions, notBefore, expiresAt]);
  return createHmac('sha256', key).update(text).digest().subarray(0, hashBytes);
}

/** Hashes rows that are added or corrected, for their events. */
export async function rowHasher(db: Queries): Promise<(recipientId: string, row: ImportRow) => string> {
  const key = await readRowKey(db);
  return (id, row) => digest(key, id, row).toString('base64url');
}

/** The hashes of a list, 500 to an event: a million rows are eight megabytes. */
export class RowHashes {
  readonly #key: string;
  readonly #parts: { from: number; rows: number; hashes: Buffer }[] = [];

  constructor(key: string) {
    this.#key = key;
  }

  add(recipientId: string, row: ImportRow): void {
    const last = this.#parts.at(-1);
    const goesOn = last !== undefined && last.rows < rowsPerEvent && row.row === last.from + last.rows;
    const part = goesOn ? last : { from: row.row, rows: 0, hashes: Buffer.allocUnsafe(rowsPerEvent * hashBytes) };
    if (!goesOn) this.#parts.push(part);
    digest(this.#key, recipientId, row).copy(part.hashes, part.rows * hashBytes);
    part.rows += 1;
  }

  events(campaignId: string, at: number): NewEvent[] {
    return this.#parts.map(({ from, rows, hashes }) => ({
      at,
      campaignId,
      type: 'campaign.rows' as const,
      data: { from, hashes: hashes.toString('base64url', 0, rows * hashBytes) },
    }));
  }
}
