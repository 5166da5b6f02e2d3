import { createHash } from 'node:crypto';
import type { FaultableName } from '../core/operations.ts';
import { Random } from '../core/random.ts';
import type { FaultEffect } from './effect.ts';
import { isMeant, type FaultedRequest } from './match.ts';
import { FaultRuleError, readFaultRules, type FaultRule } from './rule.ts';

export interface FaultHit {
  ruleId: string;
  effect: FaultEffect;
  /** Random draws of this hit: deterministic per seed, rule and request. */
  draw: () => Random;
}

interface StoredRule {
  rule: FaultRule;
  addedAt: number;
  seen: number;
  hits: number;
  revoked: Set<string>;
}

export interface SavedFaults {
  added: number;
  rules: (Omit<StoredRule, 'revoked'> & { revoked: string[] })[];
}

export class FaultRegistry {
  readonly #seed: string;
  readonly #now: () => number;
  readonly #rules = new Map<string, StoredRule>();
  #added = 0;

  constructor(seed: string, now: () => number) {
    this.#seed = seed;
    this.#now = now;
  }

  add(input: unknown, origin?: string): FaultRule[] {
    const rules = readFaultRules(input, origin).map((rule) => ({ ...rule, id: rule.id ?? `fault_${++this.#added}` }));
    const ids = new Set(this.#rules.keys());
    for (const { id } of rules) {
      if (ids.has(id))
        throw new FaultRuleError([`id: got "${id}", which another rule already has. Choose another or delete that rule first.`]);
      ids.add(id);
    }
    for (const rule of rules) {
      this.#rules.set(rule.id, { rule, addedAt: this.#now(), seen: 0, hits: 0, revoked: new Set() });
    }
    return rules;
  }

  remove(id: string): boolean {
    return this.#rules.delete(id);
  }

  enable(id: string, enabled: boolean): boolean {
    const kept = this.#rules.get(id);
    if (kept === undefined) return false;
    kept.rule = { ...kept.rule, enabled };
    return true;
  }

  clear(): void {
    this.#rules.clear();
  }

  get isEmpty(): boolean {
    return this.#rules.size === 0;
  }

  list(): (FaultRule & { seen: number; hits: number })[] {
    return [...this.#rules.values()].map(({ rule, seen, hits }) => ({ ...rule, seen, hits }));
  }

  match(operation: FaultableName, request: FaultedRequest): FaultHit[] {
    const hits: FaultHit[] = [];
    for (const kept of this.#rules.values()) {
      const { rule } = kept;
      if (!rule.enabled || (rule.operation !== '*' && rule.operation !== operation)) continue;
      if (rule.effect.type === 'expire_cursor' && !request.hasCursor) continue;
      if (!isMeant(rule, request, kept.addedAt, this.#now())) continue;
      kept.seen += 1;
      if ((rule.times !== undefined && kept.hits >= rule.times) || !this.#isChosen(kept)) continue;
      kept.hits += 1;
      const { seen } = kept;
      hits.push({ ruleId: rule.id, effect: rule.effect, draw: () => new Random(this.#seed, 'effect', rule.id, seen) });
    }
    return hits;
  }

  revoke(ruleId: string, apiKey: string): void {
    this.#rules.get(ruleId)?.revoked.add(digest(apiKey));
  }

  isRevoked(apiKey: string): boolean {
    for (const { rule, revoked } of this.#rules.values()) {
      if (revoked.size > 0 && rule.enabled && revoked.has(digest(apiKey))) return true;
    }
    return false;
  }

  save(): SavedFaults {
    return { added: this.#added, rules: [...this.#rules.values()].map((kept) => ({ ...kept, revoked: [...kept.revoked] })) };
  }

  restore({ added, rules }: SavedFaults): void {
    this.#rules.clear();
    this.#added = added;
    for (const kept of rules) this.#rules.set(kept.rule.id, { ...kept, revoked: new Set(kept.revoked) });
  }

  #isChosen({ rule, seen }: StoredRule): boolean {
    if (rule.nth !== undefined) return typeof rule.nth === 'number' ? rule.nth === seen : rule.nth.includes(seen);
    if (rule.every !== undefined) return seen % rule.every === 0;
    if (rule.probability !== undefined) return new Random(this.#seed, 'fault', rule.id, seen).chance(rule.probability);
    return true;
  }
}

/** Keys themselves are never stored. */
function digest(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}
