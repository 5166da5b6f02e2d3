import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

export interface Timing {
  seconds: number;
  tests: number;
}

const at = 'test-output/timings.json';
const slowSeconds = 20;

/** By path from the project's root; empty: nothing was recorded. */
export function readTimings(path = at): Record<string, Timing> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, Timing>;
  } catch {
    return {};
  }
}

/** Files that take too long, the slowest first; empty: none. */
export function tellSlow(timings: Readonly<Record<string, Timing>>): string {
  const slow = Object.entries(timings).filter(([, { seconds }]) => seconds > slowSeconds);
  if (slow.length === 0) return '';
  const lines = slow
    .toSorted(([, one], [, other]) => other.seconds - one.seconds)
    .map(([file, { seconds, tests }]) => `  ${seconds.toFixed(1).padStart(6)} s  ${file} (${tests} tests)\n`);
  return `\nFiles of more than ${slowSeconds} s (${at} has all of them):\n${lines.join('')}`;
}

export class TimingsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const now = Object.fromEntries(
      modules.map((module) => {
        const { duration, collectDuration, setupDuration, prepareDuration } = module.diagnostic();
        const seconds = Math.round(duration + collectDuration + setupDuration + prepareDuration) / 1000;
        return [module.relativeModuleId, { seconds, tests: [...module.children.allTests()].length }];
      }),
    );
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, `${JSON.stringify({ ...readTimings(), ...now }, null, 1)}\n`);
    process.stdout.write(tellSlow(now));
  }
}
