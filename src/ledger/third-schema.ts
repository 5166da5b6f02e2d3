import { randomBytes } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { fillWordsKeys } from './fill-words-keys.ts';
import type { Database } from './schema.ts';

/** What it takes to conclude nothing from records that cannot be ascribed. */
export async function createThirdSchema(db: Kysely<Database>): Promise<void> {
  const statements = [
    'alter table accounts add column stepped_at bigint not null default 0',
    'alter table campaigns add column record_shown bigint not null default 0',
    'alter table campaigns add column sweep_back_to bigint',
    'alter table recipients add column words_key text',
    'alter table attempts add column words_key text',
    'alter table attempts add column posted_seq bigint',
    'alter table attempts add column rang_at bigint',
    'alter table attempts add column candidates text',
    'alter table posts add column service_from bigint',
    'alter table posts add column service_to bigint',
    'alter table conversations add column seen_seq bigint not null default 0',
    'alter table conversations add column talk bigint not null default 3',
    'alter table conversations add column missed_at bigint',
    'alter table conversations add column heard bigint not null default 0',
    'alter table conversations add column caller text',
    'alter table agents add column complete_begun_at bigint',
    'alter table agents add column swept_begun_at bigint',
    'alter table agents add column swept_from bigint',
    'alter table agents add column newest_start bigint',
    'alter table agents add column telling_run bigint not null default 0',
    'alter table agents add column words_shown bigint not null default 0',
    'alter table agents add column words_first bigint',
    'alter table agents add column words_last bigint',
    'alter table agents add column bare_shown bigint not null default 0',
    'alter table agents add column longest_empty_ms bigint not null default 0',
    'alter table agents add column longest_delay_ms bigint not null default 0',
    'alter table agents add column longest_lag_ms bigint not null default 0',
    'alter table accounts add column clocks_apart_ms bigint not null default 0',
    'alter table accounts add column read_service bigint',
    'alter table accounts add column read_database bigint',
    `create table dismissals (
      attempt_id text not null, conversation_id text not null, at bigint not null, primary key (attempt_id, conversation_id))`,
    `create table wishes (
      campaign_id text not null, wish_id text not null, change text not null, granted bigint not null, granted_at bigint not null,
      run text, number bigint, primary key (campaign_id, wish_id))`,
    `create table staged_suppressions (
      import_id text not null, e164 text not null, staged_real bigint not null, primary key (import_id, e164))`,
    // Two calls that the service's records could not tell apart are never open together, whatever the code above it does.
    `create unique index attempts_one_wording on attempts (agent_id, words_key)
      where words_key is not null and state in ('planned', 'posting', 'open')`,
    'alter table posts add column entry text',
    'alter table campaigns drop column wish_run',
    'alter table campaigns drop column wish_number',
    'create index recipients_words on recipients (words_key) where words_key is not null',
    'create index conversations_doubtful on conversations (agent_id, started_at) where attempt_id is null and talk > 0',
    'alter table attempts add column rings_until bigint',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
  await fillWordsKeys(db);
  // The log keeps rows of lists hashed with it: a call that went elsewhere shows.
  await db
    .insertInto('meta')
    .values({ key: 'row_key', value: randomBytes(32).toString('hex') })
    .execute();
}
