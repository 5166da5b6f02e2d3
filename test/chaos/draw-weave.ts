import { Random } from '../../src/sandbox/core/random.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { acts, actsOfPersons, actsThatEnd, type Act, type Intervention, type Plan } from './acts.ts';
import { sendings } from './console/person.ts';
import { manners } from '../world/population.ts';
import type { Scenario } from './scenarios.ts';
import { refusals, steps, strikes } from '../world/faults.ts';

const mostInterventions = 4;

/** A small campaign from a seed. The API changes nothing drawn for the contract's. */
export function drawScenario(seed: number, api: ServiceApi): Scenario {
  const scenario = drawSmall(seed);
  if (api === 'contract') return scenario;
  const random = new Random('reported weave', seed);
  return {
    ...scenario,
    ...(random.chance(0.4) ? { lines: 1, meanTalkSeconds: random.pick([60, 8 * 60]) } : {}),
    ...(random.chance(0.4) ? { otherwise: true } : {}),
    ...(random.chance(0.2) ? { unproven: true } : {}),
  };
}

function drawSmall(seed: number): Scenario {
  const random = new Random('weave', seed);
  return {
    name: `seed ${seed}`,
    people: Array.from({ length: 1 + Math.floor(random.between(0, 3)) }, () => random.pick(manners)),
    batchSize: random.chance(0.5) ? 1 : 2,
    dialect: random.chance(0.5) ? 'extended' : 'spec',
    troubles: [1, 2, 3].flatMap((nth) => (random.chance(0.3) ? [drawTrouble(random, nth)] : [])),
  };
}

function drawTrouble(random: Random, nth: number): FaultRuleInput {
  const operation = 'batch_calls';
  const when = random.chance(0.5) ? 'before' : 'after';
  const kind = random.pick(['limited', 'refused', 'failed', 'cut', 'hidden', 'partly'] as const);
  switch (kind) {
    case 'limited':
      return { operation, nth, effect: { type: 'rate_limited', seconds: random.pick([2, 70, 600]), when } };
    case 'refused':
      return { operation, nth, effect: { type: 'error', status: random.pick([400, 422]), when } };
    case 'failed':
      return { operation, nth, effect: { type: 'error', status: random.pick([500, 503, 504]), when } };
    case 'cut':
      return { operation, nth, effect: { type: 'reset', when } };
    case 'hidden':
      return { operation, nth, effect: { type: 'hide', ms: Math.round(random.between(minuteMs / 2, 2 * minuteMs)) } };
    case 'partly':
      return { operation, nth, effect: { type: 'partial', accept: 1 } };
  }
}

export function drawPlan(seed: number, api: ServiceApi, inside: boolean): Plan {
  const random = new Random('weave plan', seed);
  // A separate generator, so that the rest of a seed stays as it was.
  const ways = new Random('weave ways', seed);
  const told = api === 'contract' ? null : new Random('weave told', seed);
  const share = random.pick([0.02, 0.05, 0.1]);
  const drawn = new Map<string, Intervention | null>();
  let left = mostInterventions;
  const draw = (at: { step: number; nth: number }): Intervention | null => {
    if (left === 0 || !random.chance(share)) return null;
    left -= 1;
    if (random.chance(0.1)) return { ...at, clockByMs: random.pick(steps) };
    if (random.chance(0.1)) return { ...at, strike: random.pick(refusals), statement: 1 + Math.floor(random.between(0, 20)) };
    const strike = random.chance(0.6) ? random.pick(strikes) : undefined;
    if (strike !== undefined && random.chance(0.6)) return { ...at, strike };
    const late = random.pick([0, 0, 90_000, 40 * minuteMs]);
    const besideFault = random.chance(0.2) ? { nth: Math.floor(random.between(0, 3)), strike: random.pick(strikes) } : null;
    const other = random.pick(acts);
    const ofPersons = ways.chance(0.08) ? ways.pick(actsThatEnd) : other;
    const act: Act = told?.chance(0.15) === true ? 'webhook' : ofPersons;
    const beside = {
      act,
      ...([...actsOfPersons, ...actsThatEnd].includes(act) && ways.chance(0.6) ? { sending: ways.pick(sendings) } : {}),
      ...(late === 0 ? {} : { lateMs: late }),
      ...(besideFault === null ? {} : { struck: besideFault }),
      ...(inside && late === 0 && strike === undefined && random.chance(0.4) ? { inside: true } : {}),
    };
    return { ...at, beside, ...(strike === undefined ? {} : { strike }) };
  };
  return ({ step, nth }) => {
    const key = `${step} ${nth}`;
    if (!drawn.has(key)) drawn.set(key, draw({ step, nth }));
    return drawn.get(key) ?? null;
  };
}

export function planOf(interventions: readonly Intervention[]): Plan {
  return ({ step, nth }) => interventions.find((each) => each.step === step && each.nth === nth) ?? null;
}
