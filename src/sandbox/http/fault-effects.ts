import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FaultEffect, type ErrorBody, drawLatency } from '../faults/effect.ts';
import { retryAfterHeader } from '../core/plans.ts';
import { changeReply } from '../faults/reply-changes.ts';
import { refuseField } from '../schemas/validate.ts';
import { errorBody, notFound, ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { faultNameOf } from '../core/operations.ts';
import { codeOf } from './error-replies.ts';
import { rateLimited, unauthorized } from './authentication.ts';
import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FaultedRequest } from '../faults/match.ts';

/** Throws the refusal of a fault; true when no answer is to follow. */
export async function sufferBefore(request: FastifyRequest, reply: FastifyReply, service: Service, closing: AbortSignal): Promise<boolean> {
  for (const { ruleId, effect, draw } of request.exchange.hits) {
    changeWorld(effect, 'before', request, service);
    const { type } = effect;
    if (type === 'delay' && effect.work === 'last') await pause(drawLatency(effect.ms, draw()), closing);
    if (type === 'missing') throw notFound('record', lastPathPart(request.url));
    if (type === 'expire_cursor')
      throw refuseField(['query', 'cursor'], 'This cursor has expired; start again without one.', 'invalid_cursor');
    if (type === 'revoke_key') {
      service.faults.revoke(ruleId, request.exchange.apiKey ?? '');
      throw keyRevoked(request.routeOptions.config.served?.published === true);
    }
    // Other effects change the reply, or are applied by the operation or `changeWorld`.
    if (!('when' in effect) || effect.when === 'after') continue;
    if (type === 'rate_limited') throw rateLimited(effect.code, waitHeader(effect, service));
    if (type === 'reset' || type === 'drop') {
      reply.hijack();
      if (type === 'reset') cutConnection(request);
      return true;
    }
    if (type === 'html' || type === 'error') {
      replaceReply(reply, effect);
      await reply.send(errorPayload(effect, request.exchange.errorId));
      return true;
    }
  }
  return false;
}

/** Returns the body to send. */
export async function sufferAfter(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  service: Service,
  closing: AbortSignal,
): Promise<unknown> {
  const { hits, errorId } = request.exchange;
  if (hits.length === 0) return payload;
  const { served } = request.routeOptions.config;
  const name = served === undefined ? null : faultNameOf(served.name);
  let body = typeof payload === 'string' ? changeReply(payload, hits, name) : payload;
  for (const { effect, draw } of hits) {
    changeWorld(effect, 'after', request, service);
    if (effect.type === 'delay' && effect.work === 'first') await pause(drawLatency(effect.ms, draw()), closing);
    else if (effect.type === 'clock_skew') skewDate(reply, effect.seconds);
    else if (effect.type === 'truncate' && typeof body === 'string') {
      const half = body.slice(0, Math.floor(body.length / 2));
      body = effect.ending === 'clean' ? half : breakOff(request, reply, half, body);
    } else if (effect.type === 'dribble' && typeof body === 'string') body = dribble(reply, body, effect, closing);
    else if (effect.type === 'reset' && effect.when === 'after') cutConnection(request);
    else if (effect.type === 'drop' && effect.when === 'after') await never();
    else if ((effect.type === 'error' || effect.type === 'html') && effect.when === 'after') {
      replaceReply(reply, effect);
      body = errorPayload(effect, errorId);
    } else if (effect.type === 'rate_limited' && effect.when === 'after') {
      const { status, message, facts } = rateLimited(effect.code, {});
      reply.code(status).headers(waitHeader(effect, service)).type('application/json; charset=utf-8');
      body = JSON.stringify(errorBody(message, facts, errorId));
    }
  }
  return body;
}

export function keyRevoked(published: boolean): ServiceError {
  return unauthorized('The API key was revoked.', 'invalid_api_key', published);
}

type ReplyEffect = Extract<FaultEffect, { type: 'error' | 'html' }>;

function replaceReply(reply: FastifyReply, effect: ReplyEffect): void {
  const isHtml = effect.type === 'html' || effect.body === 'html';
  reply.code(effect.status);
  reply.header('content-type', isHtml ? 'text/html' : 'application/json; charset=utf-8');
}

function skewDate(reply: FastifyReply, seconds: number): void {
  const date = Date.parse(String(reply.getHeader('date')));
  reply.header('date', new Date(date + seconds * 1000).toUTCString());
}

function waitHeader(
  { retryAfter, seconds }: Extract<FaultEffect, { type: 'rate_limited' }>,
  { clock, clockSteps }: Service,
): Record<string, string> {
  return retryAfterHeader(retryAfter, seconds * 1000, clockSteps.shown(clock.now()));
}

function lastPathPart(url: string): string {
  return decodeURIComponent(url.split('?')[0]?.split('/').at(-1) ?? '');
}

/** Faults behind the service: changes what the request refers to. */
export function changeWorld(effect: FaultEffect, moment: 'before' | 'after', request: FastifyRequest, service: Service): void {
  if (effect.type === 'delete_agent' && effect.when === moment) {
    for (const id of given(effect.agent_id) ?? aboutOf(request, service).agentIds) service.state.deleteAgent(id);
  }
  if ((effect.type === 'unassign_number' || effect.type === 'unverify_number') && effect.when === moment) {
    for (const id of given(effect.phone_number_id) ?? aboutOf(request, service).numberIds) {
      const number = service.state.numbers.get(id);
      if (number === undefined) continue;
      if (effect.type === 'unassign_number') number.agentId = null;
      else number.verified = false;
    }
  }
}

function given(id: string | undefined): string[] | null {
  return id === undefined ? null : [id];
}

export function errorPayload(
  effect: { type: 'html'; status: number } | { type: 'error'; status: number; body: ErrorBody },
  errorId: string,
): string {
  const { message, ...facts } = factsOf(effect.status);
  switch (effect.type === 'html' ? 'html' : effect.body) {
    case 'object':
      return JSON.stringify(errorBody(message, facts, errorId));
    case 'legacy':
      return JSON.stringify({ detail: { status: facts.code, message } });
    case 'string':
      return JSON.stringify({ detail: message });
    case 'empty':
      return '';
    case 'html':
      return `<html><head><title>${effect.status}</title></head><body><h1>Bad gateway</h1></body></html>`;
  }
}

function factsOf(status: number): { type: string; code: string; message: string } {
  const type = status >= 500 ? 'server_error' : 'invalid_request';
  if (status === 500) return { type, code: 'internal_error', message: 'Something went wrong on our side.' };
  return { type, code: codeOf(status), message: `${STATUS_CODES[status] ?? 'Unknown error'}.` };
}

export async function pause(realMs: number, closing: AbortSignal): Promise<void> {
  await sleep(realMs, undefined, { signal: closing, ref: false }).catch((error: unknown) => {
    if (!closing.aborted) throw error;
  });
}

/** Waits until the client gives up; closing the server also cuts the connection. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

export function cutConnection(request: FastifyRequest): void {
  request.exchange.cut = true;
  request.raw.socket.resetAndDestroy();
}

/** Announces the whole body, sends its beginning and closes the connection. */
export function breakOff(request: FastifyRequest, reply: FastifyReply, beginning: string, whole: string): Readable {
  reply.header('content-length', Buffer.byteLength(whole));
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from(beginning);
    request.exchange.cut = true;
    // Headers and beginning are sent at the end of this turn.
    await nextTurn();
    request.raw.socket.destroySoon();
  }
  return Readable.from(pieces(), { objectMode: false });
}

export function dribble(
  reply: FastifyReply,
  body: string,
  { bytes, pauseMs }: { bytes: number; pauseMs: number },
  closing: AbortSignal,
): Readable {
  const whole = Buffer.from(body);
  reply.header('content-length', whole.length);
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let from = 0; from < whole.length; from += bytes) {
      if (from > 0) await pause(pauseMs, closing);
      yield whole.subarray(from, from + bytes);
    }
  }
  return Readable.from(pieces(), { objectMode: false, highWaterMark: 1 });
}

interface About {
  agentIds: string[];
  numberIds: string[];
  /** Digits with `+`: the numbers called and the imported one. */
  numbers: string[];
}

export function aboutOf(request: FastifyRequest, service: Service): About {
  const parameters = fieldsOf(request.params);
  const query = fieldsOf(request.query);
  const body = fieldsOf(request.body);
  const calls = listOf(body['calls']).map((call) => fieldsOf(call)['to_phone_number']);
  const recipients = listOf(body['recipients']).map((recipient) => fieldsOf(recipient)['phone_number']);
  const [conversationId = ''] = texts(parameters['conversation_id']);
  const conversation = service.state.conversations.get(conversationId);
  return {
    agentIds: texts(parameters['agent_id'], query['agent_id'], body['agent_id'], conversation?.agentId),
    numberIds: texts(
      parameters['phone_number_id'],
      body['from_phone_number_id'],
      body['agent_phone_number_id'],
      fieldsOf(body['channel_config'])['agent_phone_number_id'],
      conversation?.phoneNumberId,
    ),
    numbers: texts(body['phone_number'], conversation?.to, ...calls, ...recipients),
  };
}

export function faultedRequest(request: FastifyRequest, service: Service): FaultedRequest {
  let known: About | null = null;
  const about = (): About => (known ??= aboutOf(request, service));
  return {
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : (value ?? null);
    },
    hasCursor: fieldsOf(request.query)['cursor'] !== undefined,
    agentIds: () => about().agentIds,
    numbers: () => [...about().numberIds, ...about().numbers],
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(...values: unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}
