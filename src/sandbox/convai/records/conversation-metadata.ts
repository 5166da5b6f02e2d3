import { configOf, languageOfAgent } from '../../core/conversation/call-config.ts';
import { describeCharging } from './charging.ts';
import { recipientIdOf, type SocketFacts } from '../../core/state/call.ts';
import type { SeenConversation } from './seen-conversation.ts';

export function baseMetadata(seen: SeenConversation): Record<string, unknown> {
  const { call, startedAt, ended, course, durationSeconds } = seen;
  return {
    start_time: seen.isoTime(startedAt),
    ...(ended ? { end_time: seen.isoTime(course.endedAt), duration: durationSeconds } : {}),
    agent_id: call.agentId,
  };
}

export function innerMetadata(seen: SeenConversation): Record<string, unknown> {
  const { call, course, ended } = seen;
  const channel = call.channel ?? 'phone';
  return {
    start_time_unix_secs: seen.unixSeconds(seen.startedAt),
    call_duration_secs: seen.durationSeconds,
    accepted_time_unix_secs: seen.unixSeconds(call.acceptedAt),
    queue_wait_secs: Math.max(0, Math.round(((call.dialedAt ?? call.acceptedAt) - call.acceptedAt) / 1000)),
    termination_reason: reasonOf(seen),
    error: ended && course.brokeDown ? { code: 1011, reason: course.terminationReason } : null,
    ...describeCharging(seen.turns),
    main_language: languageOfAgent(configOf(call)),
    conversation_initiation_source: { phone: 'telephony', websocket: 'websocket', webrtc: 'webrtc' }[channel],
    ...(channel === 'phone' ? { phone_call: describePhoneCall(seen) } : {}),
    ...(call.socket === undefined ? {} : describeSocketFacts(call.socket)),
    ...(call.direction === 'outbound' && call.batchId !== null && seen.shown.shows('batch')
      ? { batch_call: { batch_call_id: call.batchId, batch_call_recipient_id: recipientIdOf(call) } }
      : {}),
  };
}

/** Why it ended; empty where that is not known, or not told. */
export function reasonOf({ ended, course, shown }: SeenConversation): string {
  return ended && !shown.isBare ? course.terminationReason : '';
}

function describePhoneCall({ call, course, hasCarrierResult, shown }: SeenConversation): Record<string, unknown> {
  return {
    type: 'telephony',
    ...(shown.shows('direction') ? { direction: call.direction } : {}),
    phone_number_id: call.phoneNumberId,
    agent_number: call.agentNumber,
    ...(shown.shows('number') ? { external_number: call.to } : {}),
    // There is no provider behind it whose ids these could be.
    call_sid: call.callId,
    stream_sid: call.callId.replace(/^call_/, 'stream_'),
    ...(hasCarrierResult && !shown.isBare ? { call_result: course.result } : {}),
  };
}

function describeSocketFacts(facts: SocketFacts): Record<string, unknown> {
  const { feedback, contextualUpdates } = facts;
  const likes = feedback.filter(({ score }) => score === 'like').length;
  const dislikes = feedback.length - likes;
  return {
    authorization_method: facts.authorizationMethod,
    text_only: facts.textOnly,
    source_info: facts.sourceInfo,
    feedback: { type: 'thumbs', overall_score: overall(likes, dislikes), likes, dislikes },
    contextual_updates: contextualUpdates.map(({ at, text, contextId }) => ({
      time: new Date(at).toISOString(),
      text,
      context_id: contextId,
    })),
  };
}

function overall(likes: number, dislikes: number): 'like' | 'dislike' | null {
  if (likes === dislikes) return null;
  return likes > dislikes ? 'like' : 'dislike';
}
