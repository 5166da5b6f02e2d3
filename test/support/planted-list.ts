import { createHash } from 'node:crypto';
import { buildRow } from './campaign-rules.ts';
import type { ImportRow } from '../../src/ledger/campaign/row-hash.ts';

/** Every value is unique, so that leaks can be searched for. */
export interface PlantedList {
  columns: string[];
  rows: ImportRow[];
  tokens: string[];
  toCsv(): string;
}

const areaCodes = ['212', '213', '312', '415', '602', '718', '305', '617', '206', '702'];
/** Last four digits that the sandbox scripts: busy, no answer, voicemail, failed, silent, opts out, busy once. */
const fated = ['0101', '0102', '0103', '0104', '0106', '0108', '0110'];

function numberOf(seed: number, index: number): string {
  const area = areaCodes[(seed + index) % areaCodes.length];
  const spread = Math.floor(index / areaCodes.length) * 7 + (seed % 7);
  const ordinary = `01${21 + (spread % 79)}`;
  const last = index % 4 === 1 ? (fated[(seed + index) % fated.length] ?? ordinary) : ordinary;
  return `+1${area}555${last}`;
}

export function plantList(seed: number, size: number, fates: readonly string[] = []): PlantedList {
  const columns = ['phone', 'name', 'appointment', 'note'];
  const rows: ImportRow[] = [];
  const tokens: string[] = [];
  const numbers = new Set<string>();
  for (let index = 0; rows.length < size; index += 1) {
    const fate = fates[rows.length - (size - fates.length)];
    const e164 = fate === undefined ? numberOf(seed, index) : `+1646555${fate}`;
    if (numbers.has(e164)) continue;
    numbers.add(e164);
    const token = (kind: string) => `${kind}${createHash('sha256').update(`${seed}/${index}/${kind}`).digest('hex').slice(0, 14)}`;
    const fields = [token('Nm'), token('Ap'), token('Nt')];
    tokens.push(e164.slice(1), ...fields);
    rows.push(buildRow(rows.length + 1, e164, [e164, ...fields]));
  }
  return {
    columns,
    rows,
    tokens,
    toCsv: () => `${[columns, ...rows.map((row) => row.cells)].map((cells) => cells.join(',')).join('\n')}\n`,
  };
}
