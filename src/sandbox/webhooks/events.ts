import { isRecorded, recipientIdOf, type Call, type CallResult } from '../core/state/call.ts';
import { factsOf } from '../core/dialects.ts';
import { talkOf } from '../core/conversation/talk-of.ts';
import { describeConversation } from '../convai/records/conversation-record.ts';
import { unixSeconds } from '../core/times.ts';
import { viewConversations } from '../convai/routes/conversations.ts';
import { recordingOf } from '../audio/install-audio.ts';
import type { Service } from '../core/service/service.ts';
import type { WebhookEventType } from '../schemas/webhook.ts';

export interface WebhookEvent {
  type: WebhookEventType;
  call: Call;
  at: number;
}

export function eventsOf(seed: string, call: Call, at: number): WebhookEvent[] {
  const { course } = call;
  if (course === null || call.recordDeleted) return [];
  if (course.answeredAt === null) return [{ type: 'call_initiation_failure', call, at }];
  const events: WebhookEvent[] = [{ type: 'post_call_transcription', call, at }];
  if (isRecorded(course, talkOf(seed, call), at)) events.push({ type: 'post_call_audio', call, at });
  return events;
}

export function writeEvent(service: Service, event: WebhookEvent): string | null {
  const { type, call, at } = event;
  if (call.recordDeleted) return null;
  return JSON.stringify({ type, event_timestamp: unixSeconds(at), data: dataOf(service, event) });
}

function dataOf(service: Service, { type, call, at }: WebhookEvent): Record<string, unknown> {
  switch (type) {
    case 'post_call_transcription':
      return describeConversation(call, viewConversations(service, service.baseUrl, at));
    case 'post_call_audio':
      return {
        agent_id: call.agentId,
        conversation_id: call.conversationId,
        audio_format: 'wav',
        full_audio: Buffer.concat([...recordingOf(service.settings.seed, call).read()]).toString('base64'),
      };
    case 'call_initiation_failure':
      return describeFailure(call, factsOf(service.settings).provider);
  }
}

const failureReasons: Partial<Record<CallResult, string>> = { busy: 'busy', no_answer: 'no-answer' };

function describeFailure(call: Call, type: string): Record<string, unknown> {
  const outbound = call.direction === 'outbound';
  return {
    agent_id: call.agentId,
    // Null if unanswered calls leave no record.
    conversation_id: call.recordedAt === null ? null : call.conversationId,
    failure_reason: failureReasons[call.course?.result ?? 'failed'] ?? 'unknown',
    metadata: {
      type,
      body: {
        direction: call.direction,
        from: outbound ? call.agentNumber : call.to,
        to: outbound ? call.to : call.agentNumber,
        call_status: failureReasons[call.course?.result ?? 'failed'] ?? 'failed',
        phone_number_id: call.phoneNumberId,
        batch_call_id: call.batchId,
        batch_call_recipient_id: recipientIdOf(call),
      },
    },
  };
}
