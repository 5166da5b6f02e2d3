import type { CallTruth } from '../src/sandbox/core/telephony/call-truth.ts';
import type { JournalEntry } from '../src/sandbox/judge/journal.ts';

/** What the service itself knows of a run. */
export interface ServiceTruth {
  calls: number;
  posts: number;
  /** Time-weighted calls on the line, as a share of `openCalls`, from the first dial to the last POST. */
  busyShare: number;
  mostOpen: number;
  /** Mean service seconds from dial to end of call. */
  meanCallSeconds: number;
  listReads: number;
  detailReads: number;
  readsPerCall: number;
  /** All that the program asked of the service. */
  requests: number;
  requestsByOperation: Record<string, number>;
  /** Requests that were not answered with 2xx. */
  notOk: number;
  /** What the service knows of each call. */
  all: readonly CallTruth[];
}

async function ask<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return (await response.json()) as Answer;
}

interface Span {
  from: number;
  to: number;
}

function spansOf(calls: readonly CallTruth[]): Span[] {
  return calls.map(({ to, dialedAt, endedAt }) => {
    if (dialedAt === null || endedAt === null) throw new Error(`A call to ${to} has not ended: the run is not over.`);
    return { from: dialedAt, to: endedAt };
  });
}

function mostAtOnce(spans: readonly Span[]): number {
  const steps = spans.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  let open = 0;
  let most = 0;
  for (const { by } of steps.sort((a, b) => a.at - b.at || a.by - b.by)) most = Math.max(most, (open += by));
  return most;
}

/** Computed from what the sandbox recorded, not from what either program believes. */
export async function readServiceTruth(sandboxUrl: string, openCalls: number): Promise<ServiceTruth> {
  const { calls } = await ask<{ calls: CallTruth[] }>(`${sandboxUrl}/_sandbox/calls`);
  const { entries } = await ask<{ entries: JournalEntry[] }>(`${sandboxUrl}/_sandbox/journal`);
  const spans = spansOf(calls);
  const firstDial = Math.min(...spans.map(({ from }) => from));
  const lastPost = Math.max(...calls.map(({ acceptedAt }) => acceptedAt));
  const onLineMs = spans.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, lastPost) - from), 0);
  const count = (operation: string) => entries.filter((entry) => entry.operation === operation).length;
  const [listReads, detailReads] = [count('list_conversations'), count('get_conversation')];
  const byOperation: Record<string, number> = {};
  for (const { operation, method, path } of entries) {
    if (path.startsWith('/_sandbox')) continue;
    const name = operation ?? `${method} ${path.replace(/\/(batch|camp)_\w+/, '/…')}`;
    byOperation[name] = (byOperation[name] ?? 0) + 1;
  }
  return {
    requests: Object.values(byOperation).reduce((sum, each) => sum + each, 0),
    requestsByOperation: byOperation,
    calls: calls.length,
    posts: count('batch_calls'),
    busyShare: onLineMs / (openCalls * (lastPost - firstDial)),
    mostOpen: mostAtOnce(spans),
    meanCallSeconds: spans.reduce((sum, { from, to }) => sum + to - from, 0) / spans.length / 1000,
    listReads,
    detailReads,
    readsPerCall: (listReads + detailReads) / calls.length,
    all: calls,
    notOk: entries.filter(({ operation, status }) => operation !== null && (status ?? 0) >= 300).length,
  };
}
