import type { FastifyRequest } from 'fastify';
import { factsOf } from '../../core/dialects.ts';
import { existing, ServiceError } from '../../core/service-error.ts';
import { findAgent } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { allBatches, findBatch } from '../../core/state/batch.ts';
import { stateOf } from '../../core/state/call.ts';
import type { Batch } from '../../core/state/service-state.ts';
import { failedCourse } from '../../core/telephony/callee.ts';
import { hangUpCall } from '../../core/telephony/forced-course.ts';
import { pageOf } from '../../http/cursor.ts';
import type { Handlers } from '../../http/serve-routes.ts';
import type { BatchInput, CallTarget } from '../../schemas/request-schemas.ts';
import { refuseField } from '../../schemas/validate.ts';
import { cancelledReason, createdAt, describeBatch, describeRecipients, recipientStatus, type BatchView } from '../records/batch-record.ts';
import { acceptBatch, announceAccepted, readClientData, refuseBadTargets, ringLimit } from './batch-calls.ts';
import { youngestListed } from './conversations.ts';

/** Upstream's paths and names (gaps A.1, A.5). Not idempotent: a repeated request makes a second batch. */
export function batchRoutes(service: Service): Partial<Handlers> {
  const { clock, settings } = service;
  const { batchCalling } = settings;
  const view = (batch: Batch): BatchView => {
    const seenAt = Math.max(createdAt(batch), clock.now() - batchCalling.reportLagMs);
    return { state: service.state, facts: factsOf(settings), settings: batchCalling, seenAt };
  };
  const describe = (batch: Batch): Record<string, unknown> => describeBatch(batch, view(batch));
  const requireBatch = (id: (parameter: string) => string): Batch => {
    const batchId = id('batch_id');
    return existing(findBatch(service.state, batchId), 'batch', batchId);
  };
  return {
    submit_batch: async ({ request, body }) => {
      const input = body();
      const { recipients, call_name: name, timezone = null, target_concurrency_limit: targetConcurrency = null } = input;
      const batch: BatchInput = {
        agent_id: input.agent_id,
        from_phone_number_id: input.agent_phone_number_id,
        calls: recipients.map(({ id, phone_number: to, conversation_initiation_client_data: data }): CallTarget => ({
          recipient_id: batchCalling.recipientIds === 'kept' ? (id ?? undefined) : undefined,
          to_phone_number: to,
          ...readClientData(data),
        })),
      };
      refuseBadTargets(batch, (index) => ['recipients', index, 'phone_number']);
      if (batchCalling.uniqueRecipientIds) refuseRepeatedIds(batch);
      if (!batchCalling.termsAccepted) {
        const message = 'The terms of batch calling are not accepted for this workspace. Accept them in its dashboard first.';
        throw new ServiceError(403, message, { code: 'batch_calling_terms_not_accepted' });
      }
      findAgent(service, input.agent_id, 'agent_id');
      const scheduledAt = Math.max(clock.now(), (input.scheduled_time_unix ?? 0) * 1000);
      const accepted = acceptBatch(service, batch, request, {
        dialAt: scheduledAt,
        lines: targetConcurrency ?? 'share',
        ringLimitMs: ringLimit(input.telephony_call_config),
      });
      const { batchId, calls } = accepted;
      const kept: Batch = {
        batchId,
        name,
        scheduledAt,
        timezone,
        callConfig: input.telephony_call_config ?? null,
        targetConcurrency,
        branchId: input.branch_id,
        environment: input.environment,
        recipients: calls.map((call) => ({ id: call.recipientId ?? call.callId, call })),
        retryCount: 0,
        cancelled: false,
        deleted: false,
      };
      service.state.batches.set(batchId, kept);
      await announceAccepted(request, service, accepted);
      return describe(kept);
    },

    list_batches: ({ request, query: { limit, last_doc: last, agent_id: agentId } }) => {
      const now = clock.now();
      const madeBefore = youngestListed(request, now);
      const { items, cursor } = pageOf(allBatches(service.state), {
        list: { list: `batches of ${agentId ?? '*'}`, generation: service.generation },
        cursor: last,
        parameter: 'last_doc',
        size: limit,
        ascending: batchCalling.listOrder === 'oldest_first',
        isWanted: (batch) =>
          !batch.deleted &&
          createdAt(batch) <= now - batchCalling.listLagMs &&
          createdAt(batch) < madeBefore &&
          (agentId === undefined || batch.recipients[0]?.call.agentId === agentId),
      });
      return { batch_calls: items.map(describe), next_doc: cursor, has_more: cursor !== null };
    },

    get_batch: ({ id }) => {
      const batch = requireBatch(id);
      return { ...describe(batch), recipients: describeRecipients(batch, view(batch)) };
    },

    cancel_batch: ({ id }) => {
      const batch = requireBatch(id);
      withdrawCalls(service, batch);
      batch.cancelled = true;
      batch.cancelledAt = clock.now();
      return describe(batch);
    },

    retry_batch: ({ id, request }) => {
      const batch = requireBatch(id);
      retry(service, batch, request);
      return describe(batch);
    },

    delete_batch: ({ id }) => {
      const batch = requireBatch(id);
      withdrawCalls(service, batch);
      batch.deleted = true;
      return {};
    },
  };
}

function refuseRepeatedIds({ calls }: BatchInput): void {
  const index = calls.findIndex(
    ({ recipient_id: id }, at) => id !== undefined && calls.findIndex((other) => other.recipient_id === id) < at,
  );
  const repeated = calls[index];
  if (repeated === undefined) return;
  throw refuseField(['body', 'recipients', index, 'id'], 'Another recipient has this id.', 'duplicate_id', repeated.recipient_id);
}

/** Cancels queued calls, and ringing or active ones as `cancelEnds` says. */
function withdrawCalls({ clock, network, settings }: Service, { recipients }: Batch): void {
  const now = clock.now();
  const { cancelEnds } = settings.batchCalling;
  for (const { call } of recipients) {
    const state = stateOf(call, now);
    if (state === 'queued' || (state === 'dialing' && cancelEnds !== 'waiting'))
      network.redirect(call, failedCourse(now, cancelledReason), now);
    else if (state === 'in_progress' && cancelEnds === 'talking')
      hangUpCall(network, call, { seed: settings.seed, at: now, why: cancelledReason });
  }
}

/** Redials recipients who were not reached. */
function retry(service: Service, batch: Batch, request: FastifyRequest): void {
  const now = service.clock.now();
  const again = batch.recipients.filter(({ call }) => ['failed', 'voicemail', 'cancelled'].includes(recipientStatus(call, now)));
  const [first] = again;
  if (first === undefined) return;
  const { agentId, phoneNumberId } = first.call;
  const calls = again.map(({ id, call }) => ({
    recipient_id: id,
    to_phone_number: call.to,
    conversation_config_override: call.override,
    variables: call.variables,
    user_id: call.userId,
    custom_llm_extra_body: call.modelExtraBody,
    client_data: call.clientData,
  }));
  const accepted = acceptBatch(service, { agent_id: agentId, from_phone_number_id: phoneNumberId, calls }, request, {
    batchId: batch.batchId,
    lines: batch.targetConcurrency ?? 'share',
    ringLimitMs: ringLimit(batch.callConfig),
  });
  for (const [index, recipient] of again.entries()) recipient.call = accepted.calls[index] ?? recipient.call;
  batch.retryCount += 1;
  batch.cancelled = false;
}
