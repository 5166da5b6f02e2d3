import { batchTransitions, type BatchState } from '../../src/rules/ledger.ts';
import { actsOf, specialActs } from './acts.ts';
import { clockSteps, nameStep, type ClockStep } from './clock-steps.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { isRefusal, noteOfWithdrawal, refusals, strikes, type Transition } from './effect-log.ts';
import { possibleRequests } from './requests.ts';
import type { Intervention } from './intervention.ts';
import type { Ending } from './small-campaign.ts';

/** What can befall the effect that makes a transition. */
export function faultKindsOf(api: ServiceApi): readonly string[] {
  const beside = [...actsOf(api), ...specialActs].map((act) => `beside: ${act}`);
  return [...strikes, ...refusals, ...(Object.keys(clockSteps) as ClockStep[]), ...beside, 'beside: by the API'];
}

/** As kinds of the matrix: what is done at one effect. */
export function kindsOf({ strike, clockByMs, beside }: Intervention): string[] {
  const step = clockByMs === undefined ? undefined : nameStep(clockByMs);
  const act = beside === undefined ? undefined : `beside: ${beside.act}`;
  const way = beside?.sending === undefined ? undefined : 'beside: by the API';
  return [strike, step, act, way].filter((kind) => kind !== undefined);
}

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
    // A batch that was refused, and was sent all the same: its calls are found with their ends.
    'planned → settled',
    'open → settled',
    'open → released',
  ].map((move): Transition => `attempt ${move}`),
  ...['· → open', 'open → open', 'open → kept', 'open → late', 'open → missed', 'open → cancelled', '· → unclear'].map(
    (move): Transition => `promise ${move}`,
  ),
  'pilot calling → asked',
  'pilot calling → passed',
  'pilot asked → passed',
  'row · → added',
  'consent given → revoked',
  'house rules · → set',
];

/** The rows of the matrix of an API: with a service that reports its calls, requests stand beside changes of state. */
export const possibleOf = (api: ServiceApi): readonly Transition[] =>
  api === 'contract' ? possible : [...possible, ...possibleRequests(api), noteOfWithdrawal];

/** Of the matrix: a change of state, and what disturbs the effect that makes it. */
export function cellOf(transition: Transition, kind: string): string {
  return `${transition} | ${kind}`;
}

/** How often each transition was made, or about to be made, by an effect that was disturbed, by kind. */
export class Matrix {
  readonly cells = new Map<string, number>();
  readonly #rows: readonly Transition[];
  readonly #kinds: readonly string[];

  constructor(api: ServiceApi = 'contract') {
    this.#rows = possibleOf(api);
    this.#kinds = faultKindsOf(api);
  }

  /** `aimed`: what the disturbed effect makes when nothing disturbs it; whoever came before it may have made it instead. */
  note({ effects, done }: Pick<Ending, 'effects' | 'done'>, aimed: readonly Transition[]): void {
    for (const { strike, transitions } of effects)
      if (strike !== null && !isRefusal(strike)) for (const transition of transitions) this.#add(cellOf(transition, strike));
    for (const intervention of done) {
      const { step, nth } = intervention;
      // What was struck has been counted by what it made or was about to make; a refusal comes before that.
      const kinds = kindsOf(intervention).filter((kind) => !strikes.some((strike) => strike === kind));
      const met = effects.find((each) => each.step === step && each.nth === nth && !each.operation.endsWith('(beside)'));
      for (const transition of new Set([...aimed, ...(met?.transitions ?? [])]))
        for (const kind of kinds) this.#add(cellOf(transition, kind));
    }
  }

  #add(cell: string, times = 1): void {
    this.cells.set(cell, (this.cells.get(cell) ?? 0) + times);
  }

  addAll(cells: ReadonlyMap<string, number>): void {
    for (const [cell, times] of cells) this.#add(cell, times);
  }

  count(transition: Transition, kind: string): number {
    return this.cells.get(cellOf(transition, kind)) ?? 0;
  }

  get filled(): number {
    return this.#rows.reduce((sum, transition) => sum + this.#kinds.filter((kind) => this.count(transition, kind) > 0).length, 0);
  }

  get size(): number {
    return this.#rows.length * this.#kinds.length;
  }

  /** A table in Markdown, and below it the cells that stayed empty. */
  format(): string {
    const rows = this.#rows.map((transition) => [transition, ...this.#kinds.map((kind) => String(this.count(transition, kind)))]);
    const head = ['Transition', ...this.#kinds];
    const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
    const empty = this.#rows.flatMap((transition) => {
      const kinds = this.#kinds.filter((kind) => this.count(transition, kind) === 0);
      if (kinds.length === 0) return [];
      return [`- \`${transition}\`: ${kinds.length === this.#kinds.length ? 'every kind' : kinds.join(', ')}`];
    });
    const reached = `${this.filled} of ${this.size} cells reached.`;
    return [...lines, '', ...(empty.length === 0 ? [reached] : [`${reached} Empty:`, '', ...empty])].join('\n');
  }
}
