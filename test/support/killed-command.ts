import { until } from './until.ts';
import { spawnWorker, type WorkerProcess } from './worker-process.ts';

/** An answer that is lost after the service took the request, and a request that never reaches it. */
export const lostRequests = [
  { operation: 'batch_calls' as const, nth: 2, effect: { type: 'reset' as const, when: 'after' as const } },
  { operation: 'batch_calls' as const, nth: 4, effect: { type: 'reset' as const, when: 'before' as const } },
];

/** Begun again with the same settings whenever it is killed. */
export type KilledCommand = ReturnType<typeof killedCommand>;

/** `ready` is what it writes as soon as it works. */
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
  // Asked while it begins again, it kills it once more.
  let turn = Promise.resolve();
  const end = async () => running?.kill();
  /** SIGKILL, and at once another one. */
  const killAndBegin = () => (turn = turn.then(end).then(begin));
  return { begin, end, killAndBegin };
}
