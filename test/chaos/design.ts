import { actsOf, actsOfPersons, specialActs, type Act, type Intervention } from './acts.ts';
import { sendings } from './console/person.ts';
import { type Effect, type Transition } from './effect-log.ts';
import type { Place } from './places.ts';
import type { Scenario } from './scenarios.ts';
import { SmallCampaign } from './small-campaign.ts';
import { nameStep, refusals, steps, type Strike, strikes } from '../world/faults.ts';

export interface Case {
  scenario: Scenario;
  kind: 'struck' | 'refused' | 'clock set' | 'beside' | 'stalled' | 'inside' | 'person struck';
  operation: string;
  what: string;
  transitions: readonly Transition[];
  intervention: Intervention;
}

export function describeCase({ scenario, operation, what, intervention }: Case): string {
  return `${scenario.name}, ${operation} (${what}): ${JSON.stringify(intervention)}`;
}

/** Longer than a POST may begin late, and than a sweep's lease. */
const lateMs = 90_000;

const lateActs: readonly Act[] = ['plan', 'submit', 'sweep'];

/** Refused statements of a transaction, from 1; its commit where there are fewer. */
const refusedStatements = [1, 2, 4, 8, 16, 1_000];

/** Effects of operators' or the service's acts; others have one. */
const effectsOfPersons: Readonly<Partial<Record<Act, number>>> = { update: 2, webhook: 2, add: 2, revoke: 1, 'set house rules': 2 };

/** The API adds two: the key is taken, the answer stored. */
const effectsOfKeys = 2;

/** By itself and, for operators' acts, through the API in each sending way in turn. */
function waysOf(acts: readonly Act[], nth: number): Pick<NonNullable<Intervention['beside']>, 'act' | 'sending'>[] {
  return acts.flatMap((act, index) => {
    const sending = sendings[(nth + index) % sendings.length] ?? 'once';
    return actsOfPersons.includes(act) ? [{ act }, { act, sending }] : [{ act }];
  });
}

const operationOf: Readonly<Partial<Record<Act, string>>> = { sweep: 'collect' };

/** Whether only operators or the service request it, and no operation does it too. */
const isAskedFor = (act: Act): boolean => [...actsOfPersons, ...specialActs, 'webhook'].some((each) => each === act);

function mostEffects({ act, sending }: ReturnType<typeof waysOf>[number], effects: readonly Effect[]): number {
  if (sending === 'read only') return 0;
  if (isAskedFor(act)) return (effectsOfPersons[act] ?? 1) + (sending === undefined ? 0 : effectsOfKeys);
  const operation = operationOf[act] ?? act;
  return Math.max(0, ...effects.flatMap((effect) => (effect.operation === operation ? [effect.nth + 1] : [])));
}

/**
 * Every case of a scenario, in effect order: each effect struck in each way; each act of a second process at each effect, after which the
 * first goes on or is gone; the act stalled at each of its effects until the first operation ends; on PostgreSQL also while the first holds
 * its locks; each operator's act at each operation, struck at each of its effects.
 */
export async function designOf(place: Place, scenario: Scenario): Promise<Case[]> {
  const { effects } = await new SmallCampaign(place, scenario).run();
  const cases: Case[] = [];
  for (const effect of effects) {
    if (effect.operation.endsWith('(beside)')) continue;
    const { step, nth, operation, what, transitions } = effect;
    const add = (kind: Case['kind'], intervention: Intervention): void => {
      cases.push({ scenario, kind, operation, what, transitions, intervention });
    };
    for (const strike of strikesOf(effect)) add('struck', { step, nth, strike });
    for (const strike of isCommit(effect) ? refusals : [])
      for (const statement of refusedStatements) add('refused', { step, nth, strike, statement });
    for (const clockByMs of steps) add('clock set', { step, nth, clockByMs });
    const acts = [...actsOf(place.api), ...(scenario.acts ?? [])];
    const ways = waysOf(acts, cases.length);
    for (const way of ways)
      for (const late of lateActs.includes(way.act) ? [null, lateMs] : [null]) {
        const beside = { ...way, ...(late === null ? {} : { lateMs: late }) };
        add('beside', { step, nth, beside });
        add('beside', { step, nth, beside, strike: isWrite(effect) ? 'dies after' : 'dies before' });
      }
    for (const way of ways)
      for (let own = 0; own < mostEffects(way, effects); own += 1) add('stalled', { step, nth, beside: { ...way, stallsAt: own } });
    if (place.dialect === 'postgres' && isCommit(effect))
      for (const way of ways) add('inside', { step, nth, beside: { ...way, inside: true } });
    if (nth !== 0) continue;
    for (const way of waysOf(acts.filter(isAskedFor), cases.length))
      for (let own = 0; own < mostEffects(way, effects); own += 1)
        for (const strike of strikes) add('person struck', { step, nth, beside: { ...way, struck: { nth: own, strike } } });
  }
  return cases;
}

export async function casesOf(place: Place, scenarios: readonly Scenario[]): Promise<Case[]> {
  const cases: Case[] = [];
  for (const scenario of scenarios) cases.push(...(await designOf(place, scenario)));
  return cases;
}

/** Of a scenario's thousands of cases a soak plays one in this many. */
const everyOfSoak = 97;

export async function casesOfSoak(place: Place, scenarios: readonly Scenario[], seed: number): Promise<Case[]> {
  const drawn = scenarios.filter((_, index) => index === seed % scenarios.length);
  return (await casesOf(place, drawn)).filter((_, index) => (index + seed) % everyOfSoak === 0);
}

export const isKill = ({ kind, intervention }: Case): boolean => kind === 'struck' && intervention.strike?.startsWith('dies') === true;

/** Each state change of a case's effect, paired with what disturbs it. */
function cellsAimedAt({ intervention: { strike, clockByMs, beside }, transitions }: Case): string[] {
  const step = clockByMs === undefined ? undefined : nameStep(clockByMs);
  const act = beside === undefined ? undefined : `beside: ${beside.act}`;
  const way = beside?.sending === undefined ? undefined : 'beside: by the API';
  const kinds = [strike, step, act, way].filter((kind) => kind !== undefined);
  return transitions.flatMap((transition) => kinds.map((kind) => `${transition} | ${kind}`));
}

export function onePerCell(cases: readonly Case[]): Case[] {
  const byCell = new Map<string, Case[]>();
  for (const each of cases)
    for (const cell of cellsAimedAt(each)) {
      const known = byCell.get(cell);
      if (known === undefined) byCell.set(cell, [each]);
      else known.push(each);
    }
  const picked = new Set<Case>();
  // Rare cells first: their cases often reach others.
  for (const reaching of [...byCell.values()].toSorted((a, b) => a.length - b.length))
    if (!reaching.some((each) => picked.has(each))) picked.add(reaching[Math.floor(reaching.length / 2)] as Case);
  return cases.filter((each) => picked.has(each));
}

/** A self-committing statement is struck only after it: before it is the end of the previous effect. */
function strikesOf(effect: Effect): readonly Strike[] {
  return isWrite(effect) ? ['dies after', 'unheard'] : strikes;
}

function isCommit({ what }: Effect): boolean {
  return what.startsWith('commit');
}

function isWrite({ what }: Effect): boolean {
  return what.startsWith('write');
}
