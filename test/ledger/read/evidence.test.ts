import { expect, test } from 'vitest';
import { readEvidence, readEvidenceKey } from '../../../src/ledger/read/evidence.ts';
import { RecipientEditor } from '../../../src/ledger/people/edit-recipients.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRow, buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

const [ana = '', ben = '', moved = ''] = numbers(3);

test.for(bothDialects)(
  'a row that leads to another number now tells of its old one what was done to that, and no more: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const rows = buildRows([ana, ben], (index) => `Guest ${index}`).map((row, index) => ({ ...row, externalId: `id ${index}` }));
    const scenario = await beginProven(store, { rows });
    const attemptIds = await scenario.dial(1);
    const result = { disposition: 'no_answer' as const, detail: null, counted: true };
    const { campaignId } = scenario;
    const settlements = attemptIds.map((attemptId) => ({ attemptId, result }));
    await store.transaction((tx) => settleAttempts(tx, { campaignId, now: noon + minuteMs }, settlements));
    const editor = new RecipientEditor(store, { campaignId, restore: false, dryRun: false });
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
  },
);

test.for(bothDialects)('a number that is on the do-not-call list alone is told of, an unknown one is not: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
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

test.for(bothDialects)('two ids of one number, and other numbers of one id, are told by their count: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const list = (...people: [string, string][]) =>
    people.map(([e164, externalId], index) => ({ ...buildRow(index + 1, e164, [e164, 'Guest']), externalId }));
  await beginProven(store, { campaignId: 'spring', rows: list([ana, 'a'], [ben, 'b']) });
  await beginProven(store, { campaignId: 'autumn', rows: list([ana, 'b'], [moved, 'a']) });
  const evidence = await readEvidence(store, { e164: ana, since: null, now: noon });
  expect(evidence).toMatchObject({ ids: ['a', 'b'], otherNumbers: 2, rows: [{ campaignId: 'spring' }, { campaignId: 'autumn' }] });
  for (const other of [ben, moved]) expect(JSON.stringify(evidence)).not.toContain(other);
});
