import { asyncLocalStorage, type Context } from '@temporalio/activity';

/** Runs an activity that heartbeats as a worker would, with nobody who cancels it. */
export function asActivity<Result>(work: () => Promise<Result>): Promise<Result> {
  const context = { heartbeat: () => {}, cancellationSignal: new AbortController().signal } as unknown as Context;
  return asyncLocalStorage.run(context, work);
}
