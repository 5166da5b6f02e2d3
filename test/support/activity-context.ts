import { asyncLocalStorage, type Context, type Info } from '@temporalio/activity';
import type { RequestNotes } from '../../activities/request-notes.ts';

/** Heartbeats as in a worker; never cancelled. */
export function asActivity<Result>(
  work: () => Promise<Result>,
  { info = {}, heartbeat = () => {}, client }: Partial<Pick<Context, 'heartbeat' | 'client'>> & { info?: Partial<Info> } = {},
): Promise<Result> {
  const { signal: cancellationSignal } = new AbortController();
  const context = { heartbeat, cancellationSignal, info, client } as unknown as Context;
  return asyncLocalStorage.run(context, work);
}

/** For activities without a Temporal server: no earlier notes, and every note is taken. */
export function openNoWitness(): RequestNotes {
  return { last: null, mayGoOn: true, note: async () => {}, answered: () => {}, beat: () => {}, close: () => {} };
}
