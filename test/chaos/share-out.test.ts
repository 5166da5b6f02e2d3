import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shareOut } from './share-out.ts';

/** A process that answers twice the number it is sent, after what it was told at its start; of 13 it says nothing, of 99 it fails. */
async function aProgram(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'share-out-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'twice.mjs');
  writeFileSync(
    path,
    `process.on('message', ({ number }) => {
      if (number === 99) process.exit(3);
      if (number !== 13) process.send({ answer: new Map([[process.argv[2], 2 * number]]) });
    });`,
  );
  return path;
}

interface Answer {
  answer: Map<string, number>;
}

async function run(numbers: readonly number[], longestMs = 60_000) {
  const stop = new AbortController();
  const found: number[] = [];
  const hung: number[] = [];
  const by = new Set<string>();
  await shareOut<{ number: number }, Answer>({
    program: await aProgram(),
    processes: [['one'], ['two']],
    units: numbers.map((number) => ({ number })),
    stop: stop.signal,
    longestMs,
    onResult: (_, { answer }) => {
      for (const [who, number] of answer) {
        by.add(who);
        found.push(number);
      }
      if (found.length === 3) stop.abort();
    },
    onHung: ({ number }) => hung.push(number),
  });
  return { found: found.toSorted((a, b) => a - b), hung, by };
}

test('units are shared out to processes, and what each found comes back', async () => {
  expect(await run([1, 2])).toEqual({ found: [2, 4], hung: [], by: new Set(['one', 'two']) });
});

test('one that never answers is given up, and another process goes on with the rest', async () => {
  expect(await run([13, 1, 2], 2_000)).toMatchObject({ found: [2, 4], hung: [13] });
});

test('a run that is broken off has what was done until then', async () => {
  const { found } = await run(Array.from({ length: 50 }, (_, index) => index + 1));
  expect(found.length).toBeLessThan(6);
  expect(found.length).toBeGreaterThanOrEqual(3);
});

test('a process that fails ends the run, and says at what', async () => {
  await expect(run([1, 99])).rejects.toThrow('ended with 3 at {"number":99}');
});
