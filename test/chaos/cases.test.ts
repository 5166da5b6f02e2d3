import { expect, test, onTestFinished, vi } from 'vitest';
import { readEvents } from '../../src/ledger/events.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { campaignId, scenarios, type Scenario } from './scenarios.ts';
import { pickPerCell, type Case } from './design.ts';
import type { Effect } from './effect-log.ts';
import { faultKindsOf, Matrix, possible } from './matrix.ts';
import { planOf } from './draw-weave.ts';
import { SmallCampaign } from './small-campaign.ts';
import { openPlace } from './places.ts';
import { shrink, without } from './shrink.ts';
import { refuseStatement } from '../world/faults.ts';

const [scenario] = scenarios as [Case['scenario']];

function aCase(nth: number, transitions: Case['transitions'], kind: 'fails' | 'unheard'): Case {
  const at = { scenario, kind: 'struck', operation: 'submit', what: 'commit' } as const;
  return { ...at, transitions, intervention: { step: 1, nth, strike: kind } };
}

test('so many cases are picked for each cell as are asked for, or as there are', () => {
  const often = Array.from({ length: 30 }, (_, nth) => aCase(nth, ['batch · → intent'], 'fails'));
  const both = aCase(40, ['batch · → intent', 'batch unknown → held'], 'fails');
  const other = aCase(41, ['batch · → intent'], 'unheard');
  const picked = pickPerCell([...often, both, other], 3);
  expect(picked).toContain(both);
  expect(picked).toContain(other);
  expect(picked).toHaveLength(4);
  // From here and there: neighbours have the same person in the same state.
  const nths = picked.flatMap(({ intervention: { nth } }) => (nth < 30 ? [nth] : []));
  expect(Math.max(...nths) - Math.min(...nths)).toBeGreaterThan(9);
  expect(pickPerCell([other], 5)).toEqual([other]);
});

test('the matrix counts what was disturbed, and names what was not reached', () => {
  const matrix = new Matrix();
  expect(matrix.format()).toContain('- `batch held → redial`: every kind');
  const struck = { strike: 'fails', transitions: possible, step: 1, nth: 0, operation: 'submit' } as unknown as Effect;
  matrix.note({ effects: [struck, struck], done: [] }, []);
  expect([matrix.count('batch unknown → held', 'fails'), matrix.count('batch unknown → held', 'unheard')]).toEqual([2, 0]);
  expect(matrix.format()).toContain(`${possible.length} of ${possible.length * faultKindsOf('contract').length} cells reached. Empty:`);
});

test.for([3_600_000, -3_600_000])('a clock that is set by %i ms within a sweep is noted, and the campaign goes on', async (clockByMs) => {
  const place = await openPlace('sqlite');
  const scenario = scenarios.find(({ name }) => name === 'request lost') as Scenario;
  const { effects } = await new SmallCampaign(place, scenario).run();
  const { step, nth } = effects.find(({ operation, what }) => operation === 'collect' && what === 'GET the list') ?? {};
  if (step === undefined || nth === undefined) throw new Error('nothing is collected');
  const { ledger, faults } = await new SmallCampaign(place, scenario, planOf([{ step, nth, clockByMs }])).run();
  const [{ db }] = place.stores;
  const events = await readEvents(db, campaignId, { afterSeq: 0, limit: 1000, types: ['clock.stepped'] });
  expect(events.map(({ data }) => data)).toMatchObject([
    { clock: 'machine', byMs: clockByMs },
    { clock: 'machine', byMs: -clockByMs },
  ]);
  expect(faults).toEqual([]);
  expect(ledger.recipients.map(({ state }) => state)).toEqual(['done', 'done']);
});

const expected = {
  sqlite: { locked: 'SQLITE_BUSY', 'disk full': 'SQLITE_FULL' },
  postgres: { locked: '55P03', 'disk full': '53100' },
};
const cases = bothDialects.flatMap((dialect) =>
  (['locked', 'disk full'] as const).flatMap((refusal) => [1, 2, 9].map((nth) => ({ dialect, refusal, nth }))),
);

test.for(cases)('$dialect: $refusal at statement $nth undoes the transaction, and nothing after it', async (each) => {
  const { dialect, refusal, nth } = each;
  const store = await openCleanStore(dialect);
  const keys = async (): Promise<string[]> =>
    (await store.db.selectFrom('meta').select('key').where('key', 'like', 'tried%').execute()).map(({ key }) => key);
  const add = (refused: boolean): Promise<void> =>
    store.transaction(async (tx) => {
      if (refused) await refuseStatement(tx, refusal, nth);
      for (const key of ['tried 1', 'tried 2'])
        await tx
          .insertInto('meta')
          .values({ key: `${key} ${refused}`, value: '' })
          .execute();
    });
  await expect(add(true)).rejects.toMatchObject({ code: expected[dialect][refusal] });
  expect(await keys()).toEqual([]);
  await add(false);
  expect(await keys()).toEqual(['tried 1 false', 'tried 2 false']);
  await store.db.deleteFrom('meta').where('key', 'like', 'tried%').execute();
});

test('a failure is shrunk to what it needs, in few tries', async () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const shrunk = await shrink({ thing: numbers, result: 'broken' }, without, async (less) =>
    less.includes(3) && less.includes(11) ? `broken by ${less.length}` : null,
  );
  expect(shrunk).toEqual({ thing: [3, 11], result: 'broken by 2', isSmallest: true });
});

test('what breaks only as a whole stays whole', async () => {
  const whole = { thing: [1, 2, 3], result: 'broken' };
  expect(await shrink(whole, without, async () => null)).toEqual({ ...whole, isSmallest: true });
});

test('after sixty tries the smallest so far is told, and that less may do', async () => {
  const oneLess = (number: number): number[] => [number - 1];
  const shrunk = await shrink({ thing: 1000, result: 'broken' }, oneLess, async (less) => `broken by ${less}`);
  expect(shrunk).toEqual({ thing: 940, result: 'broken by 940', isSmallest: false });
});

test('a try that never ends is given up when the time is over, and the smallest before it is told', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let tries = 0;
  const shrinking = shrink({ thing: [1, 2, 3, 4], result: 'broken' }, without, async (less, over) => {
    tries += 1;
    if (tries === 1) return `broken by ${less.length}`;
    return new Promise((resolve) => over.addEventListener('abort', () => resolve(null)));
  });
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(await shrinking).toEqual({ thing: [3, 4], result: 'broken by 2', isSmallest: false });
  expect(tries).toBe(2);
});

test('whoever stops the run stops the shrinking', async () => {
  const stopping = new AbortController();
  let tries = 0;
  const breaks = async (): Promise<null> => {
    tries += 1;
    stopping.abort();
    return null;
  };
  const shrunk = await shrink({ thing: [1, 2, 3, 4], result: 'broken' }, without, breaks, stopping.signal);
  expect(shrunk).toEqual({ thing: [1, 2, 3, 4], result: 'broken', isSmallest: false });
  expect(tries).toBe(1);
});
