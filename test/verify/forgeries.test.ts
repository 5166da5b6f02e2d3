import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { importSuppressions } from '../../src/ledger/people/suppression-import.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { Drive } from '../world/drive.ts';
import type { Mix } from '../world/mix.ts';
import { openAt } from '../ledger/test-stores.ts';
import { buildRow, buildRules, minuteMs } from '../support/campaign-rules.ts';
import type { Store } from '../../src/ledger/tx.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-forged-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const people = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Ken'] as const;
/** The first two answer, the third is busy and then answers, the fourth opts out, the fifth is never reached. */
const numbers = ['0100', '0115', '0110', '0108', '0101'].map((end) => `+1212555${end}`);
const [stopped, stranger] = ['+12125550190', '+12125550199'];
const rejected = {
  row: 6,
  cells: ['12', 'Nobody'],
  verdict: 'rejected' as const,
  externalId: null,
  e164: null,
  zones: [],
  country: null,
  regions: null,
  reason: 'invalid_number',
};

async function* once<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}

/** Runs the campaign to its end against the service, imports a do-not-call list, and keeps the database. */
async function play(dialect: 'spec' | 'extended'): Promise<string> {
  const path = join(folder, `${dialect}.db`);
  let store: Store | undefined;
  const mix: Mix = {
    seed: 'forgeries',
    sandbox: { dialect },
    campaigns: [
      {
        campaignId: 'spring',
        rules: buildRules({ retry: { maxAttempts: 2 } }),
        rows: [...numbers.map((e164, index) => buildRow(index + 1, e164, [e164, people[index] ?? ''])), rejected],
      },
    ],
    wrapStore: (opened) => (store = opened),
    atEnd: async () => {
      if (store === undefined) throw new Error('no worker was started');
      const terms = { scope: 'account', source: 'import:list.csv', reason: null, expiresAt: null };
      await importSuppressions(store, once([stopped]), { terms, clock: { now: 1, nowReal: 1 } });
      await sql`vacuum into ${path}`.execute(store.db);
    },
  };
  const { breaches, proven, faults } = await new Drive(mix).run();
  expect([...breaches, ...proven, ...faults]).toEqual([]);
  return path;
}

const played = { spec: play('spec'), extended: play('extended') };

/** The rules that `verify` names once somebody has changed a copy of the database. */
async function named(dialect: 'spec' | 'extended', forge: readonly string[]): Promise<string[]> {
  const sqlitePath = join(folder, `forged-${Math.random()}.db`);
  copyFileSync(await played[dialect], sqlitePath);
  const { db } = await openAt({ sqlitePath });
  for (const change of ['update', 'delete']) await sql.raw(`drop trigger events_no_${change}`).execute(db);
  let changed = 0n;
  for (const statement of forge) changed += (await sql.raw(statement).execute(db)).numAffectedRows ?? 0n;
  // What changes nothing is no forgery.
  expect(changed > 0n || forge.length === 0).toBe(true);
  const { rules } = await verifyLog(db, null);
  return rules.filter(({ violations }) => violations.length > 0).map(({ rule }) => rule);
}

/** Exchanges a value between two rows of a table, whatever is unique there. */
function swap(table: string, column: string, [a, b]: [string, string]): string[] {
  return [
    `create table swapped as select ${column} as value, (${a}) as is_a from ${table} where ${a} or ${b}`,
    `update ${table} set ${column} = case when typeof(${column}) = 'integer' then -${column} else '-' || ${column} end where ${a} or ${b}`,
    `update ${table} set ${column} = (select value from swapped where not is_a) where ${a}`,
    `update ${table} set ${column} = (select value from swapped where is_a) where ${b}`,
    'drop table swapped',
  ];
}

const calls: [string, string] = [`attempt_id = 'spring/1/1'`, `attempt_id = 'spring/2/1'`];
const rows: [string, string] = [`recipient_id = 'spring/1'`, `recipient_id = 'spring/2'`];
const matched: [string, string] = [`type = 'attempt.matched' and ${calls[0]}`, `type = 'attempt.matched' and ${calls[1]}`];
const pointersSwapped = [
  `update conversations set attempt_id = '-' || attempt_id where ${calls[0]} or ${calls[1]}`,
  `update conversations set attempt_id = 'spring/2/1' where attempt_id = '-spring/1/1'`,
  `update conversations set attempt_id = 'spring/1/1' where attempt_id = '-spring/2/1'`,
];
/** The records of two people change places, wherever it is written whose they are. */
const recordsSwapped = [...swap('attempts', 'conversation_id', calls), ...pointersSwapped, ...swap('events', 'data', matched)];
const inLogAndTable = (evidence: string) => [
  `update attempts set evidence = '${evidence}' where ${calls[0]}`,
  `update events set data = json_set(data, '$.evidence', '${evidence}') where ${matched[0]}`,
];
/** The second call to the third person is dated earlier than it was, in every place; its planning is not. */
const retryEarlier = (byMs: number) => [
  `update events set at = at - ${byMs} where type in ('batch.posting', 'attempt.posted')
    and batch_id = (select batch_id from attempts where attempt_id = 'spring/3/2')`,
  `update posts set posted_at = posted_at - ${byMs}
    where batch_id = (select batch_id from attempts where attempt_id = 'spring/3/2')`,
  `update attempts set posted_at = posted_at - ${byMs}
    where batch_id = (select batch_id from attempts where attempt_id = 'spring/3/2')`,
];

test.each(['spec', 'extended'] as const)('a database in which nobody has forged anything passes: %s', async (dialect) => {
  expect(await named(dialect, [])).toEqual([]);
});

// prettier-ignore
const forgeries: [rules: string[], what: string, forge: string[]][] = [
  [['record_ignored'], "two people's records change places in log and tables", recordsSwapped],
  [['calls_differ'], 'a record is taken from its call', [`update conversations set attempt_id = null where ${calls[0]}`]],
  [['calls_differ'], 'two records change places where the results look', pointersSwapped],
  [['calls_differ'], 'a record is deleted', [`delete from conversations where ${calls[0]}`]],
  [['rows_differ'], "a row's last call is somebody else's", [`update recipients set last_attempt_id = 'spring/2/1' where ${rows[0]}`]],
  [['rows_differ'], 'the name in a row is another one', [`update recipients set cells = replace(cells, 'Ada', 'Eve')`]],
  [['list_differs'], 'the line of a do-not-call entry is deleted',
    [`delete from events where type = 'suppression.added' and data like '%${stopped}%'`]],
  [['list_differs'], 'an entry is slipped in', [`update suppressions set e164 = '${stranger}' where e164 = '${stopped}'`]],
  [['list_differs'], 'an entry is given an end in log and table that differ',
    [`update events set data = json_set(data, '$.expiresAt', 9) where data like '%${stopped}%'`]],
  [['retry_too_early'], 'a retry is sent before it is due', retryEarlier(4 * minuteMs)],
  [['retry_too_early', 'time_reversed'], 'a retry is sent long before it is due', retryEarlier(6 * minuteMs)],
  [['rows_differ'], 'two rows change places in the results', swap('recipients', 'row_number', rows)],
  [['rows_differ'], 'a row has another reason', [`update recipients set reason = 'cancelled' where ${rows[0]}`]],
  [['rows_differ'], 'a row that is done waits again', [`update recipients set state = 'waiting' where ${rows[0]}`]],
  [['rows_differ'], 'a call is not counted in its row', [`update recipients set attempts = 0 where ${rows[0]}`]],
  [['rows_differ'], 'a rejected row was rejected for another reason',
    [`update recipients set reason = 'duplicate_phone' where outcome = 'rejected'`]],
  [['rows_differ'], 'a rejected row has lost its outcome',
    [`update recipients set outcome = null, reason = null, state = 'waiting' where outcome = 'rejected'`]],
  [['calls_differ'], 'two calls change rows', swap('attempts', 'recipient_id', calls)],
  [['calls_differ'], 'a call is the ninth of its row', [`update attempts set number = 9 where ${calls[0]}`]],
  [['calls_differ'], 'a talk was silent', [`update attempts set detail = 'silent' where ${calls[0]}`]],
  [['calls_differ'], 'a call went to another person', [`update attempts set person = 'p-9' where ${calls[0]}`]],
  [['calls_differ'], 'a record was found otherwise', [`update attempts set evidence = 'number' where ${calls[0]}`]],
  [['cause_missing'], 'a record was given by a person who has not said so', inLogAndTable('person')],
  [['campaign_differs'], 'a figure of the report',
    [`update aggregates set count = count + 1 where kind = 'outcome' and value = 'completed'`]],
  [['campaign_differs'], 'the campaign is of another file', [`update campaigns set file_hash = 'x'`]],
  [['campaign_differs'], 'the campaign calls with another agent', [`update campaigns set agent_id = 'agent_other'`]],
  [['requests_differ'], 'the service took a batch by another name', [`update batches set service_batch_id = 'x'`]],
];

test.each(forgeries)('%j and no other: %s', async (expected, _what, forge) => {
  expect(await named('extended', forge)).toEqual(expected);
});

test('where records name no call, their words tell that two have changed places', async () => {
  expect(await named('spec', recordsSwapped)).toEqual(['record_ignored']);
  expect(await named('spec', inLogAndTable('number'))).toEqual(['record_ignored']);
});
