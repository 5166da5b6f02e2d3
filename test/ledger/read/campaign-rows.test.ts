import { expect, test } from 'vitest';
import { readCampaignRows, type RowQuery } from '../../../src/ledger/read/campaign-rows.ts';
import { readFunnel } from '../../../src/ledger/read/funnel.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

test.for(bothDialects)('rows are found by state, outcome, number, id and row, page by page: %s', async (dialect) => {
  const [one = '', two = '', three = ''] = numbers(3);
  const store = await openCleanStore(dialect);
  const entry = { e164: three, scope: 'account', source: 'person', reason: null, expiresAt: null };
  await addSuppressions(store, [entry], noon);
  const rows = buildRows(numbers(6), (index) => `Guest ${index}`).map((row, index) => ({
    ...row,
    externalId: `A${index + 1}`,
    verdict: index === 5 ? ('rejected' as const) : row.verdict,
  }));
  const scenario = await beginProven(store, { rows, rules: { pacing: { batchSize: 3 } } });
  const { db } = store;
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    answered('conv_1', one, noon + 5_000),
    { ...answered('conv_2', two, noon + 5_000), callResult: 'busy', userTurns: 0, agentTurns: 0, collected: null },
  ]);
  const now = noon + 2 * minuteMs;
  const found = async (query: RowQuery) => (await readCampaignRows(db, 'spring', query, now)).map(({ row }) => row);

  expect(await found({})).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await found({ limit: 2 })).toEqual([1, 2]);
  expect(await found({ limit: 2, afterRow: 2 })).toEqual([3, 4]);
  expect(await found({ states: ['open'] })).toEqual([4]);
  expect(await found({ outcomes: ['completed'] })).toEqual([1]);
  expect(await found({ outcomes: ['suppressed', 'rejected'] })).toEqual([3, 6]);
  expect(await found({ search: 'A4' })).toEqual([4]);
  expect(await found({ search: '#5' })).toEqual([5]);
  expect(await found({ search: '(201) 555' })).toEqual([1]);
  expect(await found({ search: two.slice(-10) })).toEqual([2]);
  // A wildcard of the database is none here.
  expect(await found({ search: '%' })).toEqual([]);
  const [first] = await readCampaignRows(db, 'spring', { search: '#1' }, now);
  expect(first).toMatchObject({
    outcome: 'completed',
    attempts: 1,
    disposition: 'answered',
    lastDialedAt: noon,
    dueAt: null,
  });
  const [second] = await readCampaignRows(db, 'spring', { search: '#2' }, now);
  expect(second).toMatchObject({ state: 'waiting', attempts: 1, disposition: 'busy' });
  expect(second?.dueAt).toBeGreaterThan(now);

  expect(await readFunnel(db, await scenario.campaign())).toEqual({
    listed: 6, usable: 5, called: 3, answered: 1, completed: 1, notCalled: { suppressed: 1 },
  }); // prettier-ignore
});
