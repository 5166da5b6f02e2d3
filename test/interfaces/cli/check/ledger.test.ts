import { expect, onTestFinished, test } from 'vitest';
import type { ListRow } from '../../../../src/list/recipients.ts';
import { openCheckedLedger } from '../../../../src/interfaces/cli/check/check.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { accountScope, addSuppressions } from '../../../../src/ledger/rows/suppressions.ts';
import { buildRow, buildRules, hourMs } from '../../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers } from '../../../ledger/scenario.ts';
import { dialects, emptyDatabase, openAt, type TestDialect } from '../../../ledger/test-stores.ts';

function rowsOf(list: readonly string[]): ListRow[] {
  const always = { notBefore: null, expiresAt: null };
  return list.map((e164, index) => ({ ...buildRow(index + 1, e164), line: index + 2, ...always }));
}

/** One campaign has called six numbers at noon; checks another one. */
async function checkedAfterCalls(dialect: TestDialect, at: number) {
  const location = await emptyDatabase(dialect);
  const store = await openAt(location);
  const spring = await beginProven(store);
  await spring.dial(1);
  const [reached = ''] = numbers(1);
  await spring.sweep(noon + hourMs, [answered('conv_1', reached, noon + 1000)]);
  // Each rang when posted, to the second of its record.
  await store.db
    .updateTable('attempts')
    .set({ rang_at: noon - 1000 })
    .execute();
  const rules = buildRules({
    caps: [{ by: 'number', calls: 1, withinMs: 24 * hourMs }],
    retry: { ...buildRules().retry, maxAttemptsPerNumber: 1 },
  });
  const config = readConfig({ CARILLON_DB: location.sqlitePath, DATABASE_URL: location.databaseUrl });
  const ledger = await openCheckedLedger(config, { campaignId: 'summer', rules, at });
  onTestFinished(() => ledger.close());
  return { store, ledger };
}

test.each(dialects)('calls of another campaign count for caps and for the budget of a number (%s)', async (dialect) => {
  const at = noon + 2 * hourMs;
  const { ledger } = await checkedAfterCalls(dialect, at);
  const [reached = '', called = ''] = numbers(2);
  const found = await ledger.look(rowsOf([reached, called, '+12125550190']));
  const tell = (e164: string) => {
    const callee = { e164, person: null, place: { country: 'US', regions: null } };
    return [found?.capsAllowAt(callee), found?.budgetAllowsAt(callee)];
  };
  expect(tell(reached)).toEqual([noon + 24 * hourMs, null]);
  expect(tell(called)).toEqual([noon + 24 * hourMs, at]);
  expect(tell('+12125550190')).toEqual([at, at]);
});

test.each(dialects)('any number of rows is looked up on the do-not-call list (%s)', async (dialect) => {
  const { store, ledger } = await checkedAfterCalls(dialect, noon);
  const many = Array.from({ length: 1200 }, (_, index) => `+1212555${String(index).padStart(4, '0')}`);
  const listed = many.filter((_, index) => index % 100 === 99);
  const entry = { source: 'person', reason: null, expiresAt: null };
  await addSuppressions(
    store,
    listed.map((e164) => ({ ...entry, e164, scope: accountScope })),
    noon,
  );
  const found = await ledger.look(rowsOf(many));
  expect(new Set(found?.suppressed.keys())).toEqual(new Set(listed));
});

test.each(dialects)('entries of imported lists that have run out lately, or soon will, are told (%s)', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const store = await openAt(location);
  const at = noon;
  const dayMs = 24 * hourMs;
  const ends: [source: string, scope: string, expiresAt: number | null][] = [
    ['import:federal.csv', accountScope, at],
    ['import:federal.csv', accountScope, at - 31 * dayMs + 1],
    ['import:federal.csv', accountScope, at - 31 * dayMs],
    ['import:federal.csv', accountScope, null],
    ['import:state.csv', 'summer', at + 7 * dayMs],
    ['import:state.csv', 'spring', at + 1],
    ['import:state.csv', accountScope, at + 7 * dayMs + 1],
    ['person', accountScope, at + 1],
  ];
  const entries = ends.map(([source, scope, expiresAt], index) => ({
    e164: `+1212555010${index}`,
    source,
    scope,
    expiresAt,
    reason: null,
  }));
  await addSuppressions(store, entries, at - 60 * dayMs);
  const config = readConfig({ CARILLON_DB: location.sqlitePath, DATABASE_URL: location.databaseUrl });
  const warningsOf = async (campaignId: string) => {
    const ledger = await openCheckedLedger(config, { campaignId, rules: buildRules(), at });
    onTestFinished(() => ledger.close());
    return ledger.warnings;
  };
  const ended = expect.stringMatching(/^2 imported entries of the do-not-call list have run out in the 31 days before/);
  const ending = expect.stringMatching(/^1 imported entry of the do-not-call list runs out within 7 days after/);
  expect(await warningsOf('summer')).toEqual([ended, ending]);
  expect(await warningsOf('autumn')).toEqual([ended]);
});
