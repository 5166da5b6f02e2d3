import { sql, type RawBuilder } from 'kysely';
import { buildRows } from '../test/support/campaign-rules.ts';
import { answered, beginProven, noon, numbers } from '../test/ledger/scenario.ts';
import type { Store } from '../src/ledger/tx.ts';

const baseRows = 200;
const dialled = 120;
const perBatch = 20;
/** Batches whose calls have all ended; one more is open. */
const settled = dialled / perBatch - 1;
const minuteMs = 60_000;
/** Copies are spread over so much time. */
const spreadMs = 20 * 24 * 60 * minuteMs;

/** Columns by which rows know each other. */
const ids = ['recipient_id', 'attempt_id', 'last_attempt_id', 'conversation_id'];
const instants = ['at', 'planned_at', 'posted_at', 'settled_at', 'changed_at', 'verdict_at', 'started_at', 'finished_at', 'first_submit_at', 'first_posted_at']; // prettier-ignore

/** What is open is open once. */
const isCopied = {
  recipients: sql`state <> 'open'`,
  batches: sql`n <= ${settled}`,
  posts: sql`batch_id not like ${`%/${settled + 1}`}`,
  attempts: sql`state = 'settled'`,
  conversations: sql`true`,
  events: sql`recipient_id in (select recipient_id from recipients where state <> 'open')`,
};
const tables = Object.keys(isCopied) as (keyof typeof isCopied)[];

/**
 * A campaign of so many rows in the middle of its course: three fifths were called and have an outcome or wait for their retry, the rest
 * waits for its first call. The ledger's own functions make its first 200 rows; the others are copies of these, over twenty days.
 */
export async function makeLargeCampaign(store: Store, rows: number): Promise<{ campaignId: string; nextBatch: number }> {
  const scenario = await beginProven(store, {
    rows: buildRows(numbers(baseRows), (index) => `Guest ${index}`),
    rules: { pacing: { maxConcurrentCalls: 1_000, batchSize: perBatch } },
  });
  for (let n = 1; n <= settled + 1; n++) {
    const at = noon + n * 10 * minuteMs;
    await scenario.dial(n, at);
    const calls = (await scenario.attempts()).filter(({ batch_id: batch }) => batch === scenario.batchId(n));
    const records = calls.map(({ attempt_id: attempt, e164 }, index) => ({
      ...answered(`conv_${attempt}`, e164, at + 5_000),
      callResult: (['answered', 'answered', 'no_answer', 'voicemail', 'busy'] as const)[index % 5] ?? 'answered',
    }));
    // The last calls are still open.
    if (n > settled) break;
    await scenario.sweep(at + 8 * minuteMs, records);
  }
  const copies = Math.round((rows - baseRows) / (baseRows - perBatch));
  const all = await store.db.introspection.getTables();
  await store.transaction(async (tx) => {
    for (const table of tables) {
      const known = all.find(({ name }) => name === table);
      const columns = (known?.columns ?? []).map(({ name }) => name).filter((name) => name !== 'seq');
      const values = columns.map((name) => valueOf(name, copies));
      await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
        select ${sql.join(values)} from ${sql.table(table)}, ${series(store, copies)}
        where ${isCopied[table]}`.execute(tx);
    }
    await sql`update aggregates set count = count * ${copies + 1}`.execute(tx);
    await sql`update campaigns set rows_total = (select count(*) from recipients)`.execute(tx);
  });
  await sql.raw('analyze').execute(store.db);
  return { campaignId: scenario.campaignId, nextBatch: settled * (copies + 1) + 2 };
}

function series(store: Store, copies: number): RawBuilder<unknown> {
  return store.dialect === 'sqlite'
    ? sql`(with recursive series(i) as (select 1 union all select i + 1 from series where i < ${copies}) select i from series) as series`
    : sql`generate_series(1, ${copies}::bigint) as series(i)`;
}

function valueOf(name: string, copies: number): RawBuilder<unknown> {
  const column = sql.ref(name);
  if (ids.includes(name)) return sql`${column} || '~' || i`;
  if (name === 'row_number') return sql`row_number + i * ${baseRows}`;
  if (name === 'n') return sql`n + 1 + i * ${settled}`;
  if (name === 'batch_id')
    return sql`substr(batch_id, 1, length(batch_id) - 1) || cast(cast(substr(batch_id, length(batch_id)) as integer) + 1 + i * ${settled} as integer)`;
  // Not the 0142 of the first ones.
  if (name === 'e164') return sql`substr(e164, 1, 8) || substr(cast(10000 + i + (i + 858) / 1000 as text), 2)`;
  if (name === 'words_key') return sql`words_key || i`;
  if (instants.includes(name)) return sql`${column} + i * ${Math.round(spreadMs / copies)}`;
  return column;
}
