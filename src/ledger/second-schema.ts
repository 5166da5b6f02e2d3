import { sql, type Kysely } from 'kysely';
import type { Database } from './schema.ts';

/** What the rules of dialling need beyond the first schema; and the states of a campaign by the names they have now. */
export async function createSecondSchema(db: Kysely<Database>): Promise<void> {
  const statements = [
    'alter table accounts add column max_concurrent_calls bigint',
    'alter table accounts add column keep_free bigint not null default 0',
    'alter table accounts add column pace bigint not null default 1000',
    'alter table accounts add column pace_at bigint not null default 0',
    'alter table campaigns add column adjustments text',
    'alter table campaigns add column draining text',
    'alter table campaigns add column resume_at bigint',
    'alter table campaigns add column dials_since bigint not null default 0',
    'alter table campaigns add column wish_run text',
    'alter table campaigns add column wish_number bigint',
    'alter table recipients add column not_before bigint',
    'alter table recipients add column expires_at bigint',
    'alter table recipients add column caller text',
    'alter table recipients add column changed_at bigint not null default 0',
    'alter table attempts add column screened text',
    'alter table attempts add column screened_at bigint',
    'alter table batches add column caller text',
    `create table callers (
      campaign_id text not null, phone_number_id text not null, position bigint not null, e164 text, country text, regions text,
      out bigint not null, reason text, checked_at bigint, given bigint not null, primary key (campaign_id, phone_number_id))`,
    `create table schedules (
      schedule_id text not null primary key, campaign_id text not null, file_path text not null, content text not null,
      list_source text not null, account_id text not null, created_at bigint not null)`,
    'create index recipients_external on recipients (campaign_id, external_id) where external_id is not null',
    'create index attempts_settled on attempts (campaign_id, settled_at, disposition) where disposition is not null',
    `update campaigns set state = 'draft' where state = 'ready'`,
    `update campaigns set state = 'draining', draining = 'cancelled' where state = 'cancelling'`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
