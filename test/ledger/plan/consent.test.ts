import { expect } from 'vitest';
import { addSuppressions, findEntries, findSuppressed, removeSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { readFigures } from '../../../src/ledger/read/figures.ts';
import { findWithdrawals } from '../../../src/ledger/plan/withdrawals.ts';
import { purposeScope } from '../../../src/rules/consent.ts';
import { buildRows, dayMs, hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { noon, numbers, type Scenario } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';
import { test, beginOn } from '../ledger-test.ts';

const people = numbers(4);
const [ana = ''] = people;
const consent = {
  atColumn: 'agreed',
  sourceColumn: 'where',
  textColumn: 'words',
  proofColumn: null,
  purposeColumn: null,
  maxAgeMs: 30 * dayMs,
};

/** People who agreed so long ago; null: unknown. */
async function begin(dialect: TestDialect, agesMs: readonly (number | null)[], rules: RulesChanges = {}): Promise<Scenario> {
  const rows = buildRows(people.slice(0, agesMs.length), (index) => `Guest ${index}`).map((row, index) => {
    const age = agesMs[index] ?? null;
    return { ...row, ...(age === null ? {} : { consentedAt: noon - age }) };
  });
  return beginOn(dialect, { rows, rules: { consent, purpose: 'recall', ...rules } });
}

const ends = async (scenario: Scenario) => (await scenario.recipients()).map(({ state, reason }) => `${state} ${reason}`);
const revoke = ({ store }: Scenario, scope: string, now: number) =>
  addSuppressions(store, [{ e164: ana, scope, source: 'person', reason: null, expiresAt: null }], now);

test.both('nobody is planned without a consent that holds as long as the phone may ring', async (dialect) => {
  // The margin of a dial is ten minutes.
  const scenario = await begin(dialect, [dayMs, null, 30 * dayMs - 9 * minuteMs, -hourMs]);
  expect(await scenario.plan(1)).toMatchObject({ kind: 'batch', size: 1 });
  expect(await ends(scenario)).toEqual(['open null', 'done missing_consent', 'done consent_expired', 'done missing_consent']);
  expect(await scenario.outcomes()).toEqual([null, 'suppressed', 'suppressed', 'suppressed']);
  const { unconsented } = await readFigures(scenario.store.db, await scenario.campaign(), noon);
  expect(unconsented).toEqual({ missing_consent: 2, consent_expired: 1 });
});

test.from(begin, [30 * dayMs - hourMs])('a consent that expires between plan and request is not dialled', async (scenario) => {
  await scenario.plan(1);
  expect(await scenario.post(1, noon + 51 * minuteMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await ends(scenario)).toEqual(['done consent_expired']);
});

test.from(begin, [dayMs])('consent that is taken back between plan and request is not dialled', async (scenario) => {
  await scenario.plan(1);
  await revoke(scenario, purposeScope('recall'), noon);
  expect(await scenario.post(1, noon + minuteMs)).toMatchObject({ kind: 'verdict', state: 'released' });
  expect(await ends(scenario)).toEqual(['done consent_revoked']);
});

test('a call that waits at the service is asked back when its consent is taken back, or expires', async (dialect) => {
  const scenario = await begin(dialect, [30 * dayMs - hourMs]);
  await scenario.dial(1);
  const { campaignId, store } = scenario;
  const wished = (now: number) => findWithdrawals(store.db, { campaignId, now }, [scenario.batchId(1)]);
  expect((await wished(noon + minuteMs)).size).toBe(0);
  expect([...(await wished(noon + 59 * minuteMs)).values()]).toMatchObject([{ reason: 'consent_expired' }]);
  await revoke(scenario, purposeScope('recall'), noon + 2 * minuteMs);
  expect([...(await wished(noon + 3 * minuteMs)).values()]).toMatchObject([{ reason: 'consent_revoked' }]);
});

test.from(begin, [dayMs])('a revocation stops its purpose, and whoever names none, and nothing else', async (scenario) => {
  await revoke(scenario, purposeScope('recall'), noon);
  const { store } = scenario;
  const stopped = async (purpose: string | undefined) => [
    ...(await findSuppressed(store.db, { campaignId: 'x', purpose, now: noon }, people)).entries(),
  ];
  expect(await stopped('recall')).toEqual([[ana, 'consent_revoked']]);
  expect(await stopped(undefined)).toEqual([[ana, 'consent_revoked']]);
  expect(await stopped('reminder')).toEqual([]);
  await revoke(scenario, 'account', noon);
  expect(await stopped('recall')).toEqual([[ana, 'suppressed']]);
});

test.from(begin, [dayMs])('the last revocation counts, and only a consent after it lifts it', async (scenario) => {
  const scope = purposeScope('recall');
  const { store } = scenario;
  expect(await revoke(scenario, scope, noon)).toBe(1);
  expect(await revoke(scenario, scope, noon)).toBe(0);
  expect(await revoke(scenario, scope, noon + 2 * hourMs)).toBe(1);
  expect(await findEntries(store.db, [ana])).toMatchObject([{ scope, createdAt: noon + 2 * hourMs }]);
  const lift = (before: number) => removeSuppressions(store, { scope, now: noon + 3 * hourMs, before }, [ana]);
  expect(await lift(noon + hourMs)).toBe(0);
  expect(await lift(noon + 2 * hourMs)).toBe(0);
  expect(await lift(noon + 2 * hourMs + 1)).toBe(1);
  expect(await scenario.plan(1, noon + 3 * hourMs)).toMatchObject({ kind: 'batch', size: 1 });
});
