import { outcomeOf, outcomes, type Outcome } from '../../rules/outcome.ts';
import type { OutcomeTone } from './elements.ts';

/** Number of recipients per tone, in the order of every bar; `also`: those without an outcome. */
export function outcomeParts(counts: Readonly<Partial<Record<Outcome, number>>>, also: { calling: number; waiting: number }) {
  const of = (tone: OutcomeTone): number =>
    outcomes.reduce((sum, outcome) => sum + (outcomeOf[outcome].tone === tone ? (counts[outcome] ?? 0) : 0), 0);
  const ended = (['reached', 'unreached', 'optout', 'decide', 'stopped'] as const).map((tone): [OutcomeTone, number] => [tone, of(tone)]);
  const open: [OutcomeTone, number][] = [['calling', also.calling], ['waiting', also.waiting]]; // prettier-ignore
  return {
    done: ended.reduce((sum, [, people]) => sum + people, 0),
    cannot: of('cannot'),
    parts: [...ended, ...open, ['cannot', of('cannot')] as [OutcomeTone, number]],
  };
}
