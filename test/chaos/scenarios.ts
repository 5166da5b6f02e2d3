import type { CampaignRules, AccountRules } from '../../src/rules/campaign-rules.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { idRules, uploadRow } from '../ledger/edit-world.ts';
import type { UploadRow } from '../../src/ledger/people/edit-verdict.ts';
import { buildRules, callbackRules, collectedRule, hourMs, minuteMs } from '../support/campaign-rules.ts';
import { manners, oneOfFew } from '../world/population.ts';
import type { Act, specialActs } from './acts.ts';
import type { Transition } from './effect-log.ts';

export const campaignId = 'small';

export type Manner = (typeof manners)[number];

export interface Scenario {
  name: string;
  people: readonly Manner[];
  batchSize: number;
  dialect: 'spec' | 'extended';
  /** By the nth POST, or for every read. */
  troubles: readonly FaultRuleInput[];
  /** Operators' acts after a state change, once, each in its own operation. */
  orders?: readonly Order[];
  /** A second worker's act before an effect of the first such operation. */
  beside?: { operation: string; nth: number; act: Act };
  /** Calls at once; the service queues others. Default: 30. */
  lines?: number;
  /** Default: 20. */
  meanTalkSeconds?: number;
  unproven?: true;
  /** Inverts what the published types leave open. */
  otherwise?: true;
  /** The operator's decision for all calls; omitted: called rows are not called again. */
  word?: 'redial' | 'give_up';
  callsBack?: true;
  /** Calls one row first, then the operator decides. */
  pilot?: true;
  /** Rows may be added for an hour, and each is called soon or never. */
  staysOpen?: true;
  /** Consent can be revoked for its purpose. */
  hasPurpose?: true;
  /** Limit of its number's calls per hour. */
  perHour?: number;
  acts?: readonly (typeof specialActs)[number][];
}

export interface Order {
  after: Transition;
  act: Act;
}

/** Default: batches of two, no faults. */
function scenario(name: string, people: readonly Manner[], more: Partial<Scenario> = {}): Scenario {
  return { name, people, batchSize: 2, dialect: 'extended', troubles: [], ...more };
}

const single = { batchSize: 1 } as const;

const error = (status: number, when: 'before' | 'after', nth = 1): Pick<Scenario, 'troubles'> => ({
  troubles: [{ operation: 'batch_calls', nth, effect: { type: 'error', status, when } }],
});

const limited = (seconds: number, { nth = 1, ...more }: { nth?: number; when?: 'after' } = {}): Pick<Scenario, 'troubles'> => ({
  troubles: [{ operation: 'batch_calls', nth, effect: { type: 'rate_limited', seconds, ...more } }],
});

const hidden = (minutes: number): FaultRuleInput => ({
  operation: 'batch_calls',
  nth: 1,
  effect: { type: 'hide', ms: minutes * minuteMs },
});

const ordered = (after: Transition, act: Act): Pick<Scenario, 'orders'> => ({ orders: [{ after, act }] });

/** A second worker submits too, once the first request is answered. */
const another = { beside: { operation: 'submit', nth: 3, act: 'submit' } } as const;

/** The first answer is lost, its calls are listed while their batch is held, and the second batch keeps the round going. */
const heldThenListed = { ...single, troubles: [...error(503, 'after').troubles, hidden(6), ...limited(400, { nth: 2 }).troubles] };

const callingBack = { callsBack: true } as const;
const adding = { staysOpen: true, acts: ['add'], ...ordered('attempt open → settled', 'add') } as const;

/** Each reaches ledger states that others do not. */
export const scenarios: readonly Scenario[] = [
  scenario('calm', ['answers', 'busy_first']),
  scenario('one by one', ['opts_out', 'no_answer', 'answers'], single),
  scenario('limited', ['answers', 'busy'], limited(70)),
  scenario('limited, and yet called', ['answers', 'opts_out'], limited(70, { when: 'after' })),
  scenario('refused', ['answers', 'busy_first'], error(422, 'before')),
  scenario('refused, and yet called', ['answers', 'opts_out'], error(400, 'after')),
  scenario('answer lost', ['answers', 'busy_first'], error(503, 'after')),
  scenario('request lost', ['answers', 'busy'], error(503, 'before')),
  scenario('answer lost, by words alone', ['answers', 'opts_out'], { ...single, dialect: 'spec', ...error(503, 'after') }),
  scenario('listed late', ['answers', 'hasty'], { ...single, dialect: 'spec', troubles: [hidden(2)] }),
  scenario('limited for long', ['answers', 'busy'], limited(3_600)),
  scenario('answer lost, and listed after it was held', ['answers', 'no_answer', 'busy'], {
    ...single,
    troubles: [...error(503, 'after').troubles, hidden(4)],
  }),
  scenario('suppressed before it is sent', ['answers'], { ...single, ...ordered('batch · → intent', 'suppress') }),
  scenario('limited, and another worker came in', ['answers', 'busy'], { ...limited(70), ...another }),
  scenario('refused, and another worker came in', ['answers', 'busy_first'], { ...error(422, 'before'), ...another }),
  scenario('given up, and listed then', ['busy', 'answers'], {
    ...heldThenListed,
    ...ordered('batch unknown → held', 'resolve'),
    word: 'give_up',
  }),
  scenario('to be redialled, and listed then', ['busy', 'answers'], {
    ...heldThenListed,
    ...ordered('batch unknown → held', 'resolve'),
    word: 'redial',
  }),
  scenario('held, and listed then', ['answers', 'busy'], heldThenListed),
  scenario('asked to call back', ['asks_back', 'answers'], callingBack),
  scenario('asked to call back, and the answer lost', ['asks_back'], { ...single, ...error(503, 'after', 2), ...callingBack }),
  scenario('asked to call back, and the service wants no calls then', ['asks_back'], {
    ...single,
    ...limited(600, { nth: 2 }),
    ...callingBack,
  }),
  ...(['suppress', 'withdraw', 'update'] as const).map((act) =>
    scenario(`asked to call back, and ${act}`, ['asks_back'], { ...single, ...callingBack, ...ordered('promise · → open', act) }),
  ),
  scenario('a pilot', ['answers', 'busy_first', 'answers'], { pilot: true }),
  scenario('a pilot, and the answer lost', ['answers', 'busy', 'answers'], { ...error(503, 'after'), pilot: true }),
  scenario('rows by request', ['answers'], adding),
  scenario('rows by request, and the service wants no calls then', ['answers'], { ...single, ...limited(1_500, { nth: 2 }), ...adding }),
  scenario('consent taken back', ['answers', 'busy_first'], {
    hasPurpose: true,
    acts: ['revoke'],
    ...ordered('attempt open → settled', 'revoke'),
  }),
  scenario('one call an hour', ['answers', 'busy_first'], { perHour: 1 }),
  scenario('one call an hour, and the answer lost', ['answers', 'busy'], { ...error(503, 'after'), perHour: 1 }),
  scenario('house rules', ['busy_first', 'answers'], {
    ...single,
    acts: ['set house rules'],
    ...ordered('batch · → intent', 'set house rules'),
  }),
  scenario('one person', ['opts_out'], { ...single, dialect: 'spec' }),
];

/** Only with a service that reports its calls and withdraws those that wait for the one line. */
export const reportedScenarios: readonly Scenario[] = (['pause', 'suppress', 'withdraw', 'cancel', 'drain'] as const).map((act) =>
  scenario(`waiting, and ${act}`, ['answers', 'answers', 'busy'], {
    batchSize: 3,
    lines: 1,
    meanTalkSeconds: 8 * 60,
    ...ordered('batch posting → confirmed', act),
  }),
);

export const scenariosOf = (api: ServiceApi): readonly Scenario[] =>
  api === 'contract' ? scenarios : [...scenarios, ...reportedScenarios];

export const dialectOf = ({ dialect }: Scenario, api: ServiceApi): Scenario['dialect'] => (api === 'contract' ? dialect : 'extended');

export function rowOf(index: number, manner: Manner): UploadRow {
  const { e164, name } = oneOfFew(index, manner);
  return uploadRow(index + 1, `id${index}`, e164, name);
}

/** Uploaded while the campaign runs: another number in the first row, and one more row. */
export function editOf({ people }: Scenario): UploadRow[] {
  const first = rowOf(0, people[0] ?? 'answers');
  const e164 = '+13125550110';
  const corrected = { ...first, e164, cells: [e164, ...first.cells.slice(1)] };
  return [corrected, rowOf(people.length, 'busy_first')];
}

export function addedTo({ people }: Scenario): UploadRow {
  return rowOf(people.length + 1, 'answers');
}

export const expiresAfterMs = 20 * minuteMs;
const openForMs = hourMs;
export const pilotRows = 1;
export const purpose = 'visit';
export const houseWithinMs = hourMs;
export const houseRules: Omit<AccountRules, 'version'> = {
  calendar: { hours: null, closedOn: [] },
  caps: [{ by: 'number', calls: 1, withinMs: houseWithinMs }],
  callerLimits: null,
  requires: { consent: false, optOut: false },
};

export const askedBack = 10;

/** Once: a second request is left to an operator. */
const rulesOfCallBacks: Pick<CampaignRules, 'agentId' | 'results' | 'callback'> = {
  agentId: 'agent_callbacks',
  results: [collectedRule('later', 'callback_in', [askedBack], { next: { kind: 'callback' } })],
  callback: { ...callbackRules, at: { kind: 'in', key: 'callback_in' }, lateMs: minuteMs, most: 1 },
};

/** `begins`: start of a campaign that takes rows and has an end. */
export function rulesOf({ batchSize, callsBack, pilot, staysOpen, hasPurpose, perHour }: Scenario, begins?: number): CampaignRules {
  const { retry } = buildRules();
  const delays = { ...retry.delays, busy: [2 * minuteMs], no_answer: [2 * minuteMs], unreached: [2 * minuteMs] };
  return buildRules({
    ...idRules,
    ...(callsBack === true ? rulesOfCallBacks : {}),
    ...(pilot === true ? { pilot: { rows: pilotRows, pick: 'spread', next: 'ask' } } : {}),
    ...(staysOpen === true ? { staysOpen: { expiresAfterMs, newestFirst: true } } : {}),
    ...(staysOpen === true && begins !== undefined ? { endsAt: begins + openForMs } : {}),
    ...(hasPurpose === true ? { purpose } : {}),
    ...(perHour === undefined ? {} : { callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour, perDay: null } } }),
    firstMessage: 'Hello {{ name }}, this is the clinic about your visit.',
    pacing: { batchSize, refillThreshold: 1 },
    retry: { maxAttempts: 2, delays },
    timing: {
      pollMs: 40_000,
      settleMs: 3 * minuteMs,
      lateDeliveryMs: 2 * minuteMs,
      lateLookbackMs: 10 * minuteMs,
      dispatchMarginMs: minuteMs,
      analysisWaitMs: 3 * minuteMs,
    },
  });
}

export function sandboxOf(scenario: Scenario, api: ServiceApi): SandboxOptions {
  const { lines = 30, meanTalkSeconds = 20, otherwise = false } = scenario;
  const lag = { reportLagMs: 20_000 };
  const open = {
    batchCalling: { ...lag, cancelEnds: 'ringing', cancelMarks: 'all', mostListed: 2 },
    campaigns: { ...lag, otherBody: 'conflict' },
  } as const;
  const people = scenario.people.flatMap((manner, index) =>
    manner === 'asks_back' ? [{ number: rowOf(index, manner).e164, mood: 'friendly' as const, answers: { callback_in: askedBack } }] : [],
  );
  const world = people.length === 0 ? {} : { world: { people } };
  return { ...world, dialect: dialectOf(scenario, api), concurrency: lines, meanTalkSeconds, seed: 'chaos', ...(otherwise ? open : {}) };
}
