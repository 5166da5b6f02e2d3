import { sql } from 'kysely';
import { expect } from 'vitest';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { importSuppressions } from '../../../src/ledger/people/suppression-import.ts';
import { addSuppressions, findEntries, type Suppression } from '../../../src/ledger/rows/suppressions.ts';
import { listAccountRulesVersions, storeAccountRules } from '../../../src/ledger/limits/house.ts';
import { holdAccount } from '../../../src/ledger/limits/account-pace.ts';
import { hourMs, minuteMs, type RulesChanges } from '../../support/campaign-rules.ts';
import { until } from '../../support/until.ts';
import { accountId, beginProven, guests, noon, numbers } from '../scenario.ts';
import { countWaiting, gate, hold, openTwo } from '../two-processes.ts';
import type { Store, Tx } from '../../../src/ledger/tx.ts';
import { test } from '../ledger-test.ts';

const [first = '', second = ''] = numbers(2);
const never: Omit<Suppression, 'e164'> = { scope: 'account', source: 'person', reason: null, expiresAt: null };

/** Caps by person need ids. */
const rows = guests(6).map((row, index) => ({ ...row, externalId: `person${index}` }));
const byPerson = { caps: [{ by: 'person' as const, calls: 1, withinMs: 24 * hourMs }] };

const serializable = { default_transaction_isolation: 'serializable' };

interface Wait {
  for: string;
  lock: ReturnType<typeof sql>;
  rules?: RulesChanges;
  defaults?: Record<string, string>;
}

const waits: Wait[] = [
  { rules: byPerson, for: 'the lock of people', lock: sql`select pg_advisory_xact_lock(1)` },
  { for: 'a row that it writes to', lock: sql`select 1 from recipients for update` },
  { for: 'its campaign', lock: sql`select 1 from campaigns for update` },
  { for: 'its campaign, with serializable transactions', lock: sql`select 1 from campaigns for update`, defaults: serializable },
];

/** A dial that waits for another process's lock until it is released. */
async function dialWaits({ lock, rules = {}, defaults }: Omit<Wait, 'for'>) {
  const [dialler, person] = await openTwo(defaults);
  const scenario = await beginProven(dialler, { rules, rows });
  await scenario.plan(1);
  const release = await hold(person, lock);
  const dialled = scenario.post(1);
  await until('the dial waits', async () => (await countWaiting(person)) === 1);
  return { person, release, dialled };
}

test.postgres.for(waits)('a do-not-call entry that was confirmed while a dial waited for $for is not dialled', async (_, wait) => {
  const { person, release, dialled } = await dialWaits(wait);
  let isConfirmed = false;
  const added = addSuppressions(person, [{ ...never, e164: first }], noon).then(() => (isConfirmed = true));
  await until('the entry stands or waits', async () => isConfirmed || (await countWaiting(person)) === 2);
  // An entry that waits behind the dial comes after it, whichever answer is read first.
  const stoodBefore = isConfirmed;
  await release();
  const step = await dialled;
  await added;
  const called = step.kind === 'post' ? step.calls.map(({ e164 }) => e164) : [];
  expect(called).toContain(second);
  expect(called.includes(first)).toBe(!stoodBefore);
});

test.postgres.for(waits)('house rules that stand while a dial waits for $for are kept by it', async (_, wait) => {
  const { person, release, dialled } = await dialWaits(wait);
  const calendar = { hours: null, closedOn: ['2030-01-15'] };
  const closed = { calendar, caps: [], callerLimits: null, requires: { consent: false, optOut: false } };
  const set = storeAccountRules(person, { text: '', rules: closed, now: noon });
  const stands = async () => (await listAccountRulesVersions(person.db)).length > 0;
  await until('they stand or wait', async () => (await stands()) || (await countWaiting(person)) === 2);
  const stoodBefore = await stands();
  await release();
  const step = await dialled;
  await set;
  expect(step.kind === 'post' ? step.calls.length : 0).toBe(stoodBefore ? 0 : rows.length);
});

test.postgres('a Retry-After that came while a dial waited for the lock of people is obeyed', async () => {
  const { person, release, dialled } = await dialWaits({ rules: byPerson, lock: sql`select pg_advisory_xact_lock(1)` });
  await person.transaction((tx) => holdAccount(tx, accountId, noon + minuteMs));
  await release();
  expect(await dialled).toEqual({ kind: 'blocked', until: noon + minuteMs });
});

test.postgres.for([{}, serializable])(
  'a dial that begins while an entry is being written waits for it and obeys it: %j',
  async (_, defaults) => {
    const [dialler, person] = await openTwo(defaults);
    const scenario = await beginProven(dialler, { rows });
    await scenario.plan(1);
    const [written, release] = [gate(), gate()];
    const parts = async function* () {
      yield [first];
    };
    // At its last statement: all is written, nothing committed.
    const held: Store = {
      ...person,
      transaction: (work) =>
        person.transaction(async (tx) => {
          const result = await work(tx);
          if ((await findEntries(tx, [first])).length > 0) {
            written.open();
            await release.passed;
          }
          return result;
        }),
    };
    const added = importSuppressions(held, parts(), { terms: never, clock: { now: noon, nowReal: noon } });
    await written.passed;
    const dialled = scenario.post(1);
    await until('the dial waits', async () => (await countWaiting(person)) === 1);
    release.open();
    await added;
    const step = await dialled;
    expect(step.kind === 'post' && step.calls.map(({ e164 }) => e164)).not.toContain(first);
  },
);

test.postgres('an import of a list and opt-outs of the same people end without a deadlock', async () => {
  const [sweeper, person] = await openTwo();
  const scenario = await beginProven(sweeper, { rows });
  const [one = '', other = ''] = await scenario.dial(1);
  const [half, release] = [gate(), gate()];
  const result = { disposition: 'opted_out' as const, detail: null, counted: true };
  const settle = (tx: Tx, attemptId: string) => settleAttempts(tx, scenario.at(noon + minuteMs), [{ attemptId, result }]);
  const settled = sweeper.transaction(async (tx) => {
    await settle(tx, other);
    half.open();
    await release.passed;
    await settle(tx, one);
  });
  await half.passed;
  const parts = async function* () {
    yield [second, first];
  };
  const imported = importSuppressions(person, parts(), { terms: never, clock: { now: noon, nowReal: noon } });
  await until('the import waits', async () => (await countWaiting(sweeper)) === 1);
  release.open();
  await settled;
  expect(await imported).toBe(0);
  expect((await findEntries(person.db, [first, second])).map(({ source }) => source)).toEqual([`call:${one}`, `call:${other}`]);
});

test.postgres('of two transactions that wait for each other the one that is broken off is run again', async () => {
  const stores = await openTwo();
  const keys = ['one', 'other'];
  await stores[0].db
    .insertInto('meta')
    .values(keys.map((key) => ({ key, value: '' })))
    .execute();
  const both = [gate(), gate()];
  let runs = 0;
  const write = (index: number) =>
    (stores[index] as Store).transaction(async (tx) => {
      runs += 1;
      for (const key of index === 0 ? keys : keys.toReversed()) {
        await tx
          .updateTable('meta')
          .set({ value: String(index) })
          .where('key', '=', key)
          .execute();
        both[index]?.open();
        await Promise.all(both.map(({ passed }) => passed));
      }
    });
  await Promise.all([write(0), write(1)]);
  expect(runs).toBeGreaterThan(2);
});
