import type { Selectable } from 'kysely';
import type { Queries } from '../../src/ledger/tx.ts';
import type { Database } from '../../src/ledger/schema.ts';

type Row<Table extends keyof Database> = Selectable<Database[Table]>;

/** One attempt's part in one POST, as the event log tells it: the log is written in the dial transaction and never changed. */
export interface Dial {
  attemptId: string;
  batchId: string;
  k: number;
  e164: string;
  at: number;
}

/** Everything the judge needs from a database, as data. */
export interface Ledger {
  dials: Dial[];
  posts: Row<'posts'>[];
  batches: Row<'batches'>[];
  attempts: Row<'attempts'>[];
  recipients: Row<'recipients'>[];
  conversations: Row<'conversations'>[];
  suppressions: Row<'suppressions'>[];
  aggregates: Row<'aggregates'>[];
}

export async function readLedger(db: Queries): Promise<Ledger> {
  const events = await db.selectFrom('events').selectAll().where('type', '=', 'attempt.posted').orderBy('seq').execute();
  const dials = events.map((event): Dial => {
    const { k, e164 } = JSON.parse(event.data ?? '{}') as { k: number; e164: string };
    return { attemptId: event.attempt_id ?? '', batchId: event.batch_id ?? '', k, e164, at: event.at };
  });
  const all = <Table extends keyof Database>(table: Table) =>
    db
      .selectFrom(table as 'posts')
      .selectAll()
      .execute() as unknown as Promise<Row<Table>[]>;
  return {
    dials,
    posts: await all('posts'),
    batches: await all('batches'),
    attempts: await all('attempts'),
    recipients: await all('recipients'),
    conversations: await all('conversations'),
    suppressions: await all('suppressions'),
    aggregates: await all('aggregates'),
  };
}
