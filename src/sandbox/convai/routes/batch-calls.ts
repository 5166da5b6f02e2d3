import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { FaultHit } from '../../faults/book.ts';
import { deriveId } from '../../core/random.ts';
import type { BatchInput, CallTarget } from '../../schemas/request-schemas.ts';
import { refuseField, validate } from '../../schemas/validate.ts';
import { notFound } from '../../core/service-error.ts';
import type { Service } from '../../core/service/service.ts';
import { newCall, type Call } from '../../core/state/call.ts';
import { isRefusedNumber } from '../../core/telephony/callee.ts';
import { serveOperation } from '../../http/serve-operation.ts';

export function serveBatchCalls(app: FastifyInstance, service: Service): void {
  serveOperation(app, 'batch_calls', async (request) => {
    const input = validate(service.schemas.batch, 'body', request.body);
    refuseBadTargets(input);
    if (!service.state.agents.has(input.agent_id)) throw notFound('agent', input.agent_id, 'agent_id');
    const { batchId, calls } = acceptBatch(service, input, request);
    await announceAccepted(request, service, { batchId, calls });
    return { batch_id: batchId, calls_initiated: calls.length };
  });
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

/** The whole request is refused when one number is; nothing of it is queued. */
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

/** What upstream's form says of a recipient's conversation, in the names of the contract where it has some. */
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

/** For how long a call rings at most, by upstream's settings for it. */
export function ringLimit(config: Readonly<Record<string, unknown>> | null | undefined): number | undefined {
  const seconds = config?.['ringing_timeout_secs'];
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

/** Queues the calls of a batch, of a new one when `batchId` is left out. */
export function acceptBatch(
  service: Service,
  input: BatchInput,
  request: FastifyRequest,
  more: Omit<Queueing, 'batchId'> & { batchId?: string } = {},
): { batchId: string; calls: Call[] } {
  const { state, settings, conduct } = service;
  const batchId = more.batchId ?? deriveId('batch', settings.seed, state.count('batches'));
  conduct.noteBatch(request.exchange.requestId, batchId);
  return { batchId, calls: queueCalls(service, input, request, { ...more, batchId }) };
}

interface Queueing {
  batchId: string | null;
  /** They are dialled from then on. */
  dialAt?: number;
  /** So many at once, or as many as batches share. */
  lines?: number | 'share' | null;
  ringLimitMs?: number | undefined;
}

export function queueCalls(service: Service, input: BatchInput, request: FastifyRequest, more: Queueing): Call[] {
  const { state, clock, settings, conduct, network, people } = service;
  const { hits, requestId } = request.exchange;
  const { batchId } = more;
  const now = clock.now();
  const targets = input.calls.slice(0, mostAccepted(hits));
  if (state.wasNumberDeleted(input.from_phone_number_id)) conduct.noteDeletedUse('phone number', input.from_phone_number_id);
  const calls = targets.map((target) => {
    const facts = {
      input,
      target,
      batchId,
      requestId,
      now,
      hiddenForMs: hiddenFor(hits),
      lines: more.lines ?? null,
      ringLimitMs: more.ringLimitMs,
    };
    const call = createCall(service, facts);
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

function createCall(
  { state, clock, settings, people }: Service,
  facts: {
    input: BatchInput;
    target: CallTarget;
    batchId: string | null;
    requestId: string | null;
    now: number;
    hiddenForMs: number;
    lines: number | 'share' | null;
    ringLimitMs: number | undefined;
  },
): Call {
  const { input, target, batchId, requestId, now, hiddenForMs, lines, ringLimitMs } = facts;
  const to = target.to_phone_number;
  const nth = state.count(`dials of ${to}`);
  const conversationId = deriveId('conv', settings.seed, to, nth);
  return newCall({
    callId: deriveId('call', settings.seed, to, nth),
    conversationId,
    batchId,
    ...(target.recipient_id === undefined ? {} : { recipientId: target.recipient_id }),
    ...(target.campaign === undefined ? {} : { campaign: target.campaign }),
    ...(lines === 'share' ? { byShare: true } : lines === null ? {} : { batchLines: lines }),
    ...(ringLimitMs === undefined ? {} : { ringLimitMs }),
    requestId,
    agentId: input.agent_id,
    phoneNumberId: input.from_phone_number_id,
    to,
    nth,
    variables: { ...target.variables, ...target.dynamic_variables },
    override: target.conversation_config_override,
    ...(target.user_id === undefined ? {} : { userId: target.user_id }),
    ...(target.custom_llm_extra_body === undefined ? {} : { modelExtraBody: target.custom_llm_extra_body }),
    ...(target.client_data === undefined ? {} : { clientData: target.client_data }),
    acceptedAt: now,
    realAcceptedAt: clock.realNow(),
    hiddenForMs: Math.max(hiddenForMs, people.listDelayMs(settings.seed, conversationId)),
  });
}

function mostAccepted(hits: FaultHit[]): number {
  return Math.min(...hits.map(({ effect }) => (effect.type === 'partial' ? effect.accept : Infinity)));
}

function hiddenFor(hits: FaultHit[]): number {
  return Math.max(0, ...hits.map(({ effect }) => (effect.type === 'hide' ? effect.ms : 0)));
}
