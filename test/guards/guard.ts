import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { Aim } from '../chaos/aim.ts';

/** One text of one file that makes up a guard, or a part of it. */
export interface Edit {
  file: string;
  /** Stands there once. */
  text: string;
  without: string;
}

/** Something that keeps a promise, and where its absence shows. */
export interface Guard {
  name: string;
  edits: readonly Edit[];
  /** Worlds in which it is likely to show, judged by the calls that the service made. */
  worlds?: readonly string[];
  /** By which the service is asked in them; the contract's when left out. */
  api?: ServiceApi;
  /** The interleavings that show it. */
  aim?: Aim;
  /** Without it the campaign that nothing disturbs, which comes before the first play of an aim, never ends. */
  endless?: true;
  /** A test for what neither reaches: its file below `test` without `.test.ts`, and a text that its name holds. */
  test?: readonly [file: string, name: string];
}

export function edit(file: string, text: string, without = ''): Edit {
  return { file, text, without };
}

export function guard(name: string, where: Omit<Guard, 'name'>): Guard {
  return { name, ...where };
}
