import type { Act } from './acts.ts';
import type { Case } from './design.ts';

export interface Aim {
  /** Default: SQLite. */
  database?: 'postgres';
  scenarios: readonly string[];
  kinds: readonly Case['kind'][];
  /** Default: all. */
  acts?: readonly Act[];
  /** Default: all. */
  operations?: readonly string[];
}

export function besideSubmit(act: Act, scenario = 'calm'): Aim {
  return { scenarios: [scenario], kinds: ['beside'], acts: [act], operations: ['submit'] };
}

/** While the dial transaction has all but committed. */
export function insideSubmit(act: Act): Aim {
  return { database: 'postgres', scenarios: ['calm'], kinds: ['inside'], acts: [act], operations: ['submit'] };
}

export function struck(scenario: string, ...operations: string[]): Aim {
  return { scenarios: [scenario], kinds: ['struck'], operations };
}

export function disturbed(scenario: string): Aim {
  return { ...struck(scenario, 'plan', 'submit'), kinds: ['struck', 'beside'] };
}

export function isAimedAt({ kinds, acts, operations }: Aim, { kind, operation, intervention }: Case): boolean {
  const act = intervention.beside?.act;
  return (
    kinds.includes(kind) &&
    (acts === undefined || (act !== undefined && acts.includes(act))) &&
    (operations === undefined || operations.includes(operation))
  );
}
