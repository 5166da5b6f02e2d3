import { id, link, muted, phone } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import { type Call, type CallResult, stateOf, waitsFrom, type CallState } from '../core/state/call.ts';
import { viewPath } from './elements.ts';
import type { ServiceState } from '../core/state/service-state.ts';

const resultWords: Record<CallResult, string> = {
  answered: 'Answered',
  voicemail: 'Voicemail',
  busy: 'Busy',
  no_answer: 'No answer',
  failed: 'Failed',
};

export function resultOf({ course }: Call, now: number): string | null {
  if (course === null || now < (course.answeredAt ?? course.endedAt)) return null;
  return course.brokeDown ? `${resultWords[course.result]}, broke down` : resultWords[course.result];
}

export function partyOf(call: Call): Html {
  return link(viewPath('call', { id: call.callId }), call.to === '' ? channelWords(call) : phone(call.to));
}

export function directionOf({ direction }: Call): string {
  return direction === 'inbound' ? 'Inbound' : 'Outbound';
}

export function channelWords({ channel = 'phone' }: Call): string {
  if (channel === 'phone') return 'By telephone';
  return channel === 'websocket' ? 'Over a socket' : 'Over WebRTC';
}

export function agentLink({ state }: Service, agentId: string | null): Html {
  if (agentId === null) return muted('None');
  const agent = state.agents.get(agentId);
  if (agent === undefined) return html`<span class="soft">${id(agentId)} (deleted)</span>`;
  return link(viewPath('agent', { id: agentId }), agent.name);
}

export function talkMs({ course }: Call, now: number): number | null {
  if (course === null || course.answeredAt === null || now < course.answeredAt) return null;
  return Math.min(now, course.endedAt) - course.answeredAt;
}

export interface CallFilter {
  state?: CallState | 'ended' | undefined;
  batchId?: string | undefined;
  number?: string | undefined;
}

export function newestCalls(service: Service, filter: CallFilter, page: { limit: number; skip: number }): { calls: Call[]; more: boolean } {
  const now = service.clock.now();
  const matches = (call: Call): boolean =>
    isIn(filter.state, stateOf(call, now)) &&
    (filter.batchId === undefined || call.batchId === filter.batchId) &&
    (filter.number === undefined || call.to.endsWith(filter.number));
  const found: Call[] = [];
  const enough = page.skip + page.limit + 1;
  for (const call of newestFirst(service.state)) {
    if (matches(call)) found.push(call);
    if (found.length === enough) break;
  }
  return { calls: found.slice(page.skip, page.skip + page.limit), more: found.length === enough };
}

export function waitingCalls({ state }: Service): Call[] {
  return state.calls.filter(({ course }) => course === null).sort((a, b) => waitsFrom(a) - waitsFrom(b));
}

function isIn(filter: CallState | 'ended' | undefined, state: CallState): boolean {
  if (filter === 'ended') return state === 'processing' || state === 'done' || state === 'failed';
  return filter === undefined || filter === state;
}

export function findCall({ state }: Service, id: string): Call | undefined {
  const isMeant = ({ callId }: Call): boolean => callId === id;
  return state.conversations.get(id) ?? state.calls.find(isMeant) ?? state.conversations.inbound.find(isMeant);
}

/** Merges accepted outbound calls with all others; both lists are in order of beginning. */
function* newestFirst(state: ServiceState): Generator<Call> {
  const others = state.conversations.inbound;
  for (const call of state.calls.toReversed()) {
    while ((others.at(-1)?.acceptedAt ?? -Infinity) > call.acceptedAt) yield* others.splice(-1);
    yield call;
  }
  yield* others.toReversed();
}
