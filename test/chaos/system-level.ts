import { runShape } from '../shape/run-shape.ts';
import { resolveServerPrograms } from '../shape/server-programs.ts';
import type { LevelResult, Watch } from './ledger-level.ts';
import { mostLines } from './story.ts';

export interface SystemLevel {
  seeds: { from: number; count: number };
  /** Rows of each list. */
  rows: number;
}

/** Plays campaigns in the production shape, from the build, and kills its processes and ways one after the other. Not shrunk. */
export async function runSystemLevel({ seeds: { from, count }, rows }: SystemLevel, { progress, stop }: Watch): Promise<LevelResult> {
  const programs = await resolveServerPrograms((line) => process.stderr.write(`${line}\n`));
  const begunAt = performance.now();
  const standstills = new Map<string, number[]>();
  const broken: string[] = [];
  const totals = { rows: 0, calls: 0, unresolved: 0, searched: 0 };
  for (let seed = from; seed < from + count && !stop.aborted; seed += 1) {
    const tell = (lines: readonly string[]): void => {
      const story = [`seed ${seed}`, ...lines].slice(0, mostLines).join('\n');
      broken.push(story);
      progress.tell(story);
    };
    try {
      const end = await runShape({ seed, rows, programs });
      for (const [kind, ms] of end.standstills) standstills.set(kind, [...(standstills.get(kind) ?? []), ms]);
      for (const key of ['rows', 'calls', 'unresolved', 'searched'] as const) totals[key] += end[key];
      if (end.broken.length > 0) tell([...end.broken, ...end.story]);
    } catch (error) {
      tell((error as Error).message.split('\n'));
    }
    progress.update('system', { done: seed - from + 1, of: count, broken: broken.length });
  }
  const seconds = Math.round((performance.now() - begunAt) / 1000);
  const longest = [...standstills].map(([kind, all]) => `${kind} ${all.length} (${(Math.max(...all) / 1000).toFixed(0)} s)`);
  return {
    figures: [
      `${seconds} s: seeds ${from} to ${from + count - 1}, ${broken.length} broken`,
      `${totals.rows} rows, ${totals.calls} calls, ${totals.unresolved} rows left to an operator`,
      `${(totals.searched / 1e6).toFixed(0)} million characters of histories, logs, metrics and messages searched for keys, numbers and names`,
      `Drawn, and the longest standstill after it: ${longest.join(', ')}`,
    ].join('\n'),
    broken,
  };
}
