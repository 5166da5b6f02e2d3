import type { OperationName } from '../operations.ts';
import { Random } from '../random.ts';
import { FaultRuleError, readFaultRules, type FaultEffect, type FaultRule } from './fault-rule.ts';

export interface FaultHit {
  ruleId: string;
  effect: FaultEffect;
}

interface KeptRule {
  rule: FaultRule;
  /** Matching requests seen since the rule was added. */
  seen: number;
  hits: number;
}

/** The fault rules in force and how often each was met. Several rules may hit one request. */
export class FaultBook {
  readonly #seed: string;
  readonly #rules = new Map<string, KeptRule>();
  #added = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Adds one rule or several, all or none. Throws `FaultRuleError`. */
  add(input: unknown, origin?: string): FaultRule[] {
    const rules = readFaultRules(input, origin).map((rule) => ({ ...rule, id: rule.id ?? `fault_${++this.#added}` }));
    const ids = new Set(this.#rules.keys());
    for (const { id } of rules) {
      if (ids.has(id))
        throw new FaultRuleError([
          `id: got "${id}", which another rule already has. Choose another or delete that rule first.`,
        ]);
      ids.add(id);
    }
    for (const rule of rules) this.#rules.set(rule.id, { rule, seen: 0, hits: 0 });
    return rules;
  }

  remove(id: string): boolean {
    return this.#rules.delete(id);
  }

  clear(): void {
    this.#rules.clear();
  }

  list(): (FaultRule & { seen: number; hits: number })[] {
    return [...this.#rules.values()].map(({ rule, seen, hits }) => ({ ...rule, seen, hits }));
  }

  /** Counts a request and tells what befalls it. */
  match(operation: OperationName): FaultHit[] {
    const hits: FaultHit[] = [];
    for (const kept of this.#rules.values()) {
      const { rule } = kept;
      if (rule.operation !== '*' && rule.operation !== operation) continue;
      kept.seen += 1;
      if ((rule.times !== undefined && kept.hits >= rule.times) || !this.#isChosen(kept)) continue;
      kept.hits += 1;
      hits.push({ ruleId: rule.id, effect: rule.effect });
    }
    return hits;
  }

  #isChosen({ rule, seen }: KeptRule): boolean {
    if (rule.nth !== undefined) return typeof rule.nth === 'number' ? rule.nth === seen : rule.nth.includes(seen);
    if (rule.every !== undefined) return seen % rule.every === 0;
    if (rule.probability !== undefined) return new Random(this.#seed, 'fault', rule.id, seen).chance(rule.probability);
    return true;
  }
}
