import { id, link, muted, phone } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import type { Call, CallResult } from '../core/state/call.ts';
import { viewPath } from './elements.ts';

const resultWords: Record<CallResult, string> = {
  answered: 'Answered',
  voicemail: 'Voicemail',
  busy: 'Busy',
  no_answer: 'No answer',
  failed: 'Failed',
};

/** Null until it is decided on the line. */
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

/** The agent's name as a link; its id where it is gone. */
export function agentLink({ state }: Service, agentId: string | null): Html {
  if (agentId === null) return muted('None');
  const agent = state.agents.get(agentId);
  if (agent === undefined) return html`<span class="muted">${id(agentId)} (deleted)</span>`;
  return link(viewPath('agent', { id: agentId }), agent.name);
}

/** Milliseconds of talk by now; null when nobody picked up. */
export function talkMs({ course }: Call, now: number): number | null {
  if (course === null || course.answeredAt === null || now < course.answeredAt) return null;
  return Math.min(now, course.endedAt) - course.answeredAt;
}
