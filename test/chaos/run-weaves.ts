import { judge, type Breach } from '../world/judge/judge.ts';
import { nameStep } from '../world/faults.ts';
import type { Intervention, Plan } from './acts.ts';
import type { Case } from './design.ts';
import { drawPlan, drawScenario, planOf } from './draw-weave.ts';
import type { Effect } from './effect-log.ts';
import { gatherEnding } from './gather.ts';
import type { Place } from './places.ts';
import type { Scenario } from './scenarios.ts';
import { SmallCampaign, type Ending } from './small-campaign.ts';

interface Weave {
  ending: Ending;
  story: string;
}

export function runCase(place: Place, { scenario, intervention }: Pick<Case, 'scenario' | 'intervention'>): Promise<Weave> {
  return run(place, scenario, planOf([intervention]));
}

export function runSeed(place: Place, seed: number): Promise<Weave> {
  return run(place, drawScenario(seed, place.api), drawPlan(seed, place.api, place.dialect === 'postgres'));
}

async function run(place: Place, scenario: Scenario, plan: Plan): Promise<Weave> {
  const ending = await new SmallCampaign(place, scenario, plan).run();
  const breaches = judge(gatherEnding(ending)).filter((breach) => !isOwed(breach));
  return { ending, story: breaches.length === 0 ? '' : tell(ending, breaches) };
}

/** Three unanswered batches in a row are meant to pause a campaign, and so is Temporal's update. */
function isOwed({ rule, what }: Breach): boolean {
  return rule === 'needs a hand' && /in a row/.test(what);
}

const mostLines = 20;
const mostEffects = 12;

function tell({ scenario, done, effects, sandbox }: Ending, breaches: readonly Breach[]): string {
  const { name, people, batchSize, dialect, troubles } = scenario;
  const begun = effects[0]?.at ?? 0;
  const at = (instant: number): string => `${Math.round((instant - begun) / 1000)} s`;
  const lines = effects
    .filter((effect) => isTelling(effect, done))
    .slice(0, mostEffects)
    .map(({ who, operation, nth, what, strike, transitions, at: instant, step }) => {
      const moved = transitions.filter((each) => each.startsWith('batch')).join(', ');
      const { clockByMs } = done.find((each) => each.step === step && each.nth === nth) ?? {};
      const befell = [strike?.toUpperCase(), clockByMs === undefined ? undefined : nameStep(clockByMs)].filter(Boolean);
      return `  ${at(instant)} ${who}, ${operation}, effect ${nth + 1}: ${[what, moved, ...befell].filter(Boolean).join('; ')}`;
    });
  const calls = sandbox
    .calls()
    .filter(({ to }) => breaches.some((breach) => breach.to === to))
    .map(
      ({ to, acceptedAt, requestId, result }) => `  service: called ${to} at ${at(acceptedAt)} for ${requestId}: ${result ?? 'under way'}`,
    );
  return [
    `${name}: ${people.join(', ')}; batches of ${batchSize}, dialect ${dialect}; ${JSON.stringify(troubles)}`,
    ...breaches.slice(0, 2).map(({ rule, to, what }) => `  ${rule}${to === null ? '' : ` ${to}`}: ${what}`),
    ...lines,
    ...calls,
  ]
    .slice(0, mostLines)
    .join('\n');
}

/** Struck, dialling, or beside another process. */
function isTelling({ step, nth, transitions, strike, what }: Effect, done: readonly Intervention[]): boolean {
  const disturbed = done.some((each) => each.step === step && each.nth === nth);
  return disturbed || strike !== null || what.startsWith('POST') || transitions.some((each) => each.startsWith('batch'));
}
