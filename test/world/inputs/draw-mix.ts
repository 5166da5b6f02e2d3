import type { FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import type { ServiceApi } from '../../../src/rules/service-api.ts';
import { Random } from '../../../src/sandbox/core/random.ts';
import { noon } from '../../sandbox/manual-clock.ts';
import { buildRows, buildRules, hourMs, minuteMs, talkResults } from '../../support/campaign-rules.ts';
import { strikePoints, reportPoints, type StrikePoint, type Strike } from '../strikes.ts';
import type { CampaignPlan, Hang, Mix, TurnEvent } from '../mix.ts';
import { drawNumbers } from '../population.ts';
import { control } from './around.ts';

/** Faults of the nth POSTs: at most one, or a hang, for each. */
export function drawPostFaults(random: Random): { faults: FaultRuleInput[]; hangs: Hang[] } {
  const faults: FaultRuleInput[] = [];
  const hangs: Hang[] = [];
  for (let nth = 1; nth <= 7; nth += 1) {
    if (!random.chance(0.4)) continue;
    const when = random.chance(0.5) ? 'before' : 'after';
    const add = (kind: string, effect: FaultRuleInput['effect']) =>
      faults.push({ id: `${kind}-14-${nth}`, operation: 'batch_calls', nth, effect });
    const kinds = ['429', 'error', 'reset', 'hang', 'truncate', 'html', 'partial', 'hide'] as const;
    const kind = random.pick(kinds);
    if (kind === '429') {
      const retryAfter = random.pick(['seconds', 'date', 'none']);
      const seconds = random.pick([0, 2, 30, 120, 1_200]);
      const code = random.pick(['rate_limit_exceeded', 'concurrent_limit_exceeded', 'system_busy']);
      add(kind, { type: 'rate_limited', retryAfter, seconds, code } as FaultRuleInput['effect']);
    } else if (kind === 'error') {
      const body = random.pick(['object', 'legacy', 'string', 'empty']);
      add(kind, {
        type: 'error',
        status: random.pick([500, 502, 503, 504, 408, 409, 425]),
        when,
        body,
      } as FaultRuleInput['effect']);
    } else if (kind === 'reset') add(kind, { type: 'reset', when });
    else if (kind === 'truncate') add(kind, { type: 'truncate' });
    else if (kind === 'html') add(kind, { type: 'html', status: random.pick([502, 200]), when });
    else if (kind === 'partial') add(kind, { type: 'partial', accept: Math.floor(random.between(0, 12)) });
    else if (kind === 'hide') add(kind, { type: 'hide', ms: Math.round(random.between(minuteMs, 12 * minuteMs)) });
    else
      hangs.push({
        nth,
        work: random.chance(0.5) ? 'first' : 'last',
        forMs: Math.round(random.between(1_000, 14 * minuteMs)),
      });
  }
  return { faults, hangs: hangs.slice(0, 2) };
}

function drawReadFaults(random: Random): FaultRuleInput[] {
  const faults: FaultRuleInput[] = [];
  const add = (operation: 'list_conversations' | 'get_conversation', id: string, effect: FaultRuleInput['effect']) =>
    faults.push({
      id: `${id}-${operation}`,
      operation,
      ...(random.chance(0.5)
        ? { probability: random.between(0.02, 0.3) }
        : { nth: [1, 2, 3, 5, 8, 13].filter(() => random.chance(0.5)).concat(21) }),
      times: 12,
      effect,
    });
  for (const operation of ['list_conversations', 'get_conversation'] as const) {
    if (random.chance(0.25))
      add(operation, '429', {
        type: 'rate_limited',
        retryAfter: random.pick(['seconds', 'date', 'none']),
        seconds: random.pick([1, 20, 300]),
      });
    if (random.chance(0.25))
      add(operation, 'error', {
        type: 'error',
        status: random.pick([500, 503]),
        when: random.chance(0.5) ? 'before' : 'after',
      });
    if (random.chance(0.2)) add(operation, 'reset', { type: 'reset', when: random.chance(0.5) ? 'before' : 'after' });
    if (random.chance(0.2)) add(operation, 'truncate', { type: 'truncate' });
    if (random.chance(0.2)) add(operation, 'html', { type: 'html', status: random.pick([200, 502]), when: 'after' });
  }
  if (random.chance(0.3)) add('list_conversations', 'hide', { type: 'hide', ms: Math.round(random.between(1_000, 10 * minuteMs)) });
  if (random.chance(0.12)) add('get_conversation', 'missing', { type: 'missing' });
  return faults;
}

export function drawStrikes(random: Random, points: readonly StrikePoint[] = strikePoints): Strike[] {
  const strikes: Strike[] = [];
  for (const point of points) {
    if (!random.chance(0.3)) continue;
    const most = point.startsWith('record') ? 40 : point.startsWith('commit') ? 80 : 6;
    const nth = 1 + Math.floor(random.between(0, most));
    strikes.push({ point, nth });
    // A database that stays away: the write is tried again.
    if (point === 'commit: fails') for (let more = 1; more <= 4; more += 1) strikes.push({ point, nth: nth + more });
  }
  return strikes;
}

/** Some of the people call in. */
function drawInbound(random: Random, numbers: readonly string[], count: number): TurnEvent[] {
  return Array.from({ length: count }, () => {
    const tick = 1 + Math.floor(random.between(0, 40));
    const from = random.pick(numbers as [string, ...string[]]);
    return { tick, happen: control('inbound', { phone_number_id: 'pn_main', from }) };
  });
}

function drawStop(random: Random): TurnEvent {
  const tick = 1 + Math.floor(random.between(0, 30));
  const change = random.chance(0.5) ? 'pause' : 'cancel';
  return { tick, happen: (_, hands) => hands.change(0, change) };
}

export function drawMix(seed: number | string): Mix {
  const random = new Random('mix', seed);
  const dialect = random.chance(0.5) ? 'extended' : 'spec';
  const numbers = drawNumbers(random, 3 + Math.floor(random.between(0, 14)), random.chance(0.2));
  const sameLines = random.chance(0.15);
  const sameNames = random.chance(0.2);
  const batchSize = random.pick([20, 8, 5, 3]);
  const rules = buildRules({
    results: talkResults,
    retry: { ...buildRules().retry, maxAttempts: random.pick([2, 2, 3]) },
    firstMessage: sameLines
      ? 'Hello, this is about your appointment.'
      : random.chance(0.1)
        ? null
        : 'Hello {{ name }}, this is about your appointment.',
    variables: random.chance(0.7)
      ? { key: 'variables', values: { name: '{{ name }}' }, reference: random.chance(0.7) ? 'carillon_ref' : null }
      : null,
    pacing: {
      maxConcurrentCalls: random.pick([50, 20, 6]),
      startsPerMinute: random.chance(0.2) ? 10 : null,
      batchSize,
      warmUpMs: 0,
      priority: 10,
      refillThreshold: random.pick([10, 5, 1]),
    },
    endsAt: random.chance(0.1) ? noon + Math.round(random.between(10 * minuteMs, 3 * hourMs)) : null,
  });
  const nameOf = (index: number) => `Guest ${sameNames ? Math.floor(index / 2) : index}`;
  const known = random.chance(0.5);
  const campaigns: CampaignPlan[] = [{ campaignId: 'first', rules, rows: buildRows(numbers, nameOf) }];
  if (random.chance(0.3)) {
    const others = numbers.filter(() => random.chance(0.6));
    const chosen = others.length > 0 ? others : numbers;
    campaigns.push({
      campaignId: 'second',
      rules: { ...rules, pacing: { ...rules.pacing, batchSize: random.pick([20, 4]) } },
      // The same people under the same names, or under others.
      rows: buildRows(chosen, (index) => (known ? nameOf(numbers.indexOf(chosen[index] ?? '')) : `Visitor ${index}`)),
    });
  }
  const { faults, hangs } = drawPostFaults(random);
  return {
    seed,
    sandbox: {
      dialect,
      listOrder: random.chance(0.7) ? 'newest_first' : 'oldest_first',
      unansweredCreateRecord: random.chance(0.6),
      concurrency: random.pick([30, 30, 5]),
      meanTalkSeconds: random.pick([20, 60]),
    },
    campaigns,
    faults: [...faults, ...drawReadFaults(random)],
    hangs,
    strikes: drawStrikes(random),
    sweepDuring: [1, 2, 3, 4, 5].filter(() => random.chance(0.2)),
    readOutage: random.chance(0.12)
      ? { afterMs: Math.round(random.between(0, 40 * minuteMs)), forMs: random.pick([hourMs, 3 * hourMs]) }
      : null,
    events: [...drawInbound(random, numbers, random.chance(0.4) ? 4 : 0), ...(random.chance(0.15) ? [drawStop(random)] : [])],
    redial: random.chance(0.4),
  };
}

/** As `drawMix`, with everything at once that makes records hard to tell apart. */
export function drawTangledMix(seed: number): Mix {
  const name = `tangled ${seed}`;
  const random = new Random(name);
  const mix = drawMix(name);
  const numbers = drawNumbers(random, 4 + Math.floor(random.between(0, 8)), false);
  const rules = mix.campaigns[0]?.rules ?? buildRules();
  const nameOf = (index: number) => `Guest ${index}`;
  return {
    ...mix,
    sandbox: { ...mix.sandbox, listOrder: 'oldest_first' },
    campaigns: ['first', 'second'].map((campaignId) => ({ campaignId, rules, rows: buildRows(numbers, nameOf) })),
    events: drawInbound(random, numbers, 8),
    readOutage: { afterMs: Math.round(random.between(0, 30 * minuteMs)), forMs: hourMs },
  };
}

/** As `drawMix`, with many small batches from a vouched number: submits go on, and are struck meanwhile. */
export function drawChainedMix(seed: number): Mix {
  const name = `chained ${seed}`;
  const random = new Random(name);
  const mix = drawMix(name);
  const numbers = drawNumbers(random, 10 + Math.floor(random.between(0, 7)), random.chance(0.2));
  const pacing = { batchSize: random.pick([1, 2, 3]), refillThreshold: 1, maxConcurrentCalls: random.pick([50, 6]) };
  const { firstMessage, variables, retry } = mix.campaigns[0]?.rules ?? buildRules();
  const rules = buildRules({ firstMessage, variables, retry, pacing });
  return {
    ...mix,
    sandbox: { ...mix.sandbox, dialect: 'extended' },
    campaigns: [{ campaignId: 'first', rules, rows: buildRows(numbers, (index) => `Guest ${index}`) }],
    strikes: [...drawStrikes(random), ...drawStrikes(random)],
  };
}

/** What the published types leave open: lags, words, withdrawals. */
function drawSettings(random: Random, lagMs: number): Mix['sandbox'] {
  const reportLagMs = random.pick([0, 0, 20_000, 180_000]);
  return {
    batchCalling: {
      unanswered: random.pick(['failed', 'completed']),
      cancelEnds: random.pick(['waiting', 'ringing', 'talking']),
      cancelMarks: random.pick(['withdrawn', 'all']),
      listOrder: random.pick(['newest_first', 'oldest_first']),
      mostListed: random.pick([100, 2]),
      dispatchedMs: random.pick([0, 5_000]),
      listLagMs: lagMs,
      reportLagMs,
    },
    campaigns: {
      otherBody: random.pick(['existing', 'conflict']),
      recipientIds: random.pick(['leads', 'everywhere']),
      keyKeptMs: random.pick([null, 24 * hourMs]),
      listLagMs: lagMs,
      reportLagMs,
    },
  };
}

/** The same with a service that reports its calls. Where nothing dies, nothing dies around reports. */
export function asReported<Drawn extends Omit<Mix, 'seed'>>(mix: Drawn, api: Exclude<ServiceApi, 'contract'>, random: Random): Drawn {
  const { strikes = [] } = mix;
  const isProven = random.chance(0.7);
  // A refusal that was carried out cannot be seen before the list shows it; how late that is, somebody must have measured.
  const lagMs = random.pick(isProven ? [0, 0, 5_000, 120_000] : [0, 0, 5_000]);
  return {
    ...mix,
    api,
    sandbox: { ...mix.sandbox, ...drawSettings(random, lagMs), dialect: 'extended' },
    ...(isProven ? { provenLagMs: lagMs } : {}),
    strikes: [...strikes, ...(strikes.length > 0 ? drawStrikes(random, reportPoints) : [])],
  };
}
