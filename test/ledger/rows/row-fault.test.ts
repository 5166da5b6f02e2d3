import { sql } from 'kysely';
import { expect } from 'vitest';
import { orderByColumn } from '../../../src/ledger/rows/list-order.ts';
import { readResults } from '../../../src/ledger/read/result-rows.ts';
import { buildRow } from '../../support/campaign-rules.ts';
import { idRules, listRows, numberOf, told, upload, uploadRow } from '../edit-world.ts';
import { beginProven, type Scenario, waits } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger } from '../ledger-test.ts';

/** Has the database refuse the word in a column of a table, as it would refuse what it cannot hold. */
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
