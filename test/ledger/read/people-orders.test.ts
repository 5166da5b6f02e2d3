import { expect } from 'vitest';
import { readPeople, type RowOrder, type RowQuery } from '../../../src/ledger/read/campaign-rows.ts';
import { orderByColumn } from '../../../src/ledger/rows/list-order.ts';
import { buildRow, minuteMs } from '../../support/campaign-rules.ts';
import { idRules, numberOf, upload, uploadRow } from '../edit-world.ts';
import { answered, beginProven, noon } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, openLedger } from '../ledger-test.ts';

const names = ['Zoe', 'ana', 'Émile', '', 'Bea', 'ANA', 'zoe', '  Carl ', 'Bea', 'a "quoted", name', '12', '\u0000odd'];

async function openWorld(dialect: TestDialect) {
  const store = await openLedger(dialect);
  const rows = names.map((name, index) => ({
    ...buildRow(index + 1, numberOf(index), [numberOf(index), name, `id${index}`]),
    externalId: `id${index}`,
  }));
  const scenario = await beginProven(store, { rows, rules: { ...idRules, pacing: { batchSize: 2 } } });
  const rowsBy = async (order: RowOrder, query: RowQuery = {}, now = noon) => {
    if (order.by === 'column') await orderByColumn(store, 'spring', order.place);
    const found: number[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page = await readPeople(store.db, 'spring', { ...query, order, after, limit: 3 }, now);
      expect(page.rows.length).toBeLessThanOrEqual(3);
      found.push(...page.rows.map(({ row }) => row));
      after = page.next;
      // No data of a person in an address.
      expect(after ?? '').toMatch(/^[\d.]*$/);
    }
    return found;
  };
  return { store, scenario, rowsBy };
}

test.both('people stand in the order of a column of the list, page by page, also after the list has changed', async (dialect) => {
  const { store, rowsBy } = await openWorld(dialect);
  const name = { by: 'column', place: 1 } as const;
  const known = (rows: readonly number[]) => rows.filter((row) => ![3, 10, 12].includes(row));
  const found = await rowsBy(name);
  expect(found.toSorted((a, b) => a - b)).toEqual(names.map((_, index) => index + 1));
  // Other letters and signs stand where the database puts them.
  expect(known(found)).toEqual([4, 11, 2, 6, 5, 9, 8, 1, 7]);
  expect(known(await rowsBy(name, { states: ['waiting'] }))).toEqual(known(found));
  expect(await rowsBy(name, { states: ['open'] })).toEqual([]);
  await upload(store, [uploadRow(1, 'id7', numberOf(7), 'Aaron'), uploadRow(2, 'new', numberOf(40), 'Bea')]);
  expect(known(await rowsBy(name))).toEqual([4, 11, 8, 2, 6, 5, 9, 13, 1, 7]);
  expect(known(await rowsBy({ by: 'column', place: 2 })).slice(0, 3)).toEqual([1, 2, 11]);
});

test.both('who was called last stands first, and of those who wait whoever is called next', async (dialect) => {
  const { scenario, rowsBy } = await openWorld(dialect);
  await scenario.dial(1);
  const busy = { callResult: 'busy' as const, userTurns: 0, agentTurns: 0, collected: null };
  await scenario.sweep(noon + minuteMs, [
    answered('conv_1', numberOf(0), noon + 5_000),
    { ...answered('conv_2', numberOf(1), noon + 5_000), ...busy },
  ]);
  const later = noon + 2 * minuteMs;
  await scenario.dial(2, later);
  expect(await rowsBy({ by: 'last' }, {}, later)).toEqual([4, 3, 2, 1]);
  expect(await rowsBy({ by: 'last' }, { outcomes: ['completed'] }, later)).toEqual([1]);
  expect(await rowsBy({ by: 'last' }, { states: ['open'] }, later)).toEqual([4, 3]);
  // Row 2 waits for its retry behind whoever is due.
  expect(await rowsBy({ by: 'next' }, {}, later)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 2]);
  expect(await rowsBy({ by: 'next' }, { waitingFor: 'retry' }, later)).toEqual([2]);
  expect(await rowsBy({ by: 'row' }, { states: ['open', 'waiting'] }, later)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  await scenario.dial(3, noon + 10 * minuteMs);
  expect((await rowsBy({ by: 'last' }, {}, noon + 11 * minuteMs)).slice(0, 3)).toContain(2);
});
