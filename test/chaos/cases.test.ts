import { expect, test, onTestFinished, vi } from 'vitest';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guards } from '../worlds/guards.ts';
import { guardsOfLedger } from '../worlds/guards-of-ledger.ts';
import { guardsOfRows } from '../worlds/guards-of-rows.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { aims } from './aims.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { pickPerCell, type Case } from './design.ts';
import { cellOf, faultKindsOf, Matrix, possible } from './matrix.ts';
import { planOf } from './draw-weave.ts';
import { campaignId } from './import-small.ts';
import { SmallCampaign } from './small-campaign.ts';
import { openPlace } from './weaves-suite.ts';
import { refuseStatement } from './refuse-statement.ts';
import { shrink, without } from './shrink.ts';
import { shareOut } from './share-out.ts';

test('every guard of the ledger is looked for, or has a test that sees it', () => {
  const names = aims.map(({ guard }) => guard);
  expect([...guardsOfLedger, ...guardsOfRows].filter(({ name }) => !names.includes(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test.for(aims)('$guard: the guard and its scenarios exist, and what no case can see has a test', (aimed) => {
  const guard = guards.find(({ name }) => name === aimed.guard);
  expect(guard).toBeDefined();
  if ('unseen' in aimed) expect(guard?.test).toBeDefined();
  else {
    const known = scenarios.map(({ name }) => name);
    expect(aimed.aim.scenarios.filter((name) => !known.includes(name))).toEqual([]);
  }
});

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

test('the matrix adds up what several processes have found, and names what nobody has reached', () => {
  const matrix = new Matrix();
  for (const times of [2, 3]) matrix.addAll(new Map([[cellOf('batch unknown → held', 'fails'), times]]));
  expect(matrix.count('batch unknown → held', 'fails')).toBe(5);
  expect([matrix.filled, matrix.size]).toEqual([1, possible.length * faultKindsOf('contract').length]);
  expect(matrix.format()).toContain('- `batch held → redial`: every kind');
  const all = possible.flatMap((transition) => faultKindsOf('contract').map((kind) => [cellOf(transition, kind), 1] as const));
  matrix.addAll(new Map(all));
  expect(matrix.format()).toContain(`${matrix.size} of ${matrix.size} cells reached.`);
  expect(matrix.format()).not.toContain('Empty');
});

test.for([3_600_000, -3_600_000])('a clock that is set by %i ms within a sweep is noted, and the campaign goes on', async (clockByMs) => {
  const place = await openPlace('sqlite', 'clock');
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

/** A process that answers twice the number it is sent, after what it was told at its start; of 13 it says nothing, of 99 it fails. */
async function aProgram(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'share-out-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'twice.mjs');
  writeFileSync(
    path,
    `process.on('message', ({ number }) => {
      if (number === 99) process.exit(3);
      if (number !== 13) process.send({ answer: new Map([[process.argv[2], 2 * number]]) });
    });`,
  );
  return path;
}

interface Answer {
  answer: Map<string, number>;
}

async function run(numbers: readonly number[], longestMs = 60_000) {
  const stop = new AbortController();
  const found: number[] = [];
  const hung: number[] = [];
  const by = new Set<string>();
  await shareOut<{ number: number }, Answer>({
    program: await aProgram(),
    processes: [['one'], ['two']],
    units: numbers.map((number) => ({ number })),
    stop: stop.signal,
    longestMs,
    onResult: (_, { answer }) => {
      for (const [who, number] of answer) {
        by.add(who);
        found.push(number);
      }
      if (found.length === 3) stop.abort();
    },
    onHung: ({ number }) => hung.push(number),
  });
  return { found: found.toSorted((a, b) => a - b), hung, by };
}

test('units are shared out to processes, and what each found comes back', async () => {
  expect(await run([1, 2])).toEqual({ found: [2, 4], hung: [], by: new Set(['one', 'two']) });
});

test('one that never answers is given up, and another process goes on with the rest', async () => {
  expect(await run([13, 1, 2], 2_000)).toMatchObject({ found: [2, 4], hung: [13] });
});

test('a run that is broken off has what was done until then', async () => {
  const { found } = await run(Array.from({ length: 50 }, (_, index) => index + 1));
  expect(found.length).toBeLessThan(6);
  expect(found.length).toBeGreaterThanOrEqual(3);
});

test('a process that fails ends the run, and says at what', async () => {
  await expect(run([1, 99])).rejects.toThrow('ended with 3 at {"number":99}');
});
