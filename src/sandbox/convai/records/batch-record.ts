import type { Batch } from '../../core/state/batch.ts';
import type { ServiceState } from '../../core/state/service-state.ts';
import { stateOf, type Call } from '../../core/state/call.ts';
import { unixSeconds } from '../../core/times.ts';
import { sentAlong } from './conversation-record.ts';

export const cancelledReason = 'The batch was cancelled.';

type RecipientStatus = 'pending' | 'initiated' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'voicemail';

export function describeBatch(batch: Batch, state: ServiceState, now: number): Record<string, unknown> {
  const statuses = batch.recipients.map(({ call }) => recipientStatus(call, now));
  const [first] = batch.recipients;
  const finished = statuses.filter(isFinished).length;
  return {
    id: batch.batchId,
    name: batch.name,
    agent_id: first?.call.agentId ?? null,
    agent_name: state.agents.get(first?.call.agentId ?? '')?.name ?? null,
    phone_number_id: first?.call.phoneNumberId ?? null,
    phone_provider: state.numbers.get(first?.call.phoneNumberId ?? '')?.provider ?? null,
    created_at_unix: unixSeconds(first?.call.acceptedAt ?? batch.scheduledAt),
    scheduled_time_unix: unixSeconds(batch.scheduledAt),
    timezone: batch.timezone,
    total_calls_scheduled: batch.recipients.length,
    total_calls_dispatched: statuses.filter((status) => status !== 'pending' && status !== 'cancelled').length,
    total_calls_finished: finished,
    last_updated_at_unix: Math.max(...batch.recipients.map(({ call }) => lastUpdate(call, now))),
    status: batchStatus(batch, statuses, finished),
    retry_count: batch.retryCount,
    telephony_call_config: batch.callConfig ?? {},
    target_concurrency_limit: batch.targetConcurrency,
  };
}

export function describeRecipients({ recipients }: Batch, now: number): Record<string, unknown>[] {
  return recipients.map(({ id, call }) => ({
    id,
    phone_number: call.to,
    status: recipientStatus(call, now),
    created_at_unix: unixSeconds(call.acceptedAt),
    updated_at_unix: lastUpdate(call, now),
    conversation_id: call.recordedAt === null || call.recordDeleted ? null : call.conversationId,
    conversation_initiation_client_data: sentAlong(call),
  }));
}

export function recipientStatus(call: Call, now: number): RecipientStatus {
  switch (stateOf(call, now)) {
    case 'queued':
      return 'pending';
    case 'dialing':
      return 'initiated';
    case 'in_progress':
      return 'in_progress';
    case 'processing':
    case 'done':
      if (call.course?.answeredAt === null) return 'failed';
      return call.course?.result === 'voicemail' ? 'voicemail' : 'completed';
    case 'failed':
      return call.course?.terminationReason === cancelledReason ? 'cancelled' : 'failed';
  }
}

function isFinished(status: RecipientStatus): boolean {
  return !['pending', 'initiated', 'in_progress'].includes(status);
}

function batchStatus({ cancelled }: Batch, statuses: readonly RecipientStatus[], finished: number): string {
  if (cancelled) return 'cancelled';
  if (finished === statuses.length) return 'completed';
  return statuses.every((status) => status === 'pending') ? 'pending' : 'in_progress';
}

export function lastUpdate({ acceptedAt, dialedAt, course }: Call, now: number): number {
  const times = [acceptedAt, dialedAt, course?.answeredAt, course?.endedAt, course?.analysedAt];
  return unixSeconds(Math.max(...times.filter((time): time is number => time != null && time <= now)));
}
