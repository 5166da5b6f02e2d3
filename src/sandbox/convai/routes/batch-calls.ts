import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { FaultHit } from '../../faults/book.ts';
import { deriveId } from '../../core/random.ts';
import type { BatchInput, CallTarget } from '../../schemas/request-schemas.ts';
import { refuseField } from '../../schemas/validate.ts';
import { notFound } from '../../core/service-error.ts';
import { findAgent, findNumber } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { newCall, type Call } from '../../core/state/call.ts';
import { isRefusedNumber } from '../../core/telephony/callee.ts';
import type { RouteRequest, Handlers } from '../../http/serve-routes.ts';

export function callRoutes(service: Service): Partial<Handlers> {
  return {
    batch_calls: async ({ request, body }) => {
      const input = body();
      refuseBadTargets(input);
      if (!service.state.agents.has(input.agent_id)) throw notFound('agent', input.agent_id, 'agent_id');
      const { batchId, calls } = acceptBatch(service, input, request);
      await announceAccepted(request, service, { batchId, calls });
      return { batch_id: batchId, calls_initiated: calls.length };
    },
    outbound_call: (request) => callOne(service, request),
  };
}

/** Outside any batch. Not idempotent: a repeated request makes a second call. */
function callOne(service: Service, { request, body }: RouteRequest<'outbound_call'>): unknown {
  const input = body();
  const target = { to_phone_number: input.to_number, ...readClientData(input.conversation_initiation_client_data) };
  const order: BatchInput = { agent_id: input.agent_id, from_phone_number_id: input.agent_phone_number_id, calls: [target] };
  refuseBadTargets(order, () => ['to_number']);
  findAgent(service, input.agent_id, 'agent_id');
  findNumber(service, input.agent_phone_number_id);
  const [call] = queueCalls(service, order, request, { batchId: null, ringLimitMs: ringLimit(input.telephony_call_config) });
  const conversationId = call === undefined || call.recordedAt === null ? null : call.conversationId;
  return { success: true, message: 'The call was placed.', conversation_id: conversationId, callSid: call?.callId ?? null };
}

export async function announceAccepted(
  { exchange: { batch, entry } }: FastifyRequest,
  { gates }: Service,
  { batchId, calls }: { batchId: string; calls: readonly Call[] },
): Promise<void> {
  if (entry !== null) Object.assign(entry, { batchId, callsAccepted: calls.length });
  if (batch === null) return;
  Object.assign(batch, { batchId, calls: calls.length });
  await gates.reach({ point: 'batch_work_done', ...batch });
}

/** Throws 422 for the whole request when one number is refused. */
export function refuseBadTargets(
  { calls }: BatchInput,
  placeOf = (index: number): (string | number)[] => ['calls', index, 'to_phone_number'],
): void {
  const index = calls.findIndex((call) => isRefusedNumber(call.to_phone_number));
  if (index === -1) return;
  const loc = ['body', ...placeOf(index)];
  throw refuseField(loc, 'This number cannot be dialled.', 'invalid_phone_number', calls[index]?.to_phone_number);
}

type ClientData = z.output<Service['schemas']['submitBatch']>['recipients'][number]['conversation_initiation_client_data'];

/** Under the contract's names where it has them. */
export function readClientData(data: ClientData): Partial<CallTarget> {
  const { conversation_config_override: override, dynamic_variables: variables, user_id: userId, ...others } = data ?? {};
  const { custom_llm_extra_body: extraBody, ...rest } = others;
  const clientData = Object.fromEntries(Object.entries(rest).filter(([, value]) => value != null));
  return {
    conversation_config_override: override ?? undefined,
    dynamic_variables: variables ?? undefined,
    user_id: userId ?? undefined,
    custom_llm_extra_body: extraBody ?? undefined,
    ...(Object.keys(clientData).length === 0 ? {} : { client_data: clientData }),
  };
}

/** Longest ringing in ms, from upstream's telephony settings. */
export function ringLimit(config: Readonly<Record<string, unknown>> | null | undefined): number | undefined {
  const seconds = config?.['ringing_timeout_secs'];
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

interface Queueing {
  /** Null: outside any batch. */
  batchId: string | null;
  /** Earliest dial time, epoch ms. */
  dialAt?: number;
  /** Most simultaneous calls, or `share`: the lines that batches share. */
  lines?: number | 'share';
  ringLimitMs?: number | undefined;
}

/** Queues the calls of a batch; creates the batch when `batchId` is omitted. */
export function acceptBatch(
  service: Service,
  input: BatchInput,
  request: FastifyRequest,
  more: Partial<Queueing> & { batchId?: string } = {},
): { batchId: string; calls: Call[] } {
  const { state, settings, conduct } = service;
  const batchId = more.batchId ?? deriveId('batch', settings.seed, state.count('batches'));
  conduct.noteBatch(request.exchange.requestId, batchId);
  return { batchId, calls: queueCalls(service, input, request, { ...more, batchId }) };
}

export function queueCalls(service: Service, input: BatchInput, request: FastifyRequest, more: Queueing): Call[] {
  const { state, clock, settings, conduct, network, people } = service;
  const { hits, requestId } = request.exchange;
  const { batchId, lines, ringLimitMs } = more;
  const now = clock.now();
  if (state.wasNumberDeleted(input.from_phone_number_id)) conduct.noteDeletedUse('phone number', input.from_phone_number_id);
  const calls = input.calls.slice(0, mostAccepted(hits)).map((target) => {
    const to = target.to_phone_number;
    const nth = state.count(`dials of ${to}`);
    const conversationId = deriveId('conv', settings.seed, to, nth);
    const call = newCall({
      callId: deriveId('call', settings.seed, to, nth),
      conversationId,
      batchId,
      recipientId: target.recipient_id,
      campaign: target.campaign,
      byShare: lines === 'share' ? true : undefined,
      batchLines: lines === 'share' ? undefined : lines,
      ringLimitMs,
      requestId,
      agentId: input.agent_id,
      phoneNumberId: input.from_phone_number_id,
      to,
      nth,
      variables: { ...target.variables, ...target.dynamic_variables },
      override: target.conversation_config_override,
      userId: target.user_id,
      modelExtraBody: target.custom_llm_extra_body,
      clientData: target.client_data,
      acceptedAt: now,
      realAcceptedAt: clock.realNow(),
      hiddenForMs: Math.max(hiddenFor(hits), people.listDelayMs(settings.seed, conversationId)),
    });
    state.calls.push(call);
    conduct.noteCall(call);
    return call;
  });
  const { dialAt = now } = more;
  const delays = new Map(calls.map((call) => [call, people.ringDelayMs(settings.seed, call.conversationId)]));
  const prompt = calls.filter((call) => delays.get(call) === 0);
  if (dialAt <= now) network.queue(prompt, now);
  else network.queueLater(prompt, dialAt);
  for (const [call, delayMs] of delays) if (delayMs > 0) network.queueLater([call], dialAt + delayMs);
  return calls;
}

function mostAccepted(hits: FaultHit[]): number {
  return Math.min(...hits.map(({ effect }) => (effect.type === 'partial' ? effect.accept : Infinity)));
}

function hiddenFor(hits: FaultHit[]): number {
  return Math.max(0, ...hits.map(({ effect }) => (effect.type === 'hide' ? effect.ms : 0)));
}
