import { expect } from 'vitest';
import { sql } from 'kysely';
import { noteCallers } from '../../../src/ledger/limits/callers.ts';
import { requireCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { renderSummary } from '../../../src/presentation/evidence/summary.ts';
import type { CallerFault } from '../../../src/rules/caller-choice.ts';
import { readEvidence, readEvidenceKey } from '../../../src/ledger/read/evidence.ts';
import { RecipientEditor } from '../../../src/ledger/people/edit-recipients.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRow, buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginProven, noon, numbers, Scenario } from '../scenario.ts';
import { openAt } from '../test-stores.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger } from '../ledger-test.ts';
import { newDatabase } from '../clean-store.ts';

const [ana = '', ben = '', moved = ''] = numbers(3);

test.both('a row that leads to another number now tells of its old one what was done to that, and no more', async (dialect) => {
  const store = await openLedger(dialect);
  const rows = buildRows([ana, ben], (index) => `Guest ${index}`).map((row, index) => ({ ...row, externalId: `id ${index}` }));
  const scenario = await beginProven(store, { rows });
  const attemptIds = await scenario.dial(1);
  await scenario.settle(attemptIds, 'no_answer', noon + minuteMs);
  const editor = new RecipientEditor(store, { campaignId: 'spring', restore: false, dryRun: false });
  const corrected = { ...buildRow(1, moved, [moved, 'Guest 0']), e164: moved, externalId: 'id 0' };
  expect(await editor.apply([corrected], noon + 2 * minuteMs)).toMatchObject([{ result: 'corrected' }]);
  const read = (e164: string, since: number | null = null) => readEvidence(store, { e164, since, now: noon + hourMs });

  const old = await read(ana);
  expect(old?.rows).toMatchObject([{ row: 1, cells: null, externalId: null, zones: [], calls: [{ call: 1, requests: [{ at: noon }] }] }]);
  expect(old?.events.map(({ type }) => type)).toEqual(['attempt.planned', 'attempt.posted', 'attempt.settled']);
  expect(JSON.stringify(old)).not.toContain(moved);
  expect(JSON.stringify(old)).not.toContain(ben);
  const now = await read(moved);
  expect(now?.rows).toMatchObject([{ row: 1, cells: [{ value: moved }, { value: 'Guest 0' }], externalId: 'id 0', calls: [] }]);
  expect(JSON.stringify(now)).not.toContain(ana);
  expect((await read(ben, noon + 1))?.rows).toMatchObject([{ calls: [] }]);
  expect((await read(ben))?.rows).toMatchObject([{ calls: [{ openingLine: 'Hello Guest 1', caller: { id: 'pn_main' }, record: null }] }]);
});

test.from(openLedger)('a number that is on the do-not-call list alone is told of, an unknown one is not', async (store) => {
  expect(await readEvidence(store, { e164: ana, since: null, now: noon })).toBeNull();
  await addSuppressions(store, [{ e164: ana, scope: 'purpose:recall', source: 'person', reason: null, expiresAt: null }], noon);
  await addSuppressions(store, [{ e164: ben, scope: 'account', source: 'person', reason: null, expiresAt: null }], noon);
  expect(await readEvidence(store, { e164: ana, since: null, now: noon })).toMatchObject({
    rows: [],
    suppressions: [{ scope: 'purpose:recall' }],
    events: [{ type: 'suppression.added', data: { e164: ana } }],
  });
  const keys = await Promise.all([readEvidenceKey(store), readEvidenceKey(store)]);
  expect(keys[0]).toBe(keys[1]);
});

test.from(openLedger)('two ids of one number, and other numbers of one id, are told by their count', async (store) => {
  const list = (...people: [string, string][]) =>
    people.map(([e164, externalId], index) => ({ ...buildRow(index + 1, e164, [e164, 'Guest']), externalId }));
  await beginProven(store, { campaignId: 'spring', rows: list([ana, 'a'], [ben, 'b']) });
  await beginProven(store, { campaignId: 'autumn', rows: list([ana, 'b'], [moved, 'a']) });
  const evidence = await readEvidence(store, { e164: ana, since: null, now: noon });
  expect(evidence).toMatchObject({ ids: ['a', 'b'], otherNumbers: 2, rows: [{ campaignId: 'spring' }, { campaignId: 'autumn' }] });
  for (const other of [ben, moved]) expect(JSON.stringify(evidence)).not.toContain(other);
});

test.from(newDatabase)('the check of the calling number is the one that held at the call, never a later one', async (place) => {
  const earlier = await openAt(place);
  const scenario = await beginProven(earlier, { rows: buildRows([ana], () => 'Ana'), rules: { retry: { maxAttempts: 2 } } });
  const check = async (store: Store, now: number, fault: CallerFault | null) =>
    noteCallers(store, await requireCampaign(store.db, 'spring'), {
      standings: [{ phoneNumberId: 'pn_main', fault, e164: moved, country: 'US', regions: null, verified: fault === null }],
      faults: null,
      now,
    });
  const read = async (store: Store) => {
    const evidence = await readEvidence(store, { e164: ana, since: null, now: noon + hourMs });
    if (evidence === null) throw new Error('nothing is known');
    const findings = { events: 0, promises: 0, violations: [], notes: [] };
    return {
      callers: evidence.rows[0]?.calls.map(({ caller }) => caller),
      summary: renderSummary(evidence, { findings, by: 'Lee', conversations: 0 }),
    };
  };
  const settle = (store: Store, attemptId: string, now: number) =>
    store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result: { disposition: 'busy', detail: null, counted: true } }])); // prettier-ignore
  // The version before kept only the last check.
  const [first = ''] = await scenario.dial(1);
  await settle(earlier, first, noon + minuteMs);
  await check(earlier, noon + minuteMs, null);
  for (const column of ['posts drop column caller_check', 'callers drop column answered_at'])
    await sql.raw(`alter table ${column}`).execute(earlier.db);
  await sql`delete from kysely_migration where name >= '023'`.execute(earlier.db);

  const store = await openAt(place);
  expect(await read(store)).toMatchObject({ callers: [{ id: 'pn_main', checkedAt: null, check: null }], summary: expect.stringContaining('<dd>not known</dd>') }); // prettier-ignore
  const later = new Scenario(store, 'spring');
  await check(store, noon + 20 * minuteMs, null);
  const [second = ''] = await later.dial(2, noon + 30 * minuteMs);
  await settle(store, second, noon + 31 * minuteMs);
  await check(store, noon + 48 * minuteMs, 'not_verified');
  const told = await read(store);
  expect(told.callers).toMatchObject([
    { checkedAt: null, check: null },
    { checkedAt: noon + 20 * minuteMs, check: 'ready', e164: moved },
  ]);
  expect(told.summary).toContain(
    '12:20:00.000 UTC, the last check before the request: the service had it among the numbers of the account',
  );
  expect(told.summary).not.toContain('12:48:00');
});

test.both.from(newDatabase)('a result that a later talk took back is gone after the upgrade', async (place) => {
  const earlier = await openAt(place);
  const rows = buildRows([ana, ben], (index) => `Guest ${index}`);
  await (await beginProven(earlier, { rows })).dial(1);
  const end = (e164: string, disposition: 'answered' | 'opted_out', result: string | null) =>
    earlier.db.updateTable('attempts').set({ state: 'settled', disposition, result }).where('e164', '=', e164).execute();
  await end(ana, 'opted_out', null);
  await end(ben, 'answered', 'again');
  await earlier.db.updateTable('recipients').set({ result: 'again' }).execute();
  for (const column of ['posts drop column caller_check', 'callers drop column answered_at'])
    await sql.raw(`alter table ${column}`).execute(earlier.db);
  await sql`delete from kysely_migration where name >= '023'`.execute(earlier.db);
  const store = await openAt(place);
  const kept = store.db.selectFrom('recipients').select('result').orderBy('row_number');
  expect(await kept.execute()).toEqual([{ result: null }, { result: 'again' }]);
});
