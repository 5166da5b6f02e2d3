import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { cancelledReason, describeBatch, describeRecipients, recipientStatus } from '../records/batch-record.ts';
import type { BatchInput } from '../../schemas/request-schemas.ts';
import { validate } from '../../schemas/validate.ts';
import { existing } from '../../core/service-error.ts';
import type { Service } from '../../core/service/service.ts';
import { furtherRoutes } from '../../core/operations.ts';
import { allBatches, findBatch, type Batch } from '../../core/state/batch.ts';
import { stateOf, type Call } from '../../core/state/call.ts';
import { failedCourse } from '../../core/telephony/callee.ts';
import { findAgent } from '../../core/service/found.ts';
import { acceptBatch, announceAccepted, refuseBadTargets } from './batch-calls.ts';
import { pathParameter, serveKeyed, readQuery } from '../../http/serve-operation.ts';

/** Batches under upstream's paths and names (gaps A.1, A.5): the same calls as the contract's operation places. Extended dialect only. */
export function serveBatchCalling(app: FastifyInstance, service: Service): void {
  const { schemas, clock } = service;
  const describe = (batch: Batch): Record<string, unknown> => describeBatch(batch, service.state, clock.now());

  const submit = async (request: FastifyRequest): Promise<unknown> => {
    const input = validate(schemas.submitBatch, 'body', request.body);
    const { recipients, call_name: name, timezone = null, target_concurrency_limit: targetConcurrency = null } = input;
    const batch: BatchInput = {
      agent_id: input.agent_id,
      from_phone_number_id: input.agent_phone_number_id,
      calls: recipients.map(({ id, phone_number: to, conversation_initiation_client_data: data }) => ({
        recipient_id: id,
        to_phone_number: to,
        conversation_config_override: data?.conversation_config_override,
        dynamic_variables: data?.dynamic_variables,
        user_id: data?.user_id,
        custom_llm_extra_body: data?.custom_llm_extra_body,
      })),
    };
    refuseBadTargets(batch, (index) => ['recipients', index, 'phone_number']);
    findAgent(service, input.agent_id, 'agent_id');
    const now = clock.now();
    const scheduledAt = Math.max(now, (input.scheduled_time_unix ?? 0) * 1000);
    const { batchId, calls } = acceptBatch(service, batch, request, { dialAt: scheduledAt, lines: targetConcurrency });
    const kept: Batch = {
      batchId,
      name,
      scheduledAt,
      timezone,
      callConfig: input.telephony_call_config ?? null,
      targetConcurrency,
      recipients: calls.map((call) => ({ id: call.recipientId ?? call.callId, call })),
      retryCount: 0,
      cancelled: false,
      deleted: false,
    };
    service.state.batches.set(batchId, kept);
    await announceAccepted(request, service, { batchId, calls });
    return describe(kept);
  };
  const { method, path: url } = furtherRoutes.submit_batch;
  app.route({ method, url, config: { operation: 'batch_calls' }, handler: async (request) => submit(request) });

  serveKeyed(app, furtherRoutes.list_batches, (request) => {
    const { limit, last_doc: last, agent_id: agentId } = readQuery(request, schemas.batchPage);
    const list = { list: `batches of ${agentId ?? '*'}`, generation: service.generation };
    const before = readCursor(last, list, 'last_doc')?.position ?? Infinity;
    const found = [...allBatches(service.state).entries()]
      .filter(([place, { deleted }]) => place < before && !deleted)
      .filter(([, { recipients }]) => agentId === undefined || recipients[0]?.call.agentId === agentId)
      .toReversed();
    const page = found.slice(0, limit);
    const hasMore = found.length > page.length;
    const position = page.at(-1)?.[0] ?? 0;
    return {
      batch_calls: page.map(([, batch]) => describe(batch)),
      next_doc: hasMore ? writeCursor({ ...list, position }) : null,
      has_more: hasMore,
    };
  });

  serveKeyed(app, furtherRoutes.get_batch, (request) => {
    const batch = wantedBatch(service, request);
    return { ...describe(batch), recipients: describeRecipients(batch, clock.now()) };
  });

  serveKeyed(app, furtherRoutes.cancel_batch, (request) => {
    const batch = wantedBatch(service, request);
    cancelWaiting(service, batch);
    batch.cancelled = true;
    return describe(batch);
  });

  serveKeyed(app, furtherRoutes.retry_batch, (request) => {
    const batch = wantedBatch(service, request);
    const again = batch.recipients.filter(({ call }) => needsRetry(call, clock.now()));
    if (again.length > 0) retry(service, batch, again, request);
    return describe(batch);
  });

  serveKeyed(app, furtherRoutes.delete_batch, (request) => {
    const batch = wantedBatch(service, request);
    cancelWaiting(service, batch);
    batch.deleted = true;
    return {};
  });
}

function wantedBatch({ state, schemas }: Service, request: FastifyRequest): Batch {
  readQuery(request, schemas.noQuery);
  const id = pathParameter(request, 'batch_id');
  return existing(findBatch(state, id), 'batch', id);
}

function cancelWaiting({ clock, network }: Service, { recipients }: Batch): void {
  const now = clock.now();
  for (const { call } of recipients) {
    if (stateOf(call, now) === 'queued') network.redirect(call, failedCourse(now, cancelledReason), now);
  }
}

function needsRetry(call: Call, now: number): boolean {
  return ['failed', 'voicemail', 'cancelled'].includes(recipientStatus(call, now));
}

function retry(service: Service, batch: Batch, again: Batch['recipients'], request: FastifyRequest): void {
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
  }));
  const input: BatchInput = { agent_id: agentId, from_phone_number_id: phoneNumberId, calls };
  const accepted = acceptBatch(service, input, request, { batchId: batch.batchId, lines: batch.targetConcurrency });
  for (const [index, recipient] of again.entries()) recipient.call = accepted.calls[index] ?? recipient.call;
  batch.retryCount += 1;
  batch.cancelled = false;
}
