import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { lockToWrite } from '../locks.ts';
import type { Tx, Store } from '../tx.ts';
import { partsOf } from '../parts.ts';
import { StoreError } from '../ledger-error.ts';
import type { Suppression } from '../rows/suppressions.ts';

type Terms = Omit<Suppression, 'e164'>;

/** Leftovers of a crash are deleted when older than any import takes. */
const leftBehindMs = 24 * 3_600_000;
const rowsPerStatement = 1_000;

/**
 * All or none: staged in parts, effective in one transaction. Otherwise like `addSuppressions`. `clock`: service time, and this machine's.
 */
export async function importSuppressions(
  store: Store,
  parts: AsyncIterable<readonly string[]>,
  { terms, clock }: { terms: Terms; clock: { now: number; nowReal: number } },
): Promise<number> {
  const importId = randomUUID();
  await store.transaction((tx) =>
    tx
      .deleteFrom('staged_suppressions')
      .where('staged_real', '<', clock.nowReal - leftBehindMs)
      .execute(),
  );
  let staged = 0;
  try {
    for await (const part of parts) {
      await store.transaction((tx) => stage(tx, part, { importId, nowReal: clock.nowReal }));
      staged += part.length;
    }
    return await store.transaction(async (tx) => {
      await lockToWrite(tx);
      const added = await publish(tx, terms, { importId, now: clock.now });
      if ((await discard(tx, importId)) !== staged)
        throw new StoreError('Numbers of this import were thrown away before it ended. Nothing was added: import the file again.');
      return added;
    });
  } catch (error) {
    await store.transaction((tx) => discard(tx, importId)).catch(() => {});
    throw error;
  }
}

async function stage(tx: Tx, numbers: readonly string[], { importId, nowReal }: { importId: string; nowReal: number }): Promise<void> {
  for (const part of partsOf(numbers, rowsPerStatement)) {
    const rows = part.map((e164) => ({ import_id: importId, e164, staged_real: nowReal }));
    await tx.insertInto('staged_suppressions').values(rows).execute();
  }
}

/** Two statements for any length of list, in key order like all writers. */
async function publish(tx: Tx, terms: Terms, { importId, now }: { importId: string; now: number }): Promise<number> {
  const { scope, source, reason } = terms;
  const expiresAt = sql<number | null>`cast(${terms.expiresAt} as bigint)`;
  // A number is digits and a plus, so JSON needs no escapes.
  const data = JSON.stringify({ e164: '', scope, source, expiresAt: terms.expiresAt });
  const [before, after] = [data.slice(0, '{"e164":"'.length), data.slice('{"e164":"'.length)];
  const { numAffectedRows } = await sql`
    insert into events (at, campaign_id, type, data)
    select cast(${now} as bigint), cast(${scope} as text), 'suppression.added', cast(${before} as text) || staged.e164 || cast(${after} as text)
    from staged_suppressions staged
    left join suppressions known on known.e164 = staged.e164 and known.scope = ${scope}
    where staged.import_id = ${importId} and (known.e164 is null
      or (known.expires_at is not null and (${expiresAt} is null or ${expiresAt} > known.expires_at)))
    order by staged.e164`.execute(tx);
  await sql`
    insert into suppressions (e164, scope, source, reason, created_at, expires_at)
    select e164, cast(${scope} as text), cast(${source} as text), cast(${reason} as text), cast(${now} as bigint), ${expiresAt}
    from staged_suppressions where import_id = ${importId} order by e164
    on conflict (e164, scope) do update set
      source = excluded.source, reason = excluded.reason, created_at = excluded.created_at, expires_at = excluded.expires_at
    where suppressions.expires_at is not null
      and (excluded.expires_at is null or excluded.expires_at > suppressions.expires_at)`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

async function discard(tx: Tx, importId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('staged_suppressions').where('import_id', '=', importId).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
