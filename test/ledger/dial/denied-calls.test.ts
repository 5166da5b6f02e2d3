import { expect } from 'vitest';
import type { CallerFault } from '../../../src/rules/caller-choice.ts';
import { noteCallers } from '../../../src/ledger/limits/callers.ts';
import { longestSilenceMs, noteSilentHook } from '../../../src/ledger/dial/screening.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { beginOn, test } from '../ledger-test.ts';
import { answered, noon, numbers, type Scenario, type ScenarioOptions, twice, insertRecord } from '../scenario.ts';
import type { TestDialect } from '../test-stores.ts';

const [, secondNumber = '', thirdNumber = ''] = numbers(3);

/** A batch that the service said it did not take (429), although its records show the second call. */
async function deny(dialect: TestDialect, rules: ScenarioOptions['rules'] = {}): Promise<Scenario> {
  const scenario = await beginOn(dialect, { rows: 2, rules });
  await lookAtCallers(scenario, null);
  await scenario.submit(1);
  await scenario.verdict(1, 'not_sent', { status: 429, notBefore: noon + 20 * minuteMs });
  await scenario.sweep(noon + 30_000, [answered('c1', secondNumber, noon + 5_000)], false);
  return scenario;
}

/** What a look at the caller numbers finds; the one of the callees' own state is the first of the pool. */
async function lookAtCallers(scenario: Scenario, fault: CallerFault | null): Promise<void> {
  const campaign = await scenario.campaign();
  const found = campaign.rules.callers.numbers.map((phoneNumberId, index) => ({
    phoneNumberId,
    e164: '+12125550199',
    country: 'US',
    regions: [index === 0 ? 'NY' : 'FL'],
    fault: index === 0 ? fault : null,
    verified: true,
  }));
  await noteCallers(scenario.store, campaign, { standings: found, faults: null, now: noon });
}

const unhold = ({ store }: Scenario) => store.db.updateTable('accounts').set({ not_before: 0 }).execute();

interface Occasion {
  what: string;
  rules?: ScenarioOptions['rules'];
  at: number;
  /** What would have the batch given back. */
  before?: (scenario: Scenario) => Promise<unknown>;
}

const soon = noon + minuteMs;
const occasions: Occasion[] = [
  { what: 'the service asks for a longer pause than a submit takes', at: soon },
  { what: 'it was not sent for a quarter of an hour', at: noon + 16 * minuteMs, before: unhold },
  { what: 'the campaign is paused', at: soon, before: (scenario) => scenario.pause(soon) },
  { what: 'the campaign is cancelled', at: soon, before: (scenario) => scenario.end('cancelled', soon) },
  {
    what: 'its caller number is taken out',
    rules: { callers: { numbers: ['pn_ny', 'pn_fl'], choice: 'region' } },
    at: soon,
    before: (scenario) => lookAtCallers(scenario, 'not_verified'),
  },
  {
    what: 'the hour of its people is over',
    // Noon is 7:00 in New York, on a Tuesday.
    rules: { calendar: { hours: { mon: [], tue: [{ from: 420, to: 480 }], wed: [] }, closedOn: [] } },
    at: noon + 51 * minuteMs,
    before: async (scenario) => {
      await unhold(scenario);
      const first_submit_at = noon + 50 * minuteMs;
      await scenario.store.db.updateTable('batches').set({ first_submit_at }).execute();
    },
  },
  {
    what: 'the one of the record may not be called any more',
    at: noon + 2 * minuteMs,
    before: async (scenario) => {
      await unhold(scenario);
      await scenario.suppress(secondNumber, { scope: 'spring' }, soon);
    },
  },
];

test.for(occasions)('with a record of its call a batch is not given back when $what', async (dialect, { rules, at, before }) => {
  const scenario = await deny(dialect, rules);
  await before?.(scenario);
  // The record fits nobody else: the batch was placed.
  expect(await scenario.post(1, at)).toEqual({ kind: 'verdict', state: 'confirmed' });
  expect(await scenario.attempts()).toMatchObject(twice({ posted_at: noon }));
  expect(await scenario.posts()).toHaveLength(1);
  // The record settles its call; who has none waits for a person.
  await scenario.sweep(at + minuteMs);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
  expect(await scenario.attempts()).toMatchObject([{ state: 'open' }, { disposition: 'answered' }]);
  expect(await scenario.row(2)).toMatchObject({ state: 'done', outcome: 'completed' });
});

test.from(deny)('nor when the pre-dial hook is silent for too long', async (scenario) => {
  const place = 'pre_dial.url at hooks.example.com';
  const silence = { batchId: scenario.batchId(1), place, evidence: 'status 503', fault: 'status' };
  const now = soon + longestSilenceMs;
  for (const at of [soon, now]) expect(await noteSilentHook(scenario.store, { ...silence, now: at })).toBe(true);
  expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed' });
  expect(await scenario.campaign()).toMatchObject({ state: 'running' });
  expect(await scenario.post(1, now)).toEqual({ kind: 'verdict', state: 'confirmed' });
});

test.from(beginOn, { rows: 2 })('nor when the word that it was not sent comes after it was given up', async (scenario) => {
  await scenario.submit(1);
  await scenario.post(1, noon + 1);
  // Stored by a sweep that has not matched it yet.
  const facts = JSON.stringify({ calleeNumber: secondNumber, openingLine: null, references: [], direction: null });
  await insertRecord(scenario.store, 'c1', { started_at: noon + 5_000, first_seen_at: noon + 30_000, facts });
  const late = { status: 429, notBefore: noon + hourMs, now: soon };
  expect(await scenario.verdict(1, 'not_sent', late)).toBe('unknown');
  expect(await scenario.attempts()).toMatchObject(twice({ state: 'open' }));
  // The service's wish is obeyed all the same.
  expect(await scenario.store.db.selectFrom('accounts').select('not_before').execute()).toEqual([{ not_before: noon + hourMs }]);
});

test('a record that comes after the batch was given back keeps its people from a second call', async (dialect) => {
  const scenario = await beginOn(dialect, { rows: 3, rules: { pacing: { batchSize: 2, refillThreshold: 1 } } });
  await scenario.submit(1);
  const until = noon + 20 * minuteMs;
  await scenario.verdict(1, 'not_sent', { status: 429, notBefore: until });
  expect(await scenario.post(1, noon + 1)).toEqual({ kind: 'verdict', state: 'released' });
  await scenario.sweep(noon + 30_000, [answered('c1', secondNumber, noon + 5_000)]);
  // Who was not in that batch is called. Its record settles one call; a person decides about the other.
  expect(await scenario.dial(2, until)).toEqual(['spring/3/1']);
  expect(await scenario.plan(3, until)).toMatchObject({ kind: 'wait' });
  const ends = (await scenario.attempts()).map(({ attempt_id: id, state, detail }) => [id, [state, detail]]);
  expect(Object.fromEntries(ends)).toEqual({
    'spring/1/1': ['settled', 'records_not_told_apart'],
    'spring/2/1': ['settled', null],
    'spring/3/1': ['open', null],
  });
  expect(await scenario.outcomes()).toEqual(['unresolved', 'completed', null]);
  await scenario.sweep(until + minuteMs);
  expect(await scenario.outcomes()).toEqual(['unresolved', 'completed', null]);
});

test.from(beginOn, { rows: 2 })('without such a record they are called in another batch', async (scenario) => {
  await scenario.submit(1);
  await scenario.verdict(1, 'not_sent', { status: 429, notBefore: noon + 20 * minuteMs });
  await scenario.post(1, noon + 1);
  await scenario.sweep(noon + 30_000, [answered('c1', thirdNumber, noon + 5_000)]);
  expect(await scenario.plan(2, noon + 2 * minuteMs)).toMatchObject({ kind: 'wait' });
  await scenario.sweep(noon + 3 * minuteMs);
  expect(await scenario.dial(2, noon + 20 * minuteMs)).toEqual(['spring/1/2', 'spring/2/2']);
});
