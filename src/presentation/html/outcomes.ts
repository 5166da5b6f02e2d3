import type { Outcome } from '../../rules/outcome.ts';
import type { OutcomeTone } from './elements.ts';

const outcomeTones: Readonly<Record<Outcome, readonly [OutcomeTone, string]>> = {
  completed: ['reached', 'Reached'],
  exhausted: ['unreached', 'Not reached'],
  opted_out: ['optout', 'Opted out'],
  suppressed: ['cannot', 'On the do-not-call list'],
  rejected: ['cannot', 'Cannot be called: error in the row'],
  undialable: ['cannot', 'Cannot be called: number or hours'],
  expired: ['stopped', 'Ran out of time'],
  cancelled: ['stopped', 'Cancelled'],
  unresolved: ['decide', 'Needs a decision'],
};

/** Outcomes in the order of every legend, bar and filter. */
export const outcomeOrder: readonly Outcome[] = [
  'completed',
  'exhausted',
  'opted_out',
  'unresolved',
  'expired',
  'cancelled',
  'rejected',
  'undialable',
  'suppressed',
];

export function outcomeWord(outcome: Outcome): string {
  return outcomeTones[outcome][1];
}

/** Among what it is counted. */
export function outcomeTone(outcome: Outcome): OutcomeTone {
  return outcomeTones[outcome][0];
}

/** How many people there are of each tone, in the order of every bar; `also`: those without an outcome. */
export function outcomeParts(counts: Readonly<Partial<Record<Outcome, number>>>, also: { calling: number; waiting: number }) {
  const of = (tone: OutcomeTone): number =>
    outcomeOrder.reduce((sum, outcome) => sum + (outcomeTone(outcome) === tone ? (counts[outcome] ?? 0) : 0), 0);
  const ended = (['reached', 'unreached', 'optout', 'decide', 'stopped'] as const).map((tone): [OutcomeTone, number] => [tone, of(tone)]);
  const open: [OutcomeTone, number][] = [['calling', also.calling], ['waiting', also.waiting]]; // prettier-ignore
  return {
    done: ended.reduce((sum, [, people]) => sum + people, 0),
    cannot: of('cannot'),
    parts: [...ended, ...open, ['cannot', of('cannot')] as [OutcomeTone, number]],
  };
}
