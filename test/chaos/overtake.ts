import { sql } from 'kysely';
import { until } from '../support/until.ts';
import type { Store } from '../../src/ledger/tx.ts';

/**
 * Begins `work` while another transaction of the database holds its locks, and answers when it waits for one of them, or is over; what is
 * answered waits for its end, once the other one has committed. PostgreSQL alone lets two transactions write at a time.
 */
export async function overtake({ db }: Store, work: () => Promise<void>): Promise<() => Promise<void>> {
  let over = false;
  const done = work().finally(() => (over = true));
  const isWaiting = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return (rows[0]?.count ?? 0) > 0;
  };
  await until('the second process waits or is done', async () => over || (await isWaiting()), { everyMs: 2 });
  return () => done;
}
