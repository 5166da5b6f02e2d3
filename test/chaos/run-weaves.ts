import type { Case } from './design.ts';
import { drawPlan, drawScenario, planOf } from './draw-weave.ts';
import { judgeEnding, type Breach } from './judge-ending.ts';
import { Matrix } from './matrix.ts';
import type { Place } from './places.ts';
import type { Scenario } from './scenarios.ts';
import { SmallCampaign, type Ending, type Intervention, type Plan } from './small-campaign.ts';
import { tellStory } from './story.ts';

/** What a set of cases or seeds came to. */
export interface Weaves {
  cases: number;
  /** Cases whose effect was not come to: what happened before was not quite the same. */
  missed: number;
  calls: number;
  /** Rows left to an operator. */
  unresolved: number;
  rows: number;
  byKind: Map<string, number>;
  matrix: Matrix;
  /** A story for each that broke a promise. */
  broken: string[];
}

export function emptyWeaves(): Weaves {
  return { cases: 0, missed: 0, calls: 0, unresolved: 0, rows: 0, byKind: new Map(), matrix: new Matrix(), broken: [] };
}

interface Judged {
  ending: Ending;
  breaches: Breach[];
}

async function runOne(place: Place, scenario: Scenario, plan: Plan): Promise<Judged> {
  const ending = await new SmallCampaign(place, scenario, plan).run();
  return { ending, breaches: judgeEnding(ending) };
}

function note(weaves: Weaves, { ending }: Judged): void {
  weaves.cases += 1;
  weaves.calls += ending.sandbox.calls().length;
  weaves.rows += ending.ledger.recipients.length;
  weaves.unresolved += ending.ledger.recipients.filter(({ outcome }) => outcome === 'unresolved').length;
  weaves.matrix.note(ending);
  for (const { strike, beside } of ending.done)
    for (const kind of [strike, beside === undefined ? undefined : `beside: ${beside.act}`])
      if (kind !== undefined) weaves.byKind.set(kind, (weaves.byKind.get(kind) ?? 0) + 1);
}

/** Runs one case of the design. */
export async function runCase(place: Place, { scenario, intervention }: Case, weaves: Weaves): Promise<void> {
  const judged = await runOne(place, scenario, planOf([intervention]));
  note(weaves, judged);
  if (judged.ending.done.length === 0) weaves.missed += 1;
  if (judged.breaches.length > 0) weaves.broken.push(tellStory(judged.ending, judged.breaches));
}

/** Runs one seed; where it breaks a promise, leaves out one thing after another that it breaks without, and tells the rest. */
export async function runSeed(place: Place, seed: number, weaves: Weaves): Promise<void> {
  const scenario = drawScenario(seed);
  const judged = await runOne(place, scenario, drawPlan(seed, place.dialect === 'postgres'));
  const breaches = judged.breaches.filter((breach) => !isOwed(breach, judged.ending));
  note(weaves, judged);
  if (breaches.length === 0) return;
  const { ending, breaches: left } = await shrink(place, { ...judged, breaches });
  weaves.broken.push(tellStory(ending, left));
}

/** Three batches in a row without an answer pause a campaign, and are meant to: a hand is needed then. */
function isOwed({ rule, what }: Breach, { done }: Ending): boolean {
  return rule === 'needs a hand' && /in a row|records no intention/.test(what) && done.length > 0;
}

async function shrink(place: Place, judged: Judged): Promise<Judged> {
  const wanted = judged.breaches[0]?.rule;
  let smallest = judged;
  let kept: Intervention[] = [...judged.ending.done];
  for (const each of judged.ending.done) {
    const less = kept.filter((other) => other !== each);
    const again = await runOne(place, judged.ending.scenario, planOf(less));
    if (!again.breaches.some(({ rule }) => rule === wanted)) continue;
    kept = less;
    smallest = again;
  }
  return smallest;
}

/** One line of figures. */
export function formatWeaves(weaves: Weaves): string {
  const { cases, missed, calls, rows, unresolved, byKind, broken, matrix } = weaves;
  const kinds = [...byKind].map(([kind, count]) => `${kind} ${count}`).join(', ');
  return [
    `${cases} cases (${missed} came to no such effect), ${calls} calls, ${rows} rows, ${unresolved} of them left to an operator; ${broken.length} broken`,
    `Faults: ${kinds}`,
    `Cells of the matrix: ${matrix.filled} of ${matrix.size}`,
  ].join('\n');
}
