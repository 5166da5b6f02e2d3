import { until } from './until.ts';
import { spawnWorker, type WorkerProcess } from './worker-process.ts';

/** An answer lost after the service took the request, and a request that never reaches it. */
export const lostRequests = [
  { operation: 'batch_calls' as const, nth: 2, effect: { type: 'reset' as const, when: 'after' as const } },
  { operation: 'batch_calls' as const, nth: 4, effect: { type: 'reset' as const, when: 'before' as const } },
];

/** Restarted with the same settings after each kill. */
export type KilledCommand = ReturnType<typeof killedCommand>;

/** `ready`: its output as soon as it works. */
export function killedCommand(settings: Record<string, string>, args: readonly string[], ready: string) {
  let running: WorkerProcess | null = null;
  const begin = async () => {
    const one = spawnWorker(settings, args);
    running = one;
    await until(`${args[0]} is ready`, () => {
      if (one.hasEnded()) throw new Error(`${args[0]} has ended: ${one.output()}`);
      return one.output().includes(ready);
    });
  };
  // A request during a restart kills it once more.
  let turn = Promise.resolve();
  const end = async () => running?.kill();
  /** SIGKILL, then restart at once. */
  const killAndBegin = () => (turn = turn.then(end).then(begin));
  return { begin, end, killAndBegin };
}
