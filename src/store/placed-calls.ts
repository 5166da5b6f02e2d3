import { capsAllowAt, capsLookBackMs, type FrequencyCap, type PlacedCall } from '../domain/frequency-caps.ts';
import type { Queries } from './open-store.ts';

/** Whom a call goes to, as far as frequency caps are concerned. */
export interface Callee {
  e164: string;
  /** The user's own id of the person; null where the list has none. */
  person: string | null;
}

const valuesPerQuery = 500;

/**
 * Tells of each callee when one more call keeps every cap. Calls of all campaigns of the database count, from the moment at which
 * they may have been placed; those that were given back or never sent do not.
 */
export async function readCaps(
  tx: Queries,
  caps: readonly FrequencyCap[],
  callees: readonly Callee[],
  now: number,
): Promise<(callee: Callee) => number> {
  if (caps.length === 0) return () => now;
  const since = now - capsLookBackMs(caps);
  const needs = (by: FrequencyCap['by']): boolean => caps.some((cap) => cap.by === by);
  const numbers = needs('number') ? callees.map(({ e164 }) => e164) : [];
  const people = needs('person') ? callees.flatMap(({ person }) => person ?? []) : [];
  const [byNumber, byPerson] = [
    await placedSince(tx, 'e164', numbers, since),
    await placedSince(tx, 'person', people, since),
  ];
  return ({ e164, person }) => {
    const calls = {
      number: byNumber.get(e164) ?? [],
      person: (person === null ? undefined : byPerson.get(person)) ?? [],
    };
    return capsAllowAt(caps, calls, now);
  };
}

async function placedSince(
  tx: Queries,
  column: 'e164' | 'person',
  values: readonly string[],
  since: number,
): Promise<Map<string, PlacedCall[]>> {
  const placed = new Map<string, PlacedCall[]>();
  for (let start = 0; start < values.length; start += valuesPerQuery) {
    const rows = await tx
      .selectFrom('attempts')
      .select([column, 'posted_at', 'disposition'])
      .where(column, 'in', values.slice(start, start + valuesPerQuery))
      .where('posted_at', '>', since)
      .where('state', 'in', ['posting', 'open', 'settled'])
      .execute();
    for (const row of rows) {
      const value = row[column];
      if (value === null || row.posted_at === null) continue;
      const talked = row.disposition === 'answered' || row.disposition === 'opted_out';
      const calls = placed.get(value) ?? [];
      calls.push({ at: row.posted_at, talked });
      placed.set(value, calls);
    }
  }
  return placed;
}
