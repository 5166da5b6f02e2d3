import { batchTransitions, type BatchState } from '../../src/domain/ledger.ts';
import { acts } from './acts.ts';
import { strikes, type Transition } from './effect-log.ts';
import type { Ending } from './small-campaign.ts';

/** What can befall the effect that makes a transition. */
export const faultKinds = [...strikes, ...acts.map((act) => `beside: ${act}`)] as const;

/** Every change of state that the ledger allows. */
export const possible: readonly Transition[] = [
  'batch · → intent',
  ...(Object.entries(batchTransitions) as [BatchState, readonly BatchState[]][]).flatMap(([from, all]) =>
    all.map((to): Transition => `batch ${from} → ${to}`),
  ),
  ...[
    '· → planned',
    'planned → posting',
    'planned → released',
    'posting → planned',
    'posting → open',
    'open → settled',
    'open → released',
  ].map((move): Transition => `attempt ${move}`),
];

/** How often each transition was made, or about to be made, by an effect that was disturbed, by kind. */
export class Matrix {
  readonly #cells = new Map<string, number>();

  /** `aimed`: what the disturbed effect makes when nothing disturbs it; whoever came before it may have made it instead. */
  note({ effects, done }: Pick<Ending, 'effects' | 'done'>, aimed: readonly Transition[]): void {
    for (const { strike, transitions } of effects)
      if (strike !== null) for (const transition of transitions) this.#add(transition, strike);
    for (const { step, nth, beside } of done) {
      if (beside === undefined) continue;
      const met = effects.find(
        (each) => each.step === step && each.nth === nth && !each.operation.endsWith('(beside)'),
      );
      for (const transition of new Set([...aimed, ...(met?.transitions ?? [])]))
        this.#add(transition, `beside: ${beside.act}`);
    }
  }

  #add(transition: Transition, kind: string): void {
    const key = `${transition} | ${kind}`;
    this.#cells.set(key, (this.#cells.get(key) ?? 0) + 1);
  }

  count(transition: Transition, kind: string): number {
    return this.#cells.get(`${transition} | ${kind}`) ?? 0;
  }

  get filled(): number {
    return possible.reduce(
      (sum, transition) => sum + faultKinds.filter((kind) => this.count(transition, kind) > 0).length,
      0,
    );
  }

  get size(): number {
    return possible.length * faultKinds.length;
  }

  /** A table in Markdown, and below it the cells that stayed empty. */
  format(): string {
    const rows = possible.map((transition) => [
      transition,
      ...faultKinds.map((kind) => String(this.count(transition, kind))),
    ]);
    const head = ['Transition', ...faultKinds];
    const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
    const empty = possible.flatMap((transition) => {
      const kinds = faultKinds.filter((kind) => this.count(transition, kind) === 0);
      if (kinds.length === 0) return [];
      return [`- \`${transition}\`: ${kinds.length === faultKinds.length ? 'every kind' : kinds.join(', ')}`];
    });
    return [...lines, '', `${this.filled} of ${this.size} cells reached. Empty:`, '', ...empty].join('\n');
  }
}
