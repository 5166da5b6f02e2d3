import { expect, test } from 'vitest';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { Drive } from '../world/drive.ts';
import type { ResultRule } from '../../src/rules/talk-results.ts';
import { askingResult, minuteMs } from '../support/campaign-rules.ts';
import { drawWorld, settleMs, type World } from '../world/inputs/draw-world.ts';
import { countGivenUp, judgeWorld } from './judge-world.ts';

const drawn = drawWorld(1, 'apart_bare_records');
const world = withResults([]);
const asking = withResults([askingResult]);

const [ada = '', ben = ''] = world.people.map(({ e164 }) => e164);

function withResults(results: ResultRule[]): World {
  const campaigns = drawn.mix.campaigns.map((plan) => ({ ...plan, rules: { ...plan.rules, results } }));
  return { ...drawn, mix: { ...drawn.mix, campaigns } };
}

/** A call of the first campaign, a minute long. */
function call(to: string, acceptedAt: number, more: Partial<CallTruth> = {}): CallTruth {
  return {
    ...({} as CallTruth),
    batchId: 'batch',
    requestId: `first/1/${acceptedAt}/1`,
    to,
    acceptedAt,
    dialedAt: acceptedAt,
    endedAt: acceptedAt + minuteMs,
    listedAt: acceptedAt,
    result: 'no_answer',
    optedOut: false,
    collected: {},
    ...more,
  };
}

function rulesBroken(...calls: CallTruth[]): [string, boolean][] {
  return rulesIn(world, ...calls);
}

function rulesIn(given: World, ...calls: CallTruth[]): [string, boolean][] {
  return judgeWorld(given, calls, []).flatMap(({ rule, straggler, to }) => (to === null ? [] : [[rule, straggler]]));
}

const later = 30 * minuteMs;
const answered = { result: 'answered' } as const;

test('the judge of the worlds names each broken promise', () => {
  expect(rulesBroken(call(ada, 0), call(ada, later), call(ben, 5, answered))).toEqual([]);
  expect(rulesBroken(call(ada, 0, answered), call(ada, later))).toEqual([['called after an answer', false]]);
  expect(rulesBroken(call(ada, 0), call(ada, 5_000))).toEqual([['two calls at once', false]]);
  // Asked for by what they said, and only in a world that has a rule for it.
  const asked = { ...answered, collected: { appointment: 'declined' } };
  expect(rulesBroken(call(ada, 0, asked), call(ada, later))).toEqual([['called after an answer', false]]);
  expect(rulesIn(asking, call(ada, 0, asked), call(ada, later))).toEqual([]);
  expect(rulesIn(asking, call(ada, 0, answered), call(ada, later))).toEqual([['called after an answer', false]]);
  expect(rulesIn(asking, call(ada, 0, { ...asked, optedOut: true }), call(ada, later))).toEqual([['called after an opt-out', false]]);
  const optOut = call(ada, 0, { ...answered, optedOut: true });
  const otherCampaign = { requestId: 'second/1/1/1' };
  expect(rulesBroken(optOut, call(ada, later, otherCampaign))).toEqual([['called after an opt-out', false]]);
  expect(rulesBroken(call(ada, 0, answered), call(ada, later, otherCampaign))).toEqual([]);
  const foreign = { ...answered, batchId: null, requestId: null };
  expect(rulesBroken(call(ada, 0, foreign), call(ada, later))).toEqual([]);
  expect(judgeWorld(world, [], [])).toMatchObject([{ rule: 'not one outcome', to: null }]);
});

test('a single record that came too late is told from a list that was late as a whole', () => {
  const unheard = call(ada, 0, { ...answered, listedAt: minuteMs + settleMs + 1 });
  const again = call(ada, later);
  expect(rulesBroken(unheard, call(ben, 1_000), again)).toEqual([['called after an answer', true]]);
  const asLate = { listedAt: minuteMs + settleMs + 1_000 };
  const listedAt = later + settleMs;
  expect(rulesBroken(unheard, call(ben, 1_000, asLate), { ...again, listedAt })).toEqual([['called after an answer', false]]);
});

test('rows that were not reached although attempts were left are counted', () => {
  const three = [0, 1, 2].map((nth) => call(ada, nth * later));
  expect(countGivenUp(world, [...three, call(ben, 0, answered)])).toBe(world.people.length - 2);
});

test('a seed gives the same campaign again', async () => {
  const play = async (): Promise<unknown> => {
    const { trial, resumes } = await new Drive(drawWorld(4, 'mixed').mix).run();
    const outcomes = trial.ledger.recipients.map(({ e164, outcome }) => [e164, outcome]);
    return {
      resumes,
      outcomes,
      calls: trial.calls.map(({ to, nth, dialedAt, result }) => [to, nth, dialedAt, result]),
    };
  };
  expect(await play()).toEqual(await play());
});
