import type { Service } from '../core/service/service.ts';
import { stateOf, waitsFrom, type Call, type CallState } from '../core/state/call.ts';
import type { ServiceState } from '../core/state/service-state.ts';

/** Every call there is: dialled from batches, come in by phone, or held over a socket. */
export interface CallFilter {
  state?: CallState | 'ended' | undefined;
  batchId?: string | undefined;
  number?: string | undefined;
}

/** The newest calls first, `limit` of them after leaving out `skip`; and whether more follow. */
export function newestCalls(service: Service, filter: CallFilter, page: { limit: number; skip: number }): { calls: Call[]; more: boolean } {
  const now = service.clock.now();
  const wanted = (call: Call): boolean =>
    isIn(filter.state, stateOf(call, now)) &&
    (filter.batchId === undefined || call.batchId === filter.batchId) &&
    (filter.number === undefined || call.to.endsWith(filter.number));
  const found: Call[] = [];
  const enough = page.skip + page.limit + 1;
  for (const call of newestFirst(service.state)) {
    if (wanted(call)) found.push(call);
    if (found.length === enough) break;
  }
  return { calls: found.slice(page.skip, page.skip + page.limit), more: found.length === enough };
}

/** Calls that are accepted and not dialled yet, the next first. */
export function waitingCalls({ state }: Service): Call[] {
  return state.calls.filter(({ course }) => course === null).sort((a, b) => waitsFrom(a) - waitsFrom(b));
}

function isIn(wanted: CallState | 'ended' | undefined, state: CallState): boolean {
  if (wanted === 'ended') return state === 'processing' || state === 'done' || state === 'failed';
  return wanted === undefined || wanted === state;
}

/** By id of the call, or of its conversation while its record exists. */
export function findCall({ state }: Service, id: string): Call | undefined {
  const isMeant = ({ callId }: Call): boolean => callId === id;
  return state.conversations.get(id) ?? state.calls.find(isMeant) ?? state.conversations.inbound.find(isMeant);
}

/** Accepted outbound calls and all others are kept apart; both lists are in the order of their beginning. */
function* newestFirst(state: ServiceState): Generator<Call> {
  const others = state.conversations.inbound;
  for (const call of state.calls.toReversed()) {
    while ((others.at(-1)?.acceptedAt ?? -Infinity) > call.acceptedAt) yield* others.splice(-1);
    yield call;
  }
  yield* others.toReversed();
}
