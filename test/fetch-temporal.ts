import { readConfig } from '../src/config.ts';
import { resolveTemporalBinary } from '../src/temporal/server-binary.ts';

/** Run by Vitest before all tests: the one-off fetch or build of Temporal takes minutes, which no test's time limit allows for. */
export async function setup(): Promise<void> {
  const onProgress = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  await resolveTemporalBinary({ config: readConfig(), onProgress });
}
