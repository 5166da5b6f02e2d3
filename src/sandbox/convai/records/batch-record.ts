import type { BatchSettings } from '../../core/open-settings.ts';
import type { DialectFacts } from '../../core/dialects.ts';
import type { ServiceState, Batch } from '../../core/state/service-state.ts';
import { stateOf, type Call } from '../../core/state/call.ts';
import { unixSeconds } from '../../core/times.ts';
import { providerName } from './agent-record.ts';
import { sentAlong } from './conversation-record.ts';

export const cancelledReason = 'The batch was cancelled.';

type RecipientStatus = 'pending' | 'dispatched' | 'initiated' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'voicemail';

/** `seenAt`: events up to this instant are known to the reader. */
export interface BatchView {
  state: ServiceState;
  facts: DialectFacts;
  seenAt: number;
  settings: BatchSettings;
}

export function createdAt({ recipients: [first], scheduledAt }: Batch): number {
  return first?.call.acceptedAt ?? scheduledAt;
}

export function describeBatch(batch: Batch, view: BatchView): Record<string, unknown> {
  const { state, facts, seenAt } = view;
  const statuses = batch.recipients.map(({ call }) => shownStatus(batch, call, view));
  const [first] = batch.recipients;
  const finished = statuses.filter(isFinished).length;
  const provider = state.numbers.get(first?.call.phoneNumberId ?? '')?.provider;
  return {
    id: batch.batchId,
    name: batch.name,
    agent_id: first?.call.agentId ?? '',
    agent_name: state.agents.get(first?.call.agentId ?? '')?.name ?? '',
    branch_id: batch.branchId ?? null,
    branch_name: null,
    environment: batch.environment ?? null,
    phone_number_id: first?.call.phoneNumberId ?? null,
    phone_provider: provider === undefined ? null : providerName(provider, facts),
    whatsapp_params: null,
    created_at_unix: unixSeconds(createdAt(batch)),
    scheduled_time_unix: unixSeconds(batch.scheduledAt),
    timezone: batch.timezone,
    total_calls_scheduled: batch.recipients.length,
    total_calls_dispatched: statuses.filter((status) => status !== 'pending' && status !== 'cancelled').length,
    total_calls_finished: finished,
    last_updated_at_unix: Math.max(...batch.recipients.map(({ call }) => lastUpdate(call, seenAt))),
    status: batchStatus(batch, statuses, finished, seenAt),
    retry_count: batch.retryCount,
    telephony_call_config: batch.callConfig ?? {},
    target_concurrency_limit: batch.targetConcurrency,
  };
}

export function describeRecipients(batch: Batch, view: BatchView): Record<string, unknown>[] {
  const { seenAt } = view;
  return batch.recipients.map(({ id, call }) => ({
    id,
    phone_number: call.to,
    whatsapp_user_id: null,
    status: shownStatus(batch, call, view),
    created_at_unix: unixSeconds(call.acceptedAt),
    updated_at_unix: lastUpdate(call, seenAt),
    conversation_id: call.recordedAt === null || call.recordedAt > seenAt || call.recordDeleted ? null : call.conversationId,
    conversation_initiation_client_data: sentAlong(call),
  }));
}

function shownStatus(batch: Batch, call: Call, { seenAt, settings }: BatchView): RecipientStatus {
  if (settings.cancelMarks === 'all' && isCancelled(batch, seenAt)) return 'cancelled';
  const status = recipientStatus(call, seenAt);
  const goesBy = call.dialedAt !== null && seenAt < call.dialedAt + settings.dispatchedMs;
  if (status === 'initiated' && goesBy) return 'dispatched';
  const { course } = call;
  const missed = course?.answeredAt === null && (course.result === 'busy' || course.result === 'no_answer');
  return status === 'failed' && missed ? settings.unanswered : status;
}

export function recipientStatus(call: Call, now: number): RecipientStatus {
  const { course, dialedAt } = call;
  // A call withdrawn from the queue has a course but no `dialedAt`.
  if (course === null || now < (dialedAt ?? course.endedAt)) return 'pending';
  const state = stateOf(call, now);
  if (state === 'dialing') return 'initiated';
  if (state === 'in_progress') return 'in_progress';
  if (course.terminationReason === cancelledReason) return 'cancelled';
  if (state === 'failed' || course.answeredAt === null) return 'failed';
  return course.result === 'voicemail' ? 'voicemail' : 'completed';
}

function isFinished(status: RecipientStatus): boolean {
  return !['pending', 'dispatched', 'initiated', 'in_progress'].includes(status);
}

function isCancelled({ cancelled, cancelledAt = 0 }: Batch, seenAt: number): boolean {
  return cancelled && cancelledAt <= seenAt;
}

function batchStatus(batch: Batch, statuses: readonly RecipientStatus[], finished: number, seenAt: number): string {
  if (isCancelled(batch, seenAt)) return 'cancelled';
  if (finished === statuses.length) return 'completed';
  return statuses.every((status) => status === 'pending') ? 'pending' : 'in_progress';
}

export function lastUpdate({ acceptedAt, dialedAt, course }: Call, now: number): number {
  const times = [acceptedAt, dialedAt, course?.answeredAt, course?.endedAt, course?.analysedAt];
  return unixSeconds(Math.max(...times.filter((time): time is number => time != null && time <= now), acceptedAt));
}
