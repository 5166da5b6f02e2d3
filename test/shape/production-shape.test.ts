import { expect, test } from 'vitest';
import { drawDisturbances } from './disturbances.ts';
import { runShape } from './run-shape.ts';
import { mustHaveServer, resolveServerPrograms } from './server-programs.ts';
import { isFull, isSoak, seedsFrom } from '../support/depth.ts';

const onProgress = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Only what hangs takes so long beside other tests; alone it ends in two minutes. */
const limitMs = 600_000;

// From empty caches the build takes minutes.
test.runIf(isFull || isSoak || mustHaveServer)(
  'two Temporal servers, three workers, database and service are killed in turn, and dialling goes on by itself',
  { timeout: 1_500_000 },
  async ({ skip }) => {
    const programs = await resolveServerPrograms(onProgress).catch((error: Error) => {
      if (mustHaveServer) throw error;
      return skip(`Temporal's server is not here and cannot be built: ${error.message}`);
    });
    for (const seed of seedsFrom(6, 1)) {
      const { broken, story, rows, calls } = await runShape({
        seed,
        programs,
        limitMs,
        ...(isSoak ? { rows: 500 } : { rows: 300, disturbances: drawDisturbances(seed, 1) }),
      });
      onProgress([`seed ${seed}`, ...story, `${rows} rows, ${calls} calls`].join('\n'));
      expect(broken, story.join('\n')).toEqual([]);
    }
  },
);
