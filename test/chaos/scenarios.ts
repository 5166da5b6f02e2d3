import type { CampaignRules, HouseRules } from '../../src/rules/campaign-rules.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { idRules, uploadRow } from '../ledger/edit-world.ts';
import type { UploadRow } from '../../src/ledger/people/edit-verdict.ts';
import { buildRules, callbackRules, hourMs, minuteMs } from '../support/campaign-rules.ts';
import type { Act, specialActs } from './acts.ts';
import type { Transition } from './effect-log.ts';

/** People by what they do when their phone rings; the ends of their numbers decide. */
const endings = {
  answers: '0100',
  busy: '0101',
  silent: '0102',
  hasty: '0105',
  opts_out: '0108',
  busy_first: '0110',
  asks_back: '0130',
} as const;
export type Manner = keyof typeof endings;
export const manners = Object.keys(endings) as [Manner, ...Manner[]];

/** A small campaign, and what the service does wrong. */
export interface Scenario {
  name: string;
  people: readonly Manner[];
  batchSize: number;
  dialect: 'spec' | 'extended';
  /** By the nth POST, or for every read. */
  troubles: readonly FaultRuleInput[];
  /** What persons do once a change of state was made, each in an operation of its own, once. */
  orders?: readonly Order[];
  /** What a second worker does before an effect of the first operation of this name. */
  beside?: { operation: string; nth: number; act: Act };
  /** How many calls go on at once; the others wait at the service. Thirty when left out. */
  lines?: number;
  /** Twenty seconds when left out. */
  meanTalkSeconds?: number;
  /** Nobody has proven the look-up of the account. */
  unproven?: true;
  /** What the published types leave open is the other way. */
  otherwise?: true;
  /** The operator's word, whatever has become of the calls; left out: nobody is called again who was. */
  word?: 'redial' | 'give_up';
  /** People are called back who ask for it. */
  callsBack?: true;
  /** One row is called before all others, and a person decides then. */
  pilot?: true;
  /** Rows may be added for an hour, and each is called soon or never. */
  staysOpen?: true;
  /** It calls for the purpose that consent can be taken back for. */
  hasPurpose?: true;
  /** Its number makes so many calls in an hour at most. */
  perHour?: number;
  /** What somebody may do at any moment beside the usual. */
  acts?: readonly (typeof specialActs)[number][];
}

export interface Order {
  after: Transition;
  act: Act;
}

const error = (status: number, when: 'before' | 'after', nth: number | number[] = 1): FaultRuleInput => ({
  operation: 'batch_calls',
  nth,
  effect: { type: 'error', status, when },
});

/** The first answer is lost, and its calls are listed when their batch has been held; the second batch waits, so that the round goes on. */
const heldThenListed: readonly FaultRuleInput[] = [
  error(503, 'after'),
  { operation: 'batch_calls', nth: 1, effect: { type: 'hide', ms: 6 * minuteMs } },
  { operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 400 } },
];

/** Each reaches states of the ledger that the others do not. */
export const scenarios: readonly Scenario[] = [
  { name: 'calm', people: ['answers', 'busy_first'], batchSize: 2, dialect: 'extended', troubles: [] },
  { name: 'one by one', people: ['opts_out', 'silent', 'answers'], batchSize: 1, dialect: 'extended', troubles: [] },
  {
    name: 'limited',
    people: ['answers', 'busy'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [{ operation: 'batch_calls', nth: 1, effect: { type: 'rate_limited', seconds: 70 } }],
  },
  {
    name: 'limited, and yet called',
    people: ['answers', 'opts_out'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [{ operation: 'batch_calls', nth: 1, effect: { type: 'rate_limited', seconds: 70, when: 'after' } }],
  },
  {
    name: 'refused',
    people: ['answers', 'busy_first'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(422, 'before')],
  },
  {
    name: 'refused, and yet called',
    people: ['answers', 'opts_out'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(400, 'after')],
  },
  {
    name: 'answer lost',
    people: ['answers', 'busy_first'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(503, 'after')],
  },
  {
    name: 'request lost',
    people: ['answers', 'busy'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(503, 'before')],
  },
  {
    name: 'answer lost, by words alone',
    people: ['answers', 'opts_out'],
    batchSize: 1,
    dialect: 'spec',
    troubles: [error(503, 'after')],
  },
  {
    name: 'listed late',
    people: ['answers', 'hasty'],
    batchSize: 1,
    dialect: 'spec',
    troubles: [{ operation: 'batch_calls', nth: 1, effect: { type: 'hide', ms: 2 * minuteMs } }],
  },
  {
    name: 'limited for long',
    people: ['answers', 'busy'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [{ operation: 'batch_calls', nth: 1, effect: { type: 'rate_limited', seconds: 3_600 } }],
  },
  {
    name: 'answer lost, and listed after it was held',
    people: ['answers', 'silent', 'busy'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [error(503, 'after'), { operation: 'batch_calls', nth: 1, effect: { type: 'hide', ms: 4 * minuteMs } }],
  },
  {
    name: 'suppressed before it is sent',
    people: ['answers'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [],
    orders: [{ after: 'batch · → intent', act: 'suppress' }],
  },
  {
    name: 'limited, and another worker came in',
    people: ['answers', 'busy'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [{ operation: 'batch_calls', nth: 1, effect: { type: 'rate_limited', seconds: 70 } }],
    beside: { operation: 'submit', nth: 3, act: 'submit' },
  },
  {
    name: 'refused, and another worker came in',
    people: ['answers', 'busy_first'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(422, 'before')],
    beside: { operation: 'submit', nth: 3, act: 'submit' },
  },
  {
    name: 'given up, and listed then',
    people: ['busy', 'answers'],
    batchSize: 1,
    dialect: 'extended',
    troubles: heldThenListed,
    orders: [{ after: 'batch unknown → held', act: 'resolve' }],
    word: 'give_up',
  },
  {
    name: 'to be redialled, and listed then',
    people: ['busy', 'answers'],
    batchSize: 1,
    dialect: 'extended',
    troubles: heldThenListed,
    orders: [{ after: 'batch unknown → held', act: 'resolve' }],
    word: 'redial',
  },
  {
    name: 'held, and listed then',
    people: ['answers', 'busy'],
    batchSize: 1,
    dialect: 'extended',
    troubles: heldThenListed,
  },
  { name: 'asked to call back', people: ['asks_back', 'answers'], batchSize: 2, dialect: 'extended', troubles: [], callsBack: true },
  {
    name: 'asked to call back, and the answer lost',
    people: ['asks_back'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [error(503, 'after', 2)],
    callsBack: true,
  },
  {
    name: 'asked to call back, and the service wants no calls then',
    people: ['asks_back'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [{ operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 600 } }],
    callsBack: true,
  },
  ...(['suppress', 'withdraw', 'update'] as const).map((act): Scenario => ({
    name: `asked to call back, and ${act}`,
    people: ['asks_back'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [],
    callsBack: true,
    orders: [{ after: 'promise · → open', act }],
  })),
  { name: 'a pilot', people: ['answers', 'busy_first', 'answers'], batchSize: 2, dialect: 'extended', troubles: [], pilot: true },
  {
    name: 'a pilot, and the answer lost',
    people: ['answers', 'busy', 'answers'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(503, 'after')],
    pilot: true,
  },
  {
    name: 'rows by request',
    people: ['answers'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [],
    staysOpen: true,
    acts: ['add'],
    orders: [{ after: 'attempt open → settled', act: 'add' }],
  },
  {
    name: 'rows by request, and the service wants no calls then',
    people: ['answers'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [{ operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 1_500 } }],
    staysOpen: true,
    acts: ['add'],
    orders: [{ after: 'attempt open → settled', act: 'add' }],
  },
  {
    name: 'consent taken back',
    people: ['answers', 'busy_first'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [],
    hasPurpose: true,
    acts: ['revoke'],
    orders: [{ after: 'attempt open → settled', act: 'revoke' }],
  },
  { name: 'one call an hour', people: ['answers', 'busy_first'], batchSize: 2, dialect: 'extended', troubles: [], perHour: 1 },
  {
    name: 'one call an hour, and the answer lost',
    people: ['answers', 'busy'],
    batchSize: 2,
    dialect: 'extended',
    troubles: [error(503, 'after')],
    perHour: 1,
  },
  {
    name: 'house rules',
    people: ['busy_first', 'answers'],
    batchSize: 1,
    dialect: 'extended',
    troubles: [],
    acts: ['set house rules'],
    orders: [{ after: 'batch · → intent', act: 'set house rules' }],
  },
  { name: 'one person', people: ['opts_out'], batchSize: 1, dialect: 'spec', troubles: [] },
];

/** Calls that wait at the service for the one line to be free, when somebody does something about it. */
function waiting(act: Act): Scenario {
  const small: Omit<Scenario, 'name'> = { people: ['answers', 'answers', 'busy'], batchSize: 3, dialect: 'extended', troubles: [] };
  const order: Order = { after: 'batch posting → confirmed', act };
  return { ...small, name: `waiting, and ${act}`, lines: 1, meanTalkSeconds: 8 * 60, orders: [order] };
}

/** What only a service that reports its calls, and gives back those that wait, can come to. */
export const reportedScenarios: readonly Scenario[] = (['pause', 'suppress', 'withdraw', 'cancel', 'drain'] as const).map(waiting);

/** The scenarios of an API. */
export const scenariosOf = (api: ServiceApi): readonly Scenario[] =>
  api === 'contract' ? scenarios : [...scenarios, ...reportedScenarios];

/** The published interfaces are served beside the contract. */
export const dialectOf = ({ dialect }: Scenario, api: ServiceApi): Scenario['dialect'] => (api === 'contract' ? dialect : 'extended');

const names = ['Ada Abernathy', 'Bartholomew Brix', 'Cordelia Castellanos', 'Dmitri Dunworth', 'Esmeralda Eklund', 'Fergus Falk'];

/** Row `index` of a list, from 0. */
export function rowOf(index: number, manner: Manner): UploadRow {
  return uploadRow(index + 1, `id${index}`, `+1${201 + index}555${endings[manner]}`, names[index]);
}

/** What a person uploads while the campaign runs: the first row has another number, and there is one more. */
export function editOf({ people }: Scenario): UploadRow[] {
  const first = rowOf(0, people[0] ?? 'answers');
  const e164 = '+13125550110';
  const corrected = { ...first, e164, cells: [e164, ...first.cells.slice(1)] };
  return [corrected, rowOf(people.length, 'busy_first')];
}

/** Whom a web form adds while the campaign runs. */
export function addedTo({ people }: Scenario): UploadRow {
  return rowOf(people.length + 1, 'answers');
}

/** How long after it was added a row may be called. */
export const expiresAfterMs = 20 * minuteMs;
/** How long rows may be added. */
export const openForMs = hourMs;
/** Rows that are called before all others. */
export const pilotRows = 1;
/** What people consented to. */
export const purpose = 'visit';
/** Nobody's number is called twice in so long. */
export const houseWithinMs = hourMs;
export const houseRules: Omit<HouseRules, 'version'> = {
  calendar: { hours: null, closedOn: [] },
  caps: [{ by: 'number', calls: 1, withinMs: houseWithinMs }],
  callerLimits: null,
  requires: { consent: false, optOut: false },
};

/** What people say who ask to be called back, each time they pick up, and how long after the call that is. */
const askedBack = 'in 10 minutes';
export const askedBackMs = 10 * minuteMs;
/** As records have it: a sentence. */
export const saidBack = 'In 10 minutes.';

/** Once: whoever asks again in that call is left to an operator. */
const callingBack: Pick<CampaignRules, 'agentId' | 'results' | 'callback'> = {
  agentId: 'agent_callbacks',
  results: [
    {
      result: 'later',
      value: { source: 'collected', key: 'callback_at', values: [saidBack] },
      talkUnderMs: null,
      goal: false,
      next: { kind: 'callback' },
    },
  ],
  callback: { ...callbackRules, lateMs: minuteMs, most: 1 },
};

export function rulesOf({ batchSize, callsBack, pilot, staysOpen, hasPurpose, perHour }: Scenario): CampaignRules {
  const { retry } = buildRules();
  const delays = { ...retry.delays, busy: [2 * minuteMs], no_answer: [2 * minuteMs], unreached: [2 * minuteMs] };
  return buildRules({
    ...idRules,
    ...(callsBack === true ? callingBack : {}),
    ...(pilot === true ? { pilot: { rows: pilotRows, pick: 'spread', next: 'ask' } } : {}),
    ...(staysOpen === true ? { staysOpen: { expiresAfterMs, newestFirst: true } } : {}),
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
    manner === 'asks_back' ? [{ number: rowOf(index, manner).e164, mood: 'friendly' as const, answers: { callback_at: askedBack } }] : [],
  );
  const world = people.length === 0 ? {} : { world: { people } };
  return { ...world, dialect: dialectOf(scenario, api), concurrency: lines, meanTalkSeconds, seed: 'chaos', ...(otherwise ? open : {}) };
}
