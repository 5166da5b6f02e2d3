import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { Case } from './design.ts';
import { nameTry } from './console/person.ts';
import { drawPlan, drawScenario, planOf } from './draw-weave.ts';
import type { Transition } from './effect-log.ts';
import type { Intervention, Plan } from './acts.ts';
import { judge, type Breach } from '../world/judge/judge.ts';
import { gatherEnding } from './gather.ts';
import { kindsOf, Matrix } from './matrix.ts';
import type { Place } from './places.ts';
import type { Scenario } from './scenarios.ts';
import { notSmallest, shrink, without } from './shrink.ts';
import { SmallCampaign, type Ending } from './small-campaign.ts';
import { eventText } from './story.ts';

/** What a set of cases or seeds came to. */
export interface Weaves {
  cases: number;
  /** Cases whose effect was not come to: what happened before was not quite the same. */
  missed: number;
  calls: number;
  rows: number;
  /** Rows left to an operator. */
  unresolved: number;
  /** Campaigns that had paused by themselves, as they are to after three batches in a row without an answer. */
  paused: number;
  /** Cases of the design by how they disturb. */
  design: Map<string, number>;
  faults: Map<string, number>;
  /** Requests to the API by what became of them. */
  requests: Map<string, number>;
  matrix: Matrix;
  /** A story for each that broke a promise. */
  broken: string[];
}

export function emptyWeaves(api: ServiceApi = 'contract'): Weaves {
  return {
    cases: 0,
    missed: 0,
    calls: 0,
    rows: 0,
    unresolved: 0,
    paused: 0,
    design: new Map(),
    faults: new Map(),
    requests: new Map(),
    matrix: new Matrix(api),
    broken: [],
  };
}

interface Judged {
  ending: Ending;
  breaches: Breach[];
  /** Whether it paused as it is to. */
  paused: boolean;
}

async function runOne(place: Place, scenario: Scenario, plan: Plan): Promise<Judged> {
  const ending = await new SmallCampaign(place, scenario, plan).run();
  const all = judge(gatherEnding(ending));
  const breaches = all.filter((breach) => !isOwed(breach));
  return { ending, breaches, paused: breaches.length < all.length };
}

/** Three batches in a row without an answer, or without Temporal's word, pause a campaign, and are meant to. */
function isOwed({ rule, what }: Breach): boolean {
  return rule === 'needs a hand' && /in a row/.test(what);
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

function note(weaves: Weaves, { ending, paused }: Judged, aimed: readonly Transition[]): void {
  const { recipients } = ending.ledger;
  weaves.cases += 1;
  weaves.calls += ending.sandbox.calls().length;
  weaves.rows += recipients.length;
  weaves.unresolved += recipients.filter(({ outcome }) => outcome === 'unresolved').length;
  weaves.paused += paused ? 1 : 0;
  weaves.matrix.note(ending, aimed);
  for (const { strike } of ending.effects) if (strike !== null) count(weaves.faults, strike);
  for (const { act, begun, tries } of ending.person.asked) {
    for (const each of tries) count(weaves.requests, `${act} ${nameTry(each)}`);
    for (let lost = tries.length; lost < begun; lost += 1) count(weaves.requests, `${act} unheard`);
  }
  for (const intervention of ending.done)
    for (const kind of kindsOf(intervention)) if (kind !== intervention.strike) count(weaves.faults, kind);
}

export async function runCase(place: Place, each: Case, weaves: Weaves): Promise<void> {
  const { scenario, kind, intervention, transitions } = each;
  const judged = await runOne(place, scenario, planOf([intervention]));
  note(weaves, judged, transitions);
  count(weaves.design, kind);
  if (judged.ending.done.length === 0) weaves.missed += 1;
  if (judged.breaches.length > 0) weaves.broken.push(eventText(judged.ending, judged.breaches));
}

/** Runs one seed; where it breaks a promise, leaves out one thing after another that it breaks without, and tells the rest. */
export async function runSeed(place: Place, seed: number, weaves: Weaves, stop?: AbortSignal): Promise<void> {
  const scenario = drawScenario(seed, place.api);
  const judged = await runOne(place, scenario, drawPlan(seed, place.api, place.dialect === 'postgres'));
  note(weaves, judged, []);
  const wanted = judged.breaches[0]?.rule;
  if (wanted === undefined) return;
  const whole = { thing: { scenario, interventions: judged.ending.done }, result: judged };
  const breaks = async (less: Weave): Promise<Judged | null> => {
    const again = await runOne(place, less.scenario, planOf(less.interventions));
    return again.breaches.some(({ rule }) => rule === wanted) ? again : null;
  };
  const { result, isSmallest } = await shrink(whole, smallerWeaves, breaks, stop);
  const story = eventText(result.ending, result.breaches);
  weaves.broken.push(isSmallest ? story : story.replace(':', `, ${notSmallest}:`));
}

interface Weave {
  scenario: Scenario;
  interventions: readonly Intervention[];
}

function* smallerWeaves({ scenario, interventions }: Weave): Generator<Weave> {
  for (const less of without(interventions)) yield { scenario, interventions: less };
  for (const each of interventions)
    for (const simpler of simplerThan(each))
      yield { scenario, interventions: interventions.map((other) => (other === each ? simpler : other)) };
  for (const troubles of without(scenario.troubles)) yield { scenario: { ...scenario, troubles }, interventions };
  if (scenario.people.length > 1) yield { scenario: { ...scenario, people: scenario.people.slice(0, -1) }, interventions };
}

function* simplerThan({ strike, clockByMs, beside, ...at }: Intervention): Generator<Intervention> {
  if (clockByMs !== undefined && (strike !== undefined || beside !== undefined))
    yield { ...at, ...(strike === undefined ? {} : { strike }), ...(beside === undefined ? {} : { beside }) };
  if (beside === undefined) return;
  if (strike !== undefined) {
    yield { ...at, strike };
    yield { ...at, beside };
  }
  const { act, ...manner } = beside;
  for (const key of Object.keys(manner) as (keyof typeof manner)[]) {
    const { [key]: _dropped, ...left } = manner;
    yield { ...at, ...(strike === undefined ? {} : { strike }), beside: { act, ...left } };
  }
}

export function formatWeaves(weaves: Weaves): string {
  const { cases, missed, calls, rows, unresolved, paused, design, faults, requests, broken } = weaves;
  const list = (counts: Map<string, number>): string =>
    [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([what, times]) => `${what} ${times.toLocaleString('en-US')}`)
      .join(', ');
  const [n, c, r] = [cases, calls, rows].map((number) => number.toLocaleString('en-US'));
  return [
    `${n} campaigns with ${r} rows and ${c} calls: ${broken.length} broken`,
    `${unresolved} rows left to an operator; ${paused} campaigns paused by themselves after three batches in a row`,
    `Faults: ${list(faults)}`,
    ...(requests.size === 0 ? [] : [`Requests to the API: ${list(requests)}`]),
    ...(design.size === 0 ? [] : [`Cases: ${list(design)}; ${missed} came to no such effect`]),
  ].join('\n');
}
