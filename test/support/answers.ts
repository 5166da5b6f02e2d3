import { expect } from 'vitest';

type Words = string | RegExp;

export function holds(text: string, has: readonly Words[], lacks: readonly Words[] = []): void {
  const isIn = (words: Words): boolean => (typeof words === 'string' ? text.includes(words) : words.test(text));
  expect({ missing: has.filter((each) => !isIn(each)), unwanted: lacks.filter(isIn) }, text.slice(0, 2_000)).toEqual({
    missing: [],
    unwanted: [],
  });
}

const wordsOf = (words: Words): unknown => (typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words));

export const told = (status: number, words: Words) => ({ status, text: wordsOf(words) });

/** `code`: of the refusal; `detail`: its text. */
export const problem = (status: number, code: string, detail?: Words) => ({
  status,
  body: { code, ...(detail !== undefined && { detail: wordsOf(detail) }) },
});

/** Where the page goes on after a change; the status of a refusal. */
export function locationOf({ status, headers }: { status: number; headers: Record<string, unknown> }): string {
  return status === 303 ? String(headers['location']) : `status ${status}`;
}
