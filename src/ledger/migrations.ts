import { randomBytes } from 'node:crypto';
import { sql, type CreateTableBuilder, type Kysely, type Migration, type MigrationProvider } from 'kysely';
import { consentFaults } from '../rules/consent.ts';
import { forbidEditingEvents, sqlMarkTypes } from './events.ts';
import { sqlResultOfLastTalk } from './reads.ts';
import type { Database } from './schema.ts';
import type { StoreDialect } from './tx.ts';

/** Of a column: its type, and whether it may be null, is part of the primary key, or has a standard value. */
type Column = 'text' | 'bytes' | 'integer' | 'text?' | 'integer?' | 'text key' | 'integer key' | `integer=${number}`;
type Columns = Readonly<Record<string, Column>>;

/** Integers are 64 bits wide in both databases: epoch milliseconds do not fit into PostgreSQL's `integer`. */
async function createTable(db: Kysely<Database>, name: string, columns: Columns): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, kind] of Object.entries(columns)) {
    table = table.addColumn(column, typeOf(kind), (built) => {
      const [, standard] = kind.split('=');
      if (standard !== undefined) return built.notNull().defaultTo(Number(standard));
      return kind.endsWith('?') ? built : built.notNull();
    });
  }
  const key = Object.keys(columns).filter((column) => columns[column]?.endsWith(' key'));
  await table.addPrimaryKeyConstraint(`${name}_pk`, key).execute();
}

/** SQLite keeps bytes as they are under the name that PostgreSQL has for them. */
function typeOf(kind: Column): 'text' | 'bytea' | 'bigint' {
  if (kind === 'bytes') return 'bytea';
  return kind.startsWith('text') ? 'text' : 'bigint';
}

/** Of an index and of each query that is to use it, word by word. */
export const sqlConsentFault = `reason in (${consentFaults.map((fault) => `'${fault}'`).join(', ')})`;

const added = (table: string, ...columns: string[]) => columns.map((column) => `alter table ${table} add column ${column}`);

/** Every table but the event log, whose numbers the database gives out. */
// prettier-ignore
const tables: Readonly<Record<string, Columns>> = {
  meta: { key: 'text key', value: 'text' },
  accounts: {
    account_id: 'text key', not_before: 'integer', max_concurrent_calls: 'integer?', keep_free: 'integer=0',
    pace: 'integer=1000', pace_at: 'integer=0', stepped_at: 'integer=0', clocks_apart_ms: 'integer=0',
    read_service: 'integer?', read_database: 'integer?', requested_database: 'integer?',
  },
  campaigns: {
    campaign_id: 'text key', name: 'text?', file_hash: 'text', rules: 'text', account_id: 'text', agent_id: 'text',
    state: 'text', state_reason: 'text?', created_at: 'integer', rows_total: 'integer', rows_rejected: 'integer',
    round: 'integer', caller_proven: 'integer', record_shown: 'integer=0', sweep_back_to: 'integer?', canary_from: 'integer',
    adjustments: 'text?', draining: 'text?', resume_at: 'integer?', dials_since: 'integer=0',
  },
  callers: {
    campaign_id: 'text key', phone_number_id: 'text key', position: 'integer', e164: 'text?', country: 'text?',
    regions: 'text?', out: 'integer', reason: 'text?', checked_at: 'integer?', given: 'integer',
  },
  schedules: {
    schedule_id: 'text key', campaign_id: 'text', file_path: 'text', content: 'text', list_source: 'text', account_id: 'text',
    created_at: 'integer',
  },
  rounds: {
    campaign_id: 'text key', round: 'integer key', workflow_id: 'text', started_at: 'integer', ended_at: 'integer?',
    unknown_streak: 'integer', blocked_until: 'integer', refused_streak: 'integer',
  },
  recipients: {
    recipient_id: 'text key', campaign_id: 'text', row_number: 'integer', external_id: 'text?', e164: 'text?', cells: 'text',
    zones: 'text', country: 'text?', regions: 'text?', state: 'text', tier: 'integer', due_at: 'integer', attempts: 'integer',
    counted: 'integer', uncounted_in_row: 'integer', budget_from: 'integer', not_before: 'integer?', expires_at: 'integer?',
    caller: 'text?', changed_at: 'integer=0', outcome: 'text?', reason: 'text?', last_attempt_id: 'text?', words_key: 'text?',
  },
  attempts: {
    attempt_id: 'text key', recipient_id: 'text', campaign_id: 'text', batch_id: 'text', position: 'integer',
    number: 'integer', agent_id: 'text', e164: 'text', person: 'text?', state: 'text', reference: 'text?',
    opening_line: 'text?', planned_at: 'integer', posted_at: 'integer?', settled_at: 'integer?', disposition: 'text?',
    detail: 'text?', counted: 'integer', reason: 'text?', conversation_id: 'text?', evidence: 'text?', screened: 'text?',
    screened_at: 'integer?', words_key: 'text?', posted_seq: 'integer?', rang_at: 'integer?', rings_until: 'integer?',
    candidates: 'text?',
  },
  batches: {
    batch_id: 'text key', campaign_id: 'text', round: 'integer', n: 'integer', state: 'text', size: 'integer',
    posts: 'integer', planned_at: 'integer', first_submit_at: 'integer?', first_posted_at: 'integer?', hold_after: 'integer?',
    verdict_at: 'integer?', service_batch_id: 'text?', calls_initiated: 'integer?', accepted_by: 'text?', reason: 'text?',
    progress_at: 'integer?', unknown_since: 'integer?', silent_since: 'integer?', caller: 'text',
  },
  posts: {
    batch_id: 'text key', k: 'integer key', posted_at: 'integer', posted_real: 'integer', deadline_real: 'integer',
    verdict: 'text?', verdict_at: 'integer?', status: 'integer?', service_request_id: 'text?', message: 'text?',
    entry: 'text?', service_from: 'integer?', service_to: 'integer?',
  },
  conversations: {
    conversation_id: 'text key', agent_id: 'text', attempt_id: 'text?', first_seen_at: 'integer', started_at: 'integer?',
    facts: 'text', finished: 'integer', finished_at: 'integer?', final: 'integer', gone: 'integer', reads: 'integer',
    unchanged_reads: 'integer', unchanged_since: 'integer?', unreadable_since: 'integer?', next_read_at: 'integer',
    seen_seq: 'integer=0', talk: 'integer=3', missed_at: 'integer?', heard: 'integer=0', caller: 'text?',
  },
  agents: {
    agent_id: 'text key', lease_owner: 'text?', lease_until_real: 'integer', complete_sweep_at: 'integer?',
    read_ok_at: 'integer?', complete_begun_at: 'integer?', swept_begun_at: 'integer?', swept_from: 'integer?',
    newest_start: 'integer?', telling_run: 'integer=0', words_shown: 'integer=0', words_first: 'integer?',
    words_last: 'integer?', bare_shown: 'integer=0', longest_empty_ms: 'integer=0', longest_delay_ms: 'integer=0',
    longest_lag_ms: 'integer=0',
  },
  suppressions: {
    e164: 'text key', scope: 'text key', source: 'text', reason: 'text?', created_at: 'integer', expires_at: 'integer?',
  },
  staged_suppressions: { import_id: 'text key', e164: 'text key', staged_real: 'integer' },
  dismissals: { attempt_id: 'text key', conversation_id: 'text key', at: 'integer' },
  wishes: {
    campaign_id: 'text key', wish_id: 'text key', change: 'text', granted: 'integer', granted_at: 'integer', run: 'text?',
    number: 'integer?',
  },
  tokens: {
    token_id: 'text key', name: 'text', role: 'text', hash: 'text', created_real: 'integer', expires_real: 'integer?',
    revoked_real: 'integer?',
  },
  answers: {
    token_id: 'text key', key: 'text key', fingerprint: 'text', entry: 'text', begun_real: 'integer', status: 'integer?',
    body: 'text?',
  },
  aggregates: { campaign_id: 'text key', kind: 'text key', key: 'text key', value: 'text key', count: 'integer' },
};

// prettier-ignore
const draftTables: Readonly<Record<string, Columns>> = {
  drafts: {
    draft_id: 'text key', token_id: 'text', made_real: 'integer', touched_real: 'integer', list_id: 'text', list_name: 'text',
    list_bytes: 'integer', settings: 'text',
  },
  draft_pieces: { list_id: 'text key', place: 'integer key', kept_real: 'integer', bytes: 'bytes' },
};

// prettier-ignore
const webhooks: Columns = {
  webhook_id: 'text key', url: 'text', campaign_id: 'text?', types: 'text?', made_by: 'text', made_real: 'integer',
  state: 'text', reason: 'text?', since_real: 'integer', cursor: 'integer', deliverer: 'text?', failures: 'integer=0',
  failing_since_real: 'integer?', succeeded_real: 'integer?', failed_real: 'integer?', fault: 'text?', status: 'integer?',
};
const sessions: Columns = { hash: 'text key', token_id: 'text', ends_real: 'integer' };
const rehearsals: Columns = { draft_id: 'text key', campaign_id: 'text?', edition: 'text', report: 'text?' };

async function createTables(db: Kysely<Database>, dialect: StoreDialect): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) await createTable(db, name, columns);
  const sequence = dialect === 'sqlite' ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key';
  await sql`create table events (
    seq ${sql.raw(sequence)}, at bigint not null, campaign_id text not null, type text not null,
    recipient_id text, attempt_id text, batch_id text, data text)`.execute(db);
}

async function createIndexes(db: Kysely<Database>): Promise<void> {
  const indexes = [
    'create unique index recipients_row on recipients (campaign_id, row_number)',
    'create index recipients_due on recipients (campaign_id, state, tier, due_at, row_number)',
    'create index recipients_number on recipients (e164)',
    'create index recipients_external on recipients (campaign_id, external_id) where external_id is not null',
    'create index recipients_words on recipients (words_key) where words_key is not null',
    // At most one open attempt per number in a database, whatever the code above it does.
    `create unique index attempts_one_open on attempts (e164) where state in ('planned', 'posting', 'open')`,
    // Two calls that the service's records could not tell apart are never open together, whatever the code above it does.
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
  for (const index of indexes) await sql.raw(index).execute(db);
}

/** A page of people in each order that lists of them have, found without sorting the rest, however many there are. */
const peopleIndexes = [
  // In the order of the list, of one state and outcome.
  'create index recipients_standing on recipients (campaign_id, state, outcome, row_number)',
  // Who waits, the next call first.
  "create index recipients_next on recipients (campaign_id, due_at, row_number) where state = 'waiting'",
  // The last call first.
  'create index attempts_posted on attempts (campaign_id, posted_at, attempt_id) where posted_at is not null',
];

function run(...statements: readonly string[]): Migration {
  return {
    async up(db: Kysely<Database>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

const create = (made: Readonly<Record<string, Columns>>): Migration => ({
  async up(db: Kysely<Database>) {
    for (const [name, columns] of Object.entries(made)) await createTable(db, name, columns);
  },
});

/** Migrations in order. An applied one is never changed; a later one is added. */
export function createMigrations(dialect: StoreDialect): MigrationProvider {
  const migrations: Record<string, Migration> = {
    '001-first-schema': {
      async up(db: Kysely<Database>) {
        await createTables(db, dialect);
        await createIndexes(db);
        for (const statement of forbidEditingEvents[dialect]) await sql.raw(statement).execute(db);
        await db
          .insertInto('meta')
          .values([
            { key: 'ledger_id', value: randomBytes(6).toString('hex') },
            // The log keeps rows of lists hashed with it: a call that went elsewhere shows.
            { key: 'row_key', value: randomBytes(32).toString('hex') },
          ])
          .execute();
      },
    },
    '002-drafts': create(draftTables),
    '003-webhooks': create({ webhooks }),
    '004-log-reading': run('create index events_type on events (campaign_id, type, seq)'),
    '005-sessions': create({ sessions }),
    '006-cut-lines': run(...added('agents', 'cut_at bigint')),
    '007-rehearsals': create({ rehearsals }),
    // Null for every row there is: what a row could say until now has columns of its own.
    '008-row-terms': run(...added('recipients', 'terms text')),
    '009-row-rank': run(
      // The index by which the planner finds who is due follows the new name. Until now 0 stood for a retry, 1 for a first call.
      'alter table recipients rename column tier to rank',
      ...added('recipients', 'called bigint not null default 0'),
      "update recipients set called = 1, rank = 0 where rank = 0 or (state = 'done' and last_attempt_id is not null)",
      'update recipients set rank = 50 where called = 0',
    ),
    '010-service-apis': run(
      // Every campaign there is was started on the contract's API.
      `alter table campaigns add column api text not null default 'contract'`,
      ...added('attempts', 'over_at bigint'),
      ...added('batches', 'not_found_at bigint', 'withdraw_asked_at bigint'),
    ),
    '011-certain-absence': run(...added('posts', 'absent_at bigint'), ...added('agents', 'naming_run bigint not null default 0')),
    '012-taken-out': run(...added('recipients', 'taken_out_at bigint'), ...added('campaigns', 'let_queued bigint not null default 0')),
    '013-people-lists': {
      async up(db: Kysely<Database>) {
        await createTable(db, 'list_orders', { campaign_id: 'text key', place: 'integer key' });
        const cells = { campaign_id: 'text key', place: 'integer key', folded: 'text key', row_number: 'integer key' } as const;
        await createTable(db, 'list_cells', cells);
        for (const index of peopleIndexes) await sql.raw(index).execute(db);
      },
    },
    '014-token-use': run(...added('tokens', 'used_real bigint')),
    // Null for every campaign there is: what their files say was not kept.
    '015-campaign-files': run(...added('campaigns', 'file text')),
    '016-talk-results': run(
      ...added('attempts', 'result text'),
      ...added('recipients', 'result text'),
      // People by what their talk came to, a page at a time in the order of the list.
      'create index recipients_result on recipients (campaign_id, result, row_number) where result is not null',
    ),
    '017-asked-calls': run(...added('attempts', 'asks text', 'asks_at bigint')),
    '018-promises': run(
      `create table promises (promise_id text primary key, campaign_id text not null, recipient_id text not null, e164 text not null,
        state text not null, due_at bigint, until bigint, local text, said text, from_attempt text, made_at bigint not null, made_by text,
        reason text, kept_by text, ended_at bigint)`,
      // At most one open promise to a number over all campaigns, whatever the code above it does.
      "create unique index promises_one_open on promises (e164) where state = 'open'",
      'create index promises_campaign on promises (campaign_id, state, due_at)',
      'create index promises_recipient on promises (recipient_id, made_at)',
      ...added('recipients', 'promise_id text'),
    ),
    '019-pilot-and-goal': run(
      ...added('campaigns', 'goal_round bigint', 'pilot_sample bigint', 'pilot_state text', 'gates text', 'pilot_agent text'),
      ...added('recipients', 'sample bigint'),
      'create index batches_caller on batches (caller, first_posted_at)',
      'create index recipients_sample on recipients (campaign_id, state, rank, sample, due_at) where sample is not null',
    ),
    '020-house-rules': run('create table house_rules (version bigint primary key, set_at bigint not null, file text not null, rules text)'),
    '021-consent-counts': run(`create index recipients_consent on recipients (campaign_id, reason) where ${sqlConsentFault}`),
    '022-list-encoding': run(...added('schedules', 'list_encoding text'), "update schedules set list_encoding = 'western'"),
    // What was checked for the requests there are is not known, and a result that a later talk took back is none.
    '023-last-talks': run(...added('posts', 'caller_check text'), ...added('callers', 'answered_at bigint'), sqlResultOfLastTalk),
  };
  return { getMigrations: async () => migrations };
}
