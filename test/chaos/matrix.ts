import { batchTransitions, type BatchState } from '../../src/rules/ledger.ts';
import { actsOf, specialActs, type Intervention } from './acts.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { noteOfWithdrawal, type Transition } from './effect-log.ts';
import { possibleRequests } from './requests.ts';
import type { Ending } from './small-campaign.ts';
import { type ClockStep, clockSteps, isRefusal, nameStep, refusals, strikes } from '../world/faults.ts';

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
  readonly #cells = new Map<string, number>();
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

  #add(cell: string): void {
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + 1);
  }

  count(transition: Transition, kind: string): number {
    return this.#cells.get(cellOf(transition, kind)) ?? 0;
  }

  /** How many cells were reached, and which stayed empty. */
  format(): string {
    const isEmpty = (transition: Transition) => (kind: string) => this.count(transition, kind) === 0;
    const empty = this.#rows.map((transition) => ({ transition, kinds: this.#kinds.filter(isEmpty(transition)) }));
    const size = this.#rows.length * this.#kinds.length;
    const reached = size - empty.reduce((sum, { kinds }) => sum + kinds.length, 0);
    const lines = empty
      .filter(({ kinds }) => kinds.length > 0)
      .map(({ transition, kinds }) => `- \`${transition}\`: ${kinds.length === this.#kinds.length ? 'every kind' : kinds.join(', ')}`);
    return [`${reached} of ${size} cells reached.${lines.length === 0 ? '' : ' Empty:'}`, ...lines].join('\n');
  }
}
