import type { Act } from './acts.ts';
import type { Case } from './design.ts';

/** Where in the design of the interleavings something is looked for. */
export interface Aim {
  /** SQLite when it is left out. */
  database?: 'postgres';
  /** Names of them. */
  scenarios: readonly string[];
  kinds: readonly Case['kind'][];
  /** What a second process or a person does; every act when it is left out. */
  acts?: readonly Act[];
  /** Operations of the campaign that it happens to; every one when it is left out. */
  operations?: readonly string[];
}

/** An act of a second process or a person during a submit of the calm campaign. */
export function besideSubmit(act: Act, scenario = 'calm'): Aim {
  return { scenarios: [scenario], kinds: ['beside'], acts: [act], operations: ['submit'] };
}

/** The same while the dial transaction has all but committed. */
export function insideSubmit(act: Act): Aim {
  return { database: 'postgres', scenarios: ['calm'], kinds: ['inside'], acts: [act], operations: ['submit'] };
}

/** The process that does these operations is struck. */
export function struck(scenario: string, ...operations: string[]): Aim {
  return { scenarios: [scenario], kinds: ['struck'], operations };
}

/** The same, or somebody else acts meanwhile. */
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
