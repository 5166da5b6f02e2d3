import { expect, test } from 'vitest';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { Drive } from '../activities/mixes/drive-campaign.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { drawWorld, settleMs } from './draw-world.ts';
import { countGivenUp, judgeWorld } from './judge-world.ts';

const world = drawWorld(1, 'apart_bare_records');
const [ada = '', ben = ''] = world.people.map(({ e164 }) => e164);

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
    ...more,
  };
}

function rulesBroken(...calls: CallTruth[]): [string, boolean][] {
  return judgeWorld(world, calls, []).flatMap(({ rule, straggler, to }) => (to === null ? [] : [[rule, straggler]]));
}

const later = 30 * minuteMs;
const answered = { result: 'answered' } as const;

test('the judge of the worlds names each broken promise', () => {
  expect(rulesBroken(call(ada, 0), call(ada, later), call(ben, 5, answered))).toEqual([]);
  expect(rulesBroken(call(ada, 0, answered), call(ada, later))).toEqual([['called after an answer', false]]);
  expect(rulesBroken(call(ada, 0), call(ada, 5_000))).toEqual([['two calls at once', false]]);
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
