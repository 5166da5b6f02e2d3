import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import { cancelledReason, createdAt, describeBatch, describeRecipients, recipientStatus, type BatchView } from '../records/batch-record.ts';
import type { BatchInput, CallTarget } from '../../schemas/request-schemas.ts';
import { refuseField, validate } from '../../schemas/validate.ts';
import { existing, ServiceError } from '../../core/service-error.ts';
import type { Service } from '../../core/service/service.ts';
import { furtherRoutes } from '../../core/operations.ts';
import { allBatches, findBatch } from '../../core/state/batch.ts';
import { stateOf, type Call } from '../../core/state/call.ts';
import { failedCourse } from '../../core/telephony/callee.ts';
import { hangUpCall } from '../../core/telephony/forced-course.ts';
import { findAgent } from '../../core/service/found.ts';
import { youngestListed } from './conversations.ts';
import { acceptBatch, announceAccepted, readClientData, refuseBadTargets, ringLimit } from './batch-calls.ts';
import { pathParameter, serveKeyed, readQuery } from '../../http/serve-operation.ts';
import type { Batch } from '../../core/state/service-state.ts';

/** Batches under upstream's paths and names (gaps A.1, A.5). A repeated request makes a second batch: nothing in it is a key. */
export function serveBatchCalling(app: FastifyInstance, service: Service): void {
  const { schemas, clock, settings } = service;
  const { dialect, batchCalling } = settings;
  const view = (batch: Batch): BatchView => {
    const seenAt = Math.max(createdAt(batch), clock.now() - batchCalling.reportLagMs);
    return { state: service.state, dialect, settings: batchCalling, seenAt };
  };
  const describe = (batch: Batch): Record<string, unknown> => describeBatch(batch, view(batch));

  const submit = async (request: FastifyRequest): Promise<unknown> => {
    const input = validate(schemas.submitBatch, 'body', request.body);
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
    const now = clock.now();
    const scheduledAt = Math.max(now, (input.scheduled_time_unix ?? 0) * 1000);
    const { batchId, calls } = acceptBatch(service, batch, request, {
      dialAt: scheduledAt,
      lines: targetConcurrency ?? 'share',
      ringLimitMs: ringLimit(input.telephony_call_config),
    });
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
    await announceAccepted(request, service, { batchId, calls });
    return describe(kept);
  };
  const { method, path: url } = furtherRoutes.submit_batch;
  const first = (request: FastifyRequest) => validate(schemas.submitBatch, 'body', request.body);
  app.route({ method, url, config: { operation: 'batch_calls', first }, handler: async (request) => submit(request) });

  const readPage = (request: FastifyRequest) => {
    const page = readQuery(request, schemas.batchPage);
    if (page.limit <= batchCalling.mostListed) return page;
    // Whoever asks for no length gets one that may be asked for.
    if (!Object.hasOwn(request.query as object, 'limit')) return { ...page, limit: batchCalling.mostListed };
    throw refuseField(['query', 'limit'], `Must be at most ${batchCalling.mostListed}.`, 'too_big', page.limit);
  };
  const listBatches = (request: FastifyRequest): unknown => {
    const { limit, last_doc: last, agent_id: agentId } = readPage(request);
    const newestFirst = batchCalling.listOrder === 'newest_first';
    const list = { list: `batches of ${agentId ?? '*'}`, generation: service.generation };
    const start = readCursor(last, list, 'last_doc')?.position ?? null;
    const isBeyond = (place: number): boolean => start === null || (newestFirst ? place < start : place > start);
    const madeBefore = youngestListed(request, clock.now());
    const listedUntil = clock.now() - batchCalling.listLagMs;
    const found = [...allBatches(service.state).entries()]
      .filter(([place, batch]) => isBeyond(place) && !batch.deleted && createdAt(batch) <= listedUntil && createdAt(batch) < madeBefore)
      .filter(([, { recipients }]) => agentId === undefined || recipients[0]?.call.agentId === agentId);
    if (newestFirst) found.reverse();
    const page = found.slice(0, limit);
    const hasMore = found.length > page.length;
    const position = page.at(-1)?.[0] ?? 0;
    return {
      batch_calls: page.map(([, batch]) => describe(batch)),
      next_doc: hasMore ? writeCursor({ ...list, position }) : null,
      has_more: hasMore,
    };
  };
  serveKeyed(app, furtherRoutes.list_batches, listBatches, readPage);

  serveKeyed(app, furtherRoutes.get_batch, (request) => {
    const batch = wantedBatch(service, request);
    return { ...describe(batch), recipients: describeRecipients(batch, view(batch)) };
  });

  serveKeyed(app, furtherRoutes.cancel_batch, (request) => {
    const batch = wantedBatch(service, request);
    withdrawCalls(service, batch);
    batch.cancelled = true;
    batch.cancelledAt = clock.now();
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
    withdrawCalls(service, batch);
    batch.deleted = true;
    return {};
  });
}

function wantedBatch({ state, schemas }: Service, request: FastifyRequest): Batch {
  readQuery(request, schemas.noQuery);
  const id = pathParameter(request, 'batch_id');
  return existing(findBatch(state, id), 'batch', id);
}

function refuseRepeatedIds({ calls }: BatchInput): void {
  const index = calls.findIndex(
    ({ recipient_id: id }, at) => id !== undefined && calls.findIndex((other) => other.recipient_id === id) < at,
  );
  const repeated = calls[index];
  if (repeated === undefined) return;
  throw refuseField(['body', 'recipients', index, 'id'], 'Another recipient has this id.', 'duplicate_id', repeated.recipient_id);
}

/** Takes back what waits, and as much more as the setting says. */
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
    ...(call.clientData === undefined ? {} : { client_data: { ...call.clientData } }),
  }));
  const input: BatchInput = { agent_id: agentId, from_phone_number_id: phoneNumberId, calls };
  const accepted = acceptBatch(service, input, request, {
    batchId: batch.batchId,
    lines: batch.targetConcurrency ?? 'share',
    ringLimitMs: ringLimit(batch.callConfig),
  });
  for (const [index, recipient] of again.entries()) recipient.call = accepted.calls[index] ?? recipient.call;
  batch.retryCount += 1;
  batch.cancelled = false;
}
