import { randomBytes } from 'node:crypto';
import { sql, type Kysely, type Migration, type MigrationProvider } from 'kysely';
import { consentFaults } from '../rules/consent.ts';
import { addColumns, createTable } from './columns.ts';
import { forbidEditingEvents, sqlMarkTypes } from './events.ts';
import { sqlResultOfLastTalk } from './reads.ts';
import { tables, type Database } from './schema.ts';
import type { StoreDialect } from './tx.ts';

/** Index and queries must match word for word. */
export const sqlConsentFault = `reason in (${consentFaults.map((fault) => `'${fault}'`).join(', ')})`;

const firstIndexes = [
  'create unique index recipients_row on recipients (campaign_id, row_number)',
  'create index recipients_due on recipients (campaign_id, state, tier, due_at, row_number)',
  'create index recipients_number on recipients (e164)',
  'create index recipients_external on recipients (campaign_id, external_id) where external_id is not null',
  'create index recipients_words on recipients (words_key) where words_key is not null',
  // At most one open attempt per number, enforced by the database.
  `create unique index attempts_one_open on attempts (e164) where state in ('planned', 'posting', 'open')`,
  // Calls that records could not distinguish are never open together, enforced by the database.
  `create unique index attempts_one_wording on attempts (agent_id, words_key)
    where words_key is not null and state in ('planned', 'posting', 'open')`,
  'create unique index attempts_conversation on attempts (conversation_id) where conversation_id is not null',
  'create unique index attempts_number on attempts (recipient_id, number)',
  'create index attempts_campaign on attempts (campaign_id, state, posted_at)',
  'create index attempts_batch on attempts (batch_id, position)',
  'create index attempts_agent on attempts (agent_id, posted_at)',
  'create index attempts_agent_open on attempts (agent_id, state, posted_at)',
  'create index attempts_dialled on attempts (e164, posted_at)',
  'create index attempts_person on attempts (person, posted_at) where person is not null',
  'create index attempts_settled on attempts (campaign_id, disposition, settled_at) where disposition is not null',
  'create unique index batches_n on batches (campaign_id, round, n)',
  'create index batches_state on batches (campaign_id, state)',
  'create unique index conversations_attempt on conversations (attempt_id) where attempt_id is not null',
  'create index conversations_due on conversations (agent_id, final, next_read_at)',
  'create index conversations_unread on conversations (attempt_id) where final = 0',
  'create index conversations_unowned on conversations (agent_id, started_at) where attempt_id is null',
  'create index conversations_doubtful on conversations (agent_id, started_at) where attempt_id is null and talk > 0',
  'create unique index answers_entry on answers (entry)',
  'create index conversations_heard on conversations (agent_id) where heard = 1',
  'create index events_campaign on events (campaign_id, seq)',
  'create index events_recipient on events (recipient_id, seq) where recipient_id is not null',
  `create index events_marks on events (campaign_id, seq) where type in (${sqlMarkTypes})`,
];

/** Pages of recipients in each order, found without sorting the rest. */
const peopleIndexes = [
  // List order, within a state and outcome.
  'create index recipients_standing on recipients (campaign_id, state, outcome, row_number)',
  // Waiting recipients, next call first.
  "create index recipients_next on recipients (campaign_id, due_at, row_number) where state = 'waiting'",
  // Last call first.
  'create index attempts_posted on attempts (campaign_id, posted_at, attempt_id) where posted_at is not null',
];

/** Makes tables, adds the columns that name it, and runs statements; `finally`: what no statement can express. */
interface Step {
  makes?: readonly (keyof Database)[];
  runs?: readonly string[];
  finally?: (db: Kysely<Database>, dialect: StoreDialect) => Promise<void>;
}

const firstTables = [
  ...(['meta', 'accounts', 'campaigns', 'callers', 'schedules', 'rounds', 'recipients', 'attempts', 'batches', 'posts'] as const),
  ...(['conversations', 'agents', 'suppressions', 'staged_suppressions', 'dismissals', 'wishes', 'tokens', 'answers'] as const),
  ...(['aggregates', 'events'] as const),
];

/** In order; an applied migration is never changed. */
const steps: Readonly<Record<string, Step>> = {
  '001-first-schema': { makes: firstTables, runs: firstIndexes, finally: completeFirst },
  '002-drafts': { makes: ['drafts', 'draft_pieces'] },
  '003-webhooks': { makes: ['webhooks'] },
  '004-log-reading': { runs: ['create index events_type on events (campaign_id, type, seq)'] },
  '005-sessions': { makes: ['sessions'] },
  '006-cut-lines': {},
  '007-rehearsals': { makes: ['rehearsals'] },
  // Existing rows have columns for their values.
  '008-row-terms': {},
  '009-row-rank': {
    runs: [
      // The index for due recipients follows the new name. Before: 0 a retry, 1 a first call.
      'alter table recipients rename column tier to rank',
      "update recipients set called = 1, rank = 0 where rank = 0 or (state = 'done' and last_attempt_id is not null)",
      'update recipients set rank = 50 where called = 0',
    ],
  },
  // Existing campaigns use the contract's API.
  '010-service-apis': {},
  '011-certain-absence': {},
  '012-taken-out': {},
  '013-people-lists': { makes: ['list_orders', 'list_cells'], runs: peopleIndexes },
  '014-token-use': {},
  // Files of existing campaigns were not kept.
  '015-campaign-files': {},
  '016-talk-results': {
    // Recipients by talk result, in list order.
    runs: ['create index recipients_result on recipients (campaign_id, result, row_number) where result is not null'],
  },
  '017-asked-calls': {},
  '018-promises': {
    makes: ['promises'],
    runs: [
      // At most one open callback per number over all campaigns, enforced by the database.
      "create unique index promises_one_open on promises (e164) where state = 'open'",
      'create index promises_campaign on promises (campaign_id, state, due_at)',
      'create index promises_recipient on promises (recipient_id, made_at)',
    ],
  },
  '019-pilot-and-goal': {
    runs: [
      'create index batches_caller on batches (caller, first_posted_at)',
      'create index recipients_sample on recipients (campaign_id, state, rank, sample, due_at) where sample is not null',
    ],
  },
  '020-house-rules': { makes: ['house_rules'] },
  '021-consent-counts': { runs: [`create index recipients_consent on recipients (campaign_id, reason) where ${sqlConsentFault}`] },
  '022-list-encoding': { runs: ["update schedules set list_encoding = 'western'"] },
  // Existing requests have no known checks; clears results that a later talk revoked.
  '023-last-talks': { runs: [sqlResultOfLastTalk] },
};

/** Column names at creation. */
const formerNames: Partial<Record<keyof Database, Readonly<Record<string, string>>>> = { recipients: { rank: 'tier' } };

// The first databases let PostgreSQL name these keys; all databases have the same names.
const keyNames: Partial<Record<keyof Database, string>> = { promises: 'promises_pkey', house_rules: 'house_rules_pkey' };

export function createMigrations(dialect: StoreDialect): MigrationProvider {
  const migrations: Record<string, Migration> = {};
  for (const [name, { makes = [], runs = [], finally: complete }] of Object.entries(steps)) {
    migrations[name] = {
      async up(db: Kysely<Database>) {
        for (const table of makes)
          await createTable(db, dialect, table, tables[table], { former: formerNames[table], keyName: keyNames[table] });
        await addColumns(db, dialect, tables, Number.parseInt(name, 10));
        for (const statement of runs) await sql.raw(statement).execute(db);
        await complete?.(db, dialect);
      },
    };
  }
  return { getMigrations: async () => migrations };
}

async function completeFirst(db: Kysely<Database>, dialect: StoreDialect): Promise<void> {
  for (const statement of forbidEditingEvents[dialect]) await sql.raw(statement).execute(db);
  await db
    .insertInto('meta')
    .values([
      { key: 'ledger_id', value: randomBytes(6).toString('hex') },
      // For hashing list rows in the log, so that a call placed elsewhere shows.
      { key: 'row_key', value: randomBytes(32).toString('hex') },
    ])
    .execute();
}
