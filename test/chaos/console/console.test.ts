import { expect, test } from 'vitest';
import { actsOfPersons, actsThatEnd, type Intervention } from '../acts.ts';
import { planOf } from '../draw-weave.ts';
import { isFull } from '../../support/depth.ts';
import { judge } from '../../world/judge/judge.ts';
import { gatherEnding } from '../gather.ts';
import { type Place, openPlace } from '../places.ts';
import { scenarios, type Scenario } from '../scenarios.ts';
import { SmallCampaign, type Ending } from '../small-campaign.ts';
import { runSeed } from '../run-weaves.ts';
import { nameTry, sendings } from './person.ts';

const scenario = scenarios.find(({ name }) => name === 'calm') as Scenario;

/** Before the first batch is planned. */
const early = { step: 2, nth: 0 };

async function play(place: Place, beside: NonNullable<Intervention['beside']>): Promise<Ending> {
  return new SmallCampaign(place, scenario, planOf([{ ...early, beside }])).run();
}

function triesOf({ person }: Ending): string[] {
  return person.asked.flatMap(({ act, tries }) => tries.map((each) => `${act} ${nameTry(each)}`));
}

/** Once, and one of the other ways in turn. */
const someSendings = (index: number) => sendings.filter((_, way) => way === 0 || way === 1 + (index % (sendings.length - 1)));

test('each act of a person through the API is done once, however often and by whomever it is sent', async () => {
  const place = await openPlace('sqlite');
  for (const [index, act] of [...actsOfPersons, ...actsThatEnd].entries())
    for (const sending of isFull || index < actsOfPersons.length ? sendings : someSendings(index)) {
      const ending = await play(place, { act, sending });
      expect(judge(gatherEnding(ending)), `${act}, sent ${sending}`).toEqual([]);
      const tries = triesOf(ending);
      // No row is unresolved at the end, so the operator decides nothing.
      if (act === 'resolve' && tries.length === 0) continue;
      expect(tries).toContain(sending === 'read only' ? `${act} refused (role)` : `${act} carried out`);
      if (sending !== 'read only') expect(tries).toContain(`${act} repeated`);
      if (sending === 'key reused') expect(tries).toContain(`${act} refused (key_reused)`);
    }
});

test('a pause is not undone by a resume from before it, and not made again when its request is repeated after the resume', async () => {
  const place = await openPlace('sqlite');
  const tries = triesOf(await play(place, { act: 'pause', sending: 'once' }));
  expect(tries.slice(0, 5)).toEqual([
    'pause carried out',
    'pause repeated',
    'pause repeated',
    'stale resume refused (campaign_message)',
    'resume carried out',
  ]);
});

test('a pause whose answer was lost is over once somebody has resumed, also when its answer comes after that', async () => {
  const place = await openPlace('sqlite');
  const silent: Scenario = { ...scenario, people: ['no_answer'] };
  // While the first call is collected; its third effect stores the answer.
  const struck = { nth: 2, strike: 'dies after' } as const;
  const plan = planOf([{ step: 4, nth: 0, beside: { act: 'pause', sending: 'once', struck } }]);
  const ending = await new SmallCampaign(place, silent, plan).run();
  expect(triesOf(ending)).toEqual(expect.arrayContaining(['pause repeated', 'resume carried out']));
  expect(triesOf(ending)).not.toContain('pause carried out');
  expect(judge(gatherEnding(ending))).toEqual([]);
});

test.each([
  [9156, 'a pause dies after its commit, a resume, then a call'],
  [20_161, 'a row is withdrawn that had ended as suppressed'],
])('seed %i: %s', async (seed) => {
  const place = await openPlace('sqlite');
  expect((await runSeed(place, seed)).story).toBe('');
});

test('a request whose process dies over it is carried out soon after under the same key', async () => {
  const place = await openPlace('sqlite');
  const struck = { nth: 0, strike: 'dies after' } as const;
  const ending = await play(place, { act: 'suppress', sending: 'once', struck });
  expect(judge(gatherEnding(ending))).toEqual([]);
  const tries = triesOf(ending);
  expect(tries[0]).toBe('suppress under_way');
  expect(tries.slice(-2)).toEqual(['suppress carried out', 'suppress repeated']);
});

test('what was asked for is gathered with what was written meanwhile, and the lists at the end', async () => {
  const ending = await play(await openPlace('sqlite'), { act: 'suppress', sending: 'twice' });
  const { ledger, standing, person } = ending;
  const [first] = person.asked.flatMap(({ tries }) => tries);
  const havingSent = (tries: (typeof first)[]): Ending => {
    const asked = person.asked.map((each) => ({ ...each, tries, begun: tries.length }));
    return { ...ending, person: Object.assign(Object.create(person) as typeof person, { asked }) };
  };
  const forged: [Ending, string][] = [
    [havingSent([first, first]), 'done by a repetition'],
    [{ ...ending, ledger: { ...ledger, suppressions: [] } }, 'answered, and not done'],
    [{ ...havingSent([]), standing: { ...standing, stopped: new Map() } }, 'done though refused'],
  ];
  for (const [each, rule] of forged) expect(judge(gatherEnding(each)).map((breach) => breach.rule)).toContain(rule);
});
