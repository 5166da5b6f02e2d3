import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { Aim } from '../chaos/aim.ts';

/** One text of one file that makes up a guard, or a part of it. */
export interface Edit {
  file: string;
  /** Occurs once. */
  text: string;
  without: string;
}

/** Code that keeps a promise, and where its absence shows. */
export interface Guard {
  name: string;
  edits: readonly Edit[];
  /** Worlds in which it is likely to show, verified by the service's calls. */
  worlds?: readonly string[];
  /** Their API; default: the contract's. */
  api?: ServiceApi;
  /** The interleavings that show it. */
  aim?: Aim;
  /** Without it the undisturbed campaign before the first play of an aim never ends. */
  endless?: true;
  /** A test for what neither reaches: its file below `test` without `.test.ts`, and a part of its name. */
  test?: readonly [file: string, name: string];
}

export function edit(file: string, text: string, without = ''): Edit {
  return { file, text, without };
}

export function guard(name: string, where: Omit<Guard, 'name'>): Guard {
  return { name, ...where };
}
