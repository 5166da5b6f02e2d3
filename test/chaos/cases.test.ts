import { expect, test } from 'vitest';
import { readEvents } from '../../src/ledger/events.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { bothDialects } from '../ledger/test-stores.ts';
import { campaignId, scenarios, type Scenario } from './scenarios.ts';
import { onePerCell, type Case } from './design.ts';
import { planOf } from './draw-weave.ts';
import { SmallCampaign } from './small-campaign.ts';
import { openPlace } from './places.ts';
import { refuseStatement } from '../world/faults.ts';

const [scenario] = scenarios as [Case['scenario']];

test('a case is picked for each cell, from the middle, and none for one that another case reaches', () => {
  const aCase = (nth: number, transitions: Case['transitions'], strike: 'fails' | 'unheard' = 'fails'): Case => {
    return { scenario, kind: 'struck', operation: 'submit', what: 'commit', transitions, intervention: { step: 1, nth, strike } };
  };
  const often = Array.from({ length: 30 }, (_, nth) => aCase(nth, ['batch · → intent']));
  const both = aCase(40, ['batch · → intent', 'batch unknown → held']);
  const other = aCase(41, ['batch · → intent'], 'unheard');
  expect(onePerCell([...often, other])).toEqual([often[15], other]);
  expect(onePerCell([...often, both, other])).toEqual([both, other]);
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
