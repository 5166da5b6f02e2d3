import type { FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import type { Random } from '../../../src/sandbox/core/random.ts';
import type { WorldInput } from '../../../src/sandbox/core/world/schema.ts';
import type { Mix, WorldEvent } from '../mix.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import {
  carriedOutRefusals,
  clockSteps,
  foreignCall,
  inboundCall,
  listLag,
  numberedTemplate,
  restart,
  several,
  template,
} from './around.ts';
import type { Crowd, Person } from '../population.ts';

export type Records = NonNullable<WorldInput['records']>;

/** What makes a world different from one in which everything is told. */
export interface Traits {
  /** Null: the agent says its own line, to whoever calls it too. */
  firstMessage?: string | null;
  dialect?: 'spec' | 'extended';
  records?: Records;
  lateRings?: WorldInput['late_rings'];
  faults?: FaultRuleInput[];
  events?: WorldEvent[];
  workers?: Mix['workers'];
  /** A second campaign to some of the people. */
  second?: boolean;
  /** Calls open at once, where fewer than usual. */
  concurrent?: number;
  /** Processes die and replies are lost. */
  kills?: boolean;
}

export interface Kind {
  /** Its calls can be told apart. */
  apart?: boolean;
  crowd?: (random: Random) => Partial<Crowd>;
  draw: (random: Random, people: Person[], twoWorkers: boolean) => Traits;
}

/** Nothing but times and words, as far as the dialect allows. */
const wordsOnly: Records = { number_shown: 0, batch_shown: 0, reference_shown: 0 };

const lateWithinSettle = { share: 0.4, from_seconds: 30, to_seconds: 360 };

/** The service shows words alone, and three of ten answer. */
const usual = { apart: true, crowd: () => ({ count: 20, answering: 0.3, optOutEvery: 20, hasty: false }) };

function told(unanswered: Records['unanswered']): Traits {
  return { dialect: 'spec', records: { unanswered } };
}

/** Nobody can see a refused request that was carried out before its records are listed (docs/doubt.md, what remains). */
function withoutUnseenRefusals(traits: Traits): Traits {
  const isLate = traits.records?.listed_late !== undefined || traits.lateRings !== undefined;
  return isLate ? { ...traits, faults: [] } : traits;
}

function threeNames(): Partial<Crowd> {
  return { names: 3 };
}

/** By dialects: whatever a world is about, in `extended` its records tell less than they could. */
export const kinds: Record<string, Kind> = {
  namesakes: { crowd: threeNames, draw: () => ({ records: wordsOnly }) },
  one_line: { draw: () => ({ firstMessage: 'Hello, this is the clinic about your visit.', records: wordsOnly }) },
  no_line: { draw: () => ({ firstMessage: null, records: wordsOnly }) },
  altered: { draw: (random) => ({ records: { ...wordsOnly, altered: random.pick([0.1, 0.4, 1]) } }) },
  shortened: { draw: (random) => ({ records: { ...wordsOnly, shortened: random.pick([0.2, 0.6]) } }) },
  barge_in: { draw: () => ({ records: { ...wordsOnly, bare_hello: 0.1 } }) },
  withheld: {
    draw: (random) => ({
      records: {
        ...wordsOnly,
        withheld: random.pick([0.1, 0.5, 1]),
        withheld_form: random.pick(['empty', 'absent']),
        withheld_results: random.chance(0.5),
        unanswered: random.pick(['full', 'bare', 'ring', 'none']),
      },
    }),
  },
  partly_shown: {
    crowd: threeNames,
    draw: (random) => ({
      dialect: 'extended',
      records: { number_shown: random.pick([0, 0.5]), batch_shown: 0.5, reference_shown: random.pick([0, 0.5]) },
    }),
  },
  foreign: {
    draw: (random, people) => ({
      records: { ...wordsOnly, number_shown: random.pick([0, 1]) },
      events: several(random, [2, 5], () =>
        foreignCall(random, people, random.pick(['ours', 'ours unanswered', 'our words to a stranger', 'other words'])),
      ),
    }),
  },
  inbound: {
    draw: (random, people) => ({
      firstMessage: random.chance(0.5) ? template : null,
      records: { ...wordsOnly, direction_shown: 0, number_shown: random.pick([0, 1]) },
      events: several(random, [2, 6], () => inboundCall(random, people)),
    }),
  },
  listed_late: {
    draw: (random) => ({ records: { ...(random.chance(0.5) ? wordsOnly : {}), listed_late: lateWithinSettle } }),
  },
  list_lag: { draw: (random) => ({ records: random.chance(0.5) ? wordsOnly : {}, faults: [listLag(random)] }) },
  stragglers: { draw: () => ({ records: { listed_late: { share: 0.15, from_seconds: 1_200, to_seconds: 10_800 } } }) },
  clock_steps: {
    draw: (random) => ({
      records: random.chance(0.5) ? wordsOnly : {},
      events: [1, 2].flatMap(() => clockSteps(random, random.between(-30, 30) * minuteMs)),
      faults: random.chance(0.2) ? [{ id: 'no-date', operation: '*', effect: { type: 'no_date' } }] : [],
    }),
  },
  late_rings: {
    draw: () => ({ records: wordsOnly, lateRings: { share: 0.5, from_seconds: 60, to_seconds: 540 } }),
  },
  refused: { draw: (random) => ({ records: random.chance(0.5) ? wordsOnly : {}, faults: carriedOutRefusals(random) }) },
  skewed: {
    draw: (random, _people, twoWorkers) => {
      // One worker's clock is set right, or wrong, some time after its first request; of two, one is wrong.
      const [byMs, at] = [random.between(2_000, 15_000) * random.pick([1, -1]), random.pick([1_500, 20_000, 300_000])];
      const steps = [() => 0, (passedMs: number) => (passedMs < at && !twoWorkers ? 0 : byMs)];
      return { records: wordsOnly, workers: twoWorkers ? steps : steps.slice(1) };
    },
  },
  restarted: { draw: (random) => ({ records: random.chance(0.5) ? wordsOnly : {}, ...restart(random) }) },
  two_campaigns: {
    crowd: (random) => ({ names: random.pick([3, 100]) }),
    draw: () => ({ records: wordsOnly, second: true }),
  },
  mixed: {
    crowd: (random) => ({ names: random.pick([3, 5, 100]) }),
    draw: (random, people) =>
      withoutUnseenRefusals({
        records: {
          ...(random.chance(0.6) ? wordsOnly : { number_shown: 0.5, reference_shown: 0.5 }),
          altered: random.pick([0, 0.2]),
          shortened: random.pick([0, 0.2]),
          bare_hello: random.pick([0, 0.1]),
          withheld: random.pick([0, 0.2]),
          unanswered: random.pick(['full', 'bare', 'ring', 'none']),
          ...(random.chance(0.3) ? { listed_late: lateWithinSettle } : {}),
        },
        ...(random.chance(0.3) ? { lateRings: { share: 0.3, from_seconds: 60, to_seconds: 540 } } : {}),
        events: [
          ...several(random, [0, 2], () => foreignCall(random, people, random.pick(['ours', 'our words to a stranger']))),
          ...several(random, [0, 2], () => inboundCall(random, people)),
          ...(random.chance(0.4) ? clockSteps(random, random.between(-30, 30) * minuteMs) : []),
        ],
        faults: random.chance(0.3) ? carriedOutRefusals(random) : [],
        second: random.chance(0.3),
        kills: true,
      }),
  },
  apart_without_records: { ...usual, draw: () => told('none') },
  apart_bare_records: { ...usual, draw: () => told('bare') },
  apart_ring_counted: { ...usual, draw: () => told('ring') },
  apart_foreign_unanswered: {
    ...usual,
    draw: (random, people) => ({
      ...told('bare'),
      events: several(random, [2, 4], () => foreignCall(random, people, 'ours unanswered')),
    }),
  },
  apart_foreign_talks: {
    ...usual,
    // One of twenty talks is somebody else's, while the campaign calls.
    draw: (random, people) => ({
      ...told(random.pick(['none', 'bare'])),
      events: several(random, [1, 1], () => strangersTalk(random, people, Math.round(random.between(0, 5 * minuteMs)))),
    }),
  },
  // One in six of those who answer cuts the opening line off at some word; first names are shared, and a number behind them is not.
  interrupted: {
    crowd: () => ({ count: 84, answering: 0.3, optOutEvery: 20, hasty: false, firstNames: true }),
    draw: (random) => ({
      firstMessage: numberedTemplate,
      dialect: 'spec',
      concurrent: 10,
      records: { unanswered: random.pick(['none', 'bare']), shortened: 1 / 6 },
    }),
  },
  // The same with altered words, others who speak our words, a second campaign to some, and processes that die.
  interrupted_mixed: {
    crowd: () => ({ count: 24, answering: 0.5, firstNames: true, hasty: true }),
    draw: (random, people) => ({
      firstMessage: numberedTemplate,
      records: {
        ...wordsOnly,
        unanswered: random.pick(['full', 'bare', 'ring', 'none']),
        shortened: random.pick([1 / 6, 0.5]),
        altered: random.pick([0, 0.2, 0.5]),
        bare_hello: random.pick([0, 0.1]),
      },
      events: several(random, [0, 2], () => foreignCall(random, people, random.pick(['ours', 'our words to a stranger']))),
      second: random.chance(0.4),
      kills: true,
    }),
  },
  // Strangers talk long after the last of its own calls, while everybody waits to be called again: nothing tells whose words they are.
  foreign_while_idle: {
    crowd: usual.crowd,
    draw: (random, people) => ({
      ...told(random.pick(['none', 'bare'])),
      events: several(random, [1, 1], () => strangersTalk(random, people, Math.round(random.between(10, 60) * minuteMs))),
    }),
  },
};

function strangersTalk(random: Random, people: Person[], afterMs: number) {
  return foreignCall(random, people, random.pick(['our template', 'other words']), afterMs);
}
