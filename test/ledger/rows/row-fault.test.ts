import { sql } from 'kysely';
import { expect } from 'vitest';
import { orderByColumn } from '../../../src/ledger/rows/list-order.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { buildRow, buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { idRules, listRows, numberOf, told, upload, uploadRow } from '../edit-world.ts';
import { beginProven, type Scenario, waits, numbers, noon } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger, beginOn } from '../ledger-test.ts';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import type { TestDialect } from '../test-stores.ts';
import { finishRecipients } from '../../../src/ledger/rows/recipients.ts';

/** The database refuses this word in a column, as it would refuse what it cannot hold. */
async function forbid({ db, dialect }: Store, word: string, table: string, column: string): Promise<void> {
  const [named, refused] = [sql.id(column), sql.lit(`%${word}%`)];
  if (dialect === 'postgres') {
    await sql`alter table ${sql.table(table)} add check (${named} not like ${refused})`.execute(db);
    return;
  }
  const planted = `planted_${table}`;
  await sql`create table ${sql.table(planted)} (said text check (said not like ${refused}))`.execute(db);
  for (const event of ['insert', 'update'] as const)
    await sql`create trigger ${sql.id(`${planted}_${event}`)} before ${sql.raw(event)} on ${sql.table(table)}
      begin insert into ${sql.table(planted)} values (new.${named}); end`.execute(db);
}

const ends = async (scenario: Scenario) => (await scenario.recipients()).map(({ state, outcome, reason }) => reason ?? outcome ?? state);

test.both.from(openLedger)('a row whose words the database refuses ends alone, and the others are called', async (store) => {
  const names = ['Ana', 'Ben', 'a forbidden word', 'Cem', 'forbidden'];
  const rows = names.map((name, index) => buildRow(index + 1, numberOf(index), [numberOf(index), name]));
  const scenario = await beginProven(store, { rows, rules: { pacing: { maxConcurrentCalls: 50, batchSize: 4 } } });
  await forbid(store, 'forbidden', 'attempts', 'opening_line');
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 3 });
  expect(await ends(scenario)).toEqual(['open', 'open', 'unusable_text', 'open', 'waiting']);
  await scenario.post(1);
  await scenario.verdict(1, 'confirmed');
  expect(await scenario.plan(2)).toMatchObject(waits('collecting'));
  expect((await scenario.recipients()).at(-1)).toMatchObject({ outcome: 'undialable', reason: 'unusable_text' });
});

test.both('a NUL that a list brought in before such lists were refused ends its row, and stands in no result', async (dialect) => {
  const store = await openLedger(dialect);
  const names = ['Ana', 'Ann\0Lee', 'Bea\ud800', 'Cem'];
  const rows = names.map((name, index) => buildRow(index + 1, numberOf(index), [numberOf(index), name]));
  const rules = { firstMessage: 'Hello {{ name }}', pacing: { maxConcurrentCalls: 50, batchSize: 4 } };
  const scenario = await beginProven(store, { rows, rules });
  expect(await scenario.planAsWritten(1)).toMatchObject({ kind: 'batch', size: 2 });
  expect(await ends(scenario)).toEqual(['open', 'unusable_text', 'unusable_text', 'open']);
  const shown: (string | undefined)[] = [];
  for await (const row of readResults(store.db, 'spring')) shown.push(row.cells[1]);
  await orderByColumn(store, 'spring', 1);
  expect(shown).toEqual(['Ana', 'Ann\\u0000Lee', 'Bea\\ud800', 'Cem']);
});

test.both('a row that the database refuses in a list is rejected, in a change fails, and stops no other', async (dialect) => {
  const store = await openLedger(dialect);
  await forbid(store, 'forbidden', 'recipients', 'external_id');
  const [first, second, third] = listRows(3);
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are three');
  const rows = [first, { ...second, externalId: 'forbidden' }, third];
  const scenario = await beginProven(store, { rows, rules: idRules });
  expect(await ends(scenario)).toEqual(['waiting', 'malformed_row', 'waiting']);
  expect(await scenario.campaign()).toMatchObject({ rowsTotal: 3, rowsRejected: 1 });
  expect(await scenario.row(2)).toMatchObject({ e164: null, external_id: null, cells: JSON.stringify(second.cells) });
  const added = [uploadRow(1, 'new', numberOf(7)), uploadRow(2, 'forbidden', numberOf(8)), uploadRow(3, 'id2', numberOf(2), 'Other')];
  const results = await upload(store, added);
  expect(told(results)).toEqual(['accepted', ['failed', 'malformed_row'], 'corrected']);
  expect(results.find(({ row }) => row === 2)?.hint).toMatch(/^the database cannot store what it says/);
});

const people = 8;

/** The same people in each campaign, each under its own numbers; in the second in reverse. */
function rowsOf(campaign: number) {
  const rows = buildRows(numbers(people, campaign * people), (index) => `Guest ${campaign}-${index}`);
  const named = rows.map((row, index) => ({ ...row, externalId: `person${index}` }));
  return (campaign === 1 ? named.toReversed() : named).map((row, index) => ({ ...row, row: index + 1 }));
}

test.both.from(openLedger)('campaigns that dial the same people at the same moment keep a cap by person together', async (store) => {
  const rules = { caps: [{ by: 'person' as const, calls: 1, withinMs: 24 * hourMs }] };
  const scenarios: Scenario[] = [];
  for (const [index, campaignId] of ['autumn', 'spring', 'summer'].entries())
    scenarios.push(await beginProven(store, { campaignId, rules, rows: rowsOf(index) }));
  for (const scenario of scenarios) expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: people });
  // A connection each, or they would take turns to get one.
  await Promise.all(scenarios.map((scenario) => store.transaction((tx) => findCampaign(tx, scenario.campaignId))));
  await Promise.all(scenarios.map((scenario) => scenario.post(1)));
  const attempts = await store.db.selectFrom('attempts').select('state').where('state', '=', 'posting').execute();
  expect(attempts).toHaveLength(people);
});

/** After a call without an answer. */
const retryAfterMs = 10 * minuteMs;

async function dialOnce(dialect: TestDialect, maxAttempts: number): Promise<Scenario> {
  const rules = { ...idRules, retry: { maxAttempts } };
  const scenario = await beginOn(dialect, { rows: listRows(1), rules });
  await scenario.dial(1);
  return scenario;
}

/** Called once without an answer, and then found not to be callable. */
async function begin(dialect: TestDialect): Promise<Scenario> {
  const scenario = await dialOnce(dialect, 2);
  await scenario.settle('spring/1/1', 'no_answer', noon + minuteMs);
  const finish = { recipientId: 'spring/1', outcome: 'undialable' as const, reason: 'pre_dial:no_consent' };
  await scenario.store.transaction((tx) => finishRecipients(tx, scenario.at(noon + minuteMs), [finish]));
  return scenario;
}

test.from(begin)('a corrected row with the number it had keeps its used attempts and its turn', async (scenario) => {
  const now = noon + 2 * minuteMs;
  expect(told(await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Ana')], {}, now))).toEqual(['corrected']);
  const dueAt = noon + minuteMs + retryAfterMs;
  expect(await scenario.recipients()).toMatchObject([{ state: 'waiting', called: 1, rank: 0, counted: 1, due_at: dueAt }]);
  expect(await scenario.plan(2, now)).toMatchObject({ kind: 'wait', until: dueAt });
  expect(await scenario.dial(2, noon + hourMs)).toEqual(['spring/1/2']);
  await scenario.settle('spring/1/2', 'no_answer', noon + hourMs + minuteMs);
  expect(await scenario.recipients()).toMatchObject([{ outcome: 'exhausted', counted: 2 }]);
});

test.from(begin)('nobody is called beyond the budget for a new name in the list', async (scenario) => {
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Ana')], {}, noon + 2 * minuteMs);
  await scenario.dial(2, noon + hourMs);
  await scenario.settle('spring/1/2', 'invalid_number', noon + hourMs + minuteMs);
  await upload(scenario.store, [uploadRow(1, 'id0', numberOf(0), 'Anna')], {}, noon + 2 * hourMs);
  expect(await scenario.plan(3, noon + 3 * hourMs)).toEqual({ kind: 'done' });
  expect(await scenario.recipients()).toMatchObject([{ outcome: 'exhausted', reason: 'attempts_used_up' }]);
});

test.from(dialOnce, 1)('another number is called with a budget of its own, and at once', async (scenario) => {
  await scenario.settle('spring/1/1', 'invalid_number', noon + minuteMs);
  const now = noon + 2 * minuteMs;
  expect(told(await upload(scenario.store, [uploadRow(1, 'id0', numberOf(5))], {}, now))).toEqual(['corrected']);
  expect(await scenario.recipients()).toMatchObject([{ state: 'waiting', called: 0, rank: 50, counted: 0, due_at: 0 }]);
  expect(await scenario.dial(2, now)).toEqual(['spring/1/2']);
});
