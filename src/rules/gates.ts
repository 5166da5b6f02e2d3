import { countedShare } from './talk-results.ts';

/** What a gate measures: answered calls, talks that ended as an opt-out or a goal, or one result of the file. */
export type GateMeasure = 'answered' | 'opted_out' | 'goal' | `result.${string}`;

/** Limit on a share of calls or talks: of the pilot, and with `always` also of the rest. */
export interface Gate {
  measure: GateMeasure;
  of: 'calls' | 'talks';
  /** Fractions of 1, one of them given; null: no limit on that side. */
  atLeast: number | null;
  atMost: number | null;
  /** Fewer calls or talks give no verdict. */
  min: number;
  always: boolean;
}

/** Rows to call first, before the others are decided. */
export interface PilotRules {
  rows: number;
  /** `spread`: drawn by a hash over the whole list, which is usually sorted; `first`: its first rows. */
  pick: 'spread' | 'first';
  /** `go_on`: without an operator if all gates pass. */
  next: 'ask' | 'go_on';
}

/** Ended calls by disposition, and talks by result. */
export interface GateCounts {
  dispositions: Readonly<Record<string, number>>;
  results: Readonly<Record<string, number>>;
}

/** `too_few`: no verdict. `trips`: while the campaign runs, the true share is beyond the limit with 99 % confidence. */
export type GateVerdict = 'holds' | 'fails' | 'too_few' | 'trips';

/** Per `always` gate: where its counts began, and the number of calls or talks since then at the next evaluation. */
export type GateMarks = Readonly<Record<string, { of: number; hits: number; next: number }>>;

/** Result of a gate: `hits` of `of` calls or talks. */
export interface GateReading {
  measure: GateMeasure;
  of: number;
  hits: number;
  verdict: GateVerdict;
}

/** Counts calls or talks, and how many of them match. `goals`: goal results. */
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

/** Verdict on a pilot, by the share itself. */
export function readGate(gate: Gate, { of, hits }: { of: number; hits: number }): GateReading {
  const { measure, min, atLeast, atMost } = gate;
  const share = of === 0 ? 0 : hits / of;
  const isWithin = (atLeast === null || share >= atLeast) && (atMost === null || share <= atMost);
  return { measure, of, hits, verdict: of < min || of === 0 ? 'too_few' : isWithin ? 'holds' : 'fails' };
}

/** Quantile of the standard normal distribution, 99 % one-sided. */
const oneSided = 2.326348;

/**
 * Whether the true share of a running campaign is beyond the limit with 99 % confidence (Wilson 1927, one-sided). Evaluate only at each
 * doubling of the count; more frequent tests mislead.
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

/** Talks without a hit needed to rule out a true share above the limit with 95 % confidence; null: no such limit. */
export function talksToRuleOut({ atMost }: Pick<Gate, 'atMost'>): number | null {
  return atMost === null || atMost >= 1 ? null : Math.ceil(Math.log(0.05) / Math.log(1 - atMost));
}
