import { countedShare } from './talk-results.ts';

/** What a gate looks at: calls that were answered, talks that ended as an opt-out or came to a goal, or to one result of the file. */
export type GateMeasure = 'answered' | 'opted_out' | 'goal' | `result.${string}`;

/** A limit for a share of the calls or talks of a campaign: of its pilot, and where it is `always` asked also of what follows. */
export interface Gate {
  measure: GateMeasure;
  of: 'calls' | 'talks';
  /** Parts of 1. One of the two is given; null: no limit on that side. */
  atLeast: number | null;
  atMost: number | null;
  /** Fewer calls or talks say nothing. */
  min: number;
  always: boolean;
}

/** Who is called first, before anybody decides about the others. */
export interface PilotRules {
  rows: number;
  /** `spread`: drawn by a hash over the whole list, which is usually sorted; `first`: its first rows. */
  pick: 'spread' | 'first';
  /** `go_on`: without a person where all gates hold. */
  next: 'ask' | 'go_on';
}

/** Ended calls by how they ended, and talks by what they came to. */
export interface GateCounts {
  dispositions: Readonly<Record<string, number>>;
  results: Readonly<Record<string, number>>;
}

/** `too_few`: nothing can be said. `trips`: while the campaign runs, the true share is beyond the limit with 99 of 100. */
export type GateVerdict = 'holds' | 'fails' | 'too_few' | 'trips';

/** Of each gate that is always asked: where its counts began, and at how many calls or talks since then it is asked next. */
export type GateMarks = Readonly<Record<string, { of: number; hits: number; next: number }>>;

/** What a gate found: `of` calls or talks, `hits` of them. */
export interface GateReading {
  measure: GateMeasure;
  of: number;
  hits: number;
  verdict: GateVerdict;
}

/** Of how many calls or talks how many are measured. `goals`: results that are the goal. */
export function countGate({ measure, of }: Gate, { dispositions, results }: GateCounts, goals: ReadonlySet<string>) {
  const sum = (counts: Readonly<Record<string, number>>, has: (name: string) => boolean): number =>
    Object.entries(counts).reduce((all, [name, count]) => all + (has(name) ? count : 0), 0);
  const isTalk = (name: string) => name === 'answered' || name === 'opted_out';
  const hits =
    measure === 'answered'
      ? sum(dispositions, isTalk)
      : measure === 'opted_out'
        ? (dispositions['opted_out'] ?? 0)
        : sum(results, (name) => (measure === 'goal' ? goals.has(name) : measure === `result.${name}`));
  return { of: sum(dispositions, of === 'calls' ? () => true : isTalk), hits };
}

/** At the decision about a pilot: the share itself. */
export function readGate(gate: Gate, { of, hits }: { of: number; hits: number }): GateReading {
  const { measure, min, atLeast, atMost } = gate;
  const share = of === 0 ? 0 : hits / of;
  const isWithin = (atLeast === null || share >= atLeast) && (atMost === null || share <= atMost);
  return { measure, of, hits, verdict: of < min || of === 0 ? 'too_few' : isWithin ? 'holds' : 'fails' };
}

/** Of the standard normal distribution, for 99 of 100 on one side. */
const oneSided = 2.326348;

/**
 * While the campaign runs: whether the true share lies beyond the limit, with 99 of 100 (Wilson 1927, one side). Who looks at each doubling
 * of the count only is not led astray by looking often.
 */
export function gateTrips({ atLeast, atMost }: Gate, { of, hits }: { of: number; hits: number }): boolean {
  if (of === 0) return false;
  const share = hits / of;
  const zz = oneSided * oneSided;
  const middle = (share + zz / (2 * of)) / (1 + zz / of);
  const half = (oneSided * Math.sqrt((share * (1 - share)) / of + zz / (4 * of * of))) / (1 + zz / of);
  return (atMost !== null && middle - half > atMost) || (atLeast !== null && middle + half < atLeast);
}

const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

/** `opted_out 3 of 37 talks (8.1 %; 2.8 % to 21.3 % is possible), at most 3 % allowed`. */
export function gateText({ of: unit, atLeast, atMost }: Gate, { measure, of, hits, verdict }: GateReading): string {
  const { share, low, high } = countedShare(hits, of);
  const limit = [
    ...(atLeast === null ? [] : [`at least ${percent(atLeast)} wanted`]),
    ...(atMost === null ? [] : [`at most ${percent(atMost)} allowed`]),
  ].join(', ');
  const seen = share === null ? '' : ` (${percent(share)}; ${percent(low ?? 0)} to ${percent(high ?? 1)} is possible)`;
  const few = verdict === 'too_few' ? ', too few to tell' : '';
  return `${measure} ${hits} of ${of} ${unit}${seen}, ${limit}${few}`;
}

/** How many talks without one hit are needed before a true share above the limit can be ruled out with 95 of 100; null: no such limit. */
export function talksToRuleOut({ atMost }: Pick<Gate, 'atMost'>): number | null {
  return atMost === null || atMost >= 1 ? null : Math.ceil(Math.log(0.05) / Math.log(1 - atMost));
}
