import type { Breach } from './judge.ts';
import { campaignOf, dateOf, groupBy, inOrder, tell, type By } from './calls.ts';
import type { Call, Evidence } from './evidence.ts';

/** Calls at most to each number or person, from each caller number, or in all; earlier ones than `since` count. */
export interface Cap {
  why: 'called too often' | 'called against the house rules' | 'too many calls of a number';
  of: 'number' | 'person' | 'caller' | 'all';
  most: number;
  withinMs: number;
  by: 'accepted' | 'rang';
  since?: { by: By; at: number };
}

/** Before `decidedAt` only the sample is called, or only so many people where nobody has written down whom. */
export interface Pilot {
  campaignId: string;
  by: By;
  decidedAt: number;
  sample: readonly string[] | number;
}

/** How many are wanted, and for how long after the last one nobody can know of it. */
export interface Goal {
  campaignId: string;
  wanted: number;
  isExact: boolean;
  graceMs: number;
}

export function* judgeCaps({ calls, rows, caps = [] }: Evidence): Generator<Breach> {
  const personOf = new Map(rows.flatMap(({ numbers, person }) => numbers.map((number) => [number, person ?? number] as const)));
  const keys = {
    number: ({ to }: Call) => to,
    person: ({ to }: Call) => personOf.get(to) ?? to,
    caller: ({ agentNumber }: Call) => agentNumber,
    all: () => 'all',
  };
  for (const { why: rule, of, most, withinMs, by, since } of caps) {
    // What has not rung does not count by rings.
    const counted = calls.filter(({ dialedAt }) => by === 'accepted' || dialedAt !== null);
    for (const own of groupBy(inOrder(counted, by), keys[of]).values())
      for (const [at, call] of own.entries()) {
        const before = own[at - most];
        if (before === undefined || (since !== undefined && dateOf(call, since.by) < since.at)) continue;
        if (dateOf(before, by) > dateOf(call, by) - withinMs)
          yield { rule, to: call.to, what: `${tell(call)}, more than ${most} in ${withinMs / 60_000} min` };
      }
  }
}

export function* judgePilots({ calls, rows, pilots = [] }: Evidence): Generator<Breach> {
  for (const { campaignId, by, decidedAt, sample } of pilots) {
    const before = calls.filter((call) => campaignOf(call) === campaignId && dateOf(call, by) < decidedAt);
    const rowOf = (number: string) => rows.find((row) => row.campaignId === campaignId && row.numbers.includes(number))?.row;
    const isTooMany = typeof sample === 'number' && new Set(before.map(({ to }) => rowOf(to))).size > sample;
    for (const call of before.filter(({ to }) => (typeof sample === 'number' ? isTooMany : !sample.includes(to))))
      yield { rule: 'called before the pilot was decided about', to: call.to, what: tell(call) };
  }
}

/** Who was promised another call has it nevertheless. */
export function* judgeGoals({ calls, goals = [] }: Evidence): Generator<Breach> {
  for (const { campaignId, wanted, isExact, graceMs } of goals) {
    const own = calls.filter((call) => campaignOf(call) === campaignId);
    const reached = own.filter(({ goal }) => goal === true).toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
    if (isExact && reached.length > wanted)
      yield { rule: 'called after the goal was reached', to: null, what: `${reached.length} of ${wanted}` };
    const enoughAt = (reached[wanted - 1]?.endedAt ?? Infinity) + graceMs;
    const promised = new Set(own.flatMap(({ to, again }) => (again === undefined ? [] : [to])));
    for (const call of own.filter(({ to, acceptedAt }) => acceptedAt > enoughAt && !promised.has(to)))
      yield { rule: 'called after the goal was reached', to: call.to, what: tell(call) };
  }
}

/** Batches that may have been planned by then: the one that is being sent, and the one that is planned with it. */
const plannedBefore = 2;
/** More than any has: each round counts its batches anew. */
const batchesPerRound = 1_000_000;

/** Batches by the number in the names of their requests. */
export function* judgeSizes({ calls, sizes }: Evidence): Generator<Breach> {
  if (sizes == null) return;
  const placeOf = ({ requestId }: Call): number => {
    const [round = 0, batch = 0] = (requestId?.split('/') ?? []).slice(-3, -1).map(Number);
    return round * batchesPerRound + batch;
  };
  const last = Math.max(0, ...calls.filter(({ realAcceptedAt }) => realAcceptedAt <= sizes.at).map(placeOf));
  const later = calls.filter((call) => placeOf(call) > last + plannedBefore);
  for (const [requestId, some] of groupBy(later, (call) => call.requestId))
    if (some.length > sizes.most)
      yield { rule: 'a batch too large', to: null, what: `${requestId}: ${some.length} calls, ${sizes.most} allowed` };
}
