import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaultEffect, ErrorBody } from '../faults/effect.ts';
import { retryAfterHeader } from '../core/plans.ts';
import { drawLatency } from '../faults/latency.ts';
import { changeReply } from '../faults/reply-changes.ts';
import { refuseField } from '../schemas/validate.ts';
import { errorBody, notFound, ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { codeOf } from './error-replies.ts';
import { rateLimited } from './authentication.ts';
import { breakOff, cutConnection, dribble, never, pause } from './connection-faults.ts';
import { aboutOf } from './request-about.ts';
import { STATUS_CODES } from 'node:http';

/** What the faults that hit a request do before its work. Throws the refusal they ask for; true when no answer is to follow. */
export async function sufferBefore(request: FastifyRequest, reply: FastifyReply, service: Service, closing: AbortSignal): Promise<boolean> {
  for (const { ruleId, effect, draw } of request.exchange.hits) {
    changeWorld(effect, 'before', request, service);
    switch (effect.type) {
      case 'delay':
        if (effect.work === 'last') await pause(drawLatency(effect.ms, draw()), closing);
        break;
      case 'rate_limited':
        if (effect.when === 'after') break;
        throw rateLimited(effect.code, waitHeader(effect, service));
      case 'missing':
        throw notFound('record', lastPathPart(request.url));
      case 'expire_cursor':
        throw refuseField(['query', 'cursor'], 'This cursor has expired; start again without one.', 'invalid_cursor');
      case 'revoke_key':
        service.faults.revoke(ruleId, request.exchange.apiKey ?? '');
        throw keyRevoked();
      case 'reset':
      case 'drop':
        if (effect.when === 'after') break;
        reply.hijack();
        if (effect.type === 'reset') cutConnection(request);
        return true;
      case 'html':
      case 'error':
        if (effect.when === 'after') break;
        replaceReply(reply, effect);
        await reply.send(errorPayload(effect, request.exchange.errorId));
        return true;
      // About the reply, done by the operation itself, or by `changeWorld`.
      case 'truncate':
      case 'dribble':
      case 'duplicate':
      case 'reorder':
      case 'missing_field':
      case 'unknown_field':
      case 'unknown_value':
      case 'wrong_count':
      case 'clock_skew':
      case 'no_date':
      case 'partial':
      case 'hide':
      case 'unassign_number':
      case 'unverify_number':
      case 'delete_agent':
        break;
    }
  }
  return false;
}

/** What they do to the reply once the work is done. Returns the body to send instead. */
export async function sufferAfter(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  service: Service,
  closing: AbortSignal,
): Promise<unknown> {
  const { hits, errorId } = request.exchange;
  if (hits.length === 0) return payload;
  const operation = request.routeOptions.config.operation ?? null;
  let body = typeof payload === 'string' ? changeReply(payload, hits, operation) : payload;
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

export function keyRevoked(): ServiceError {
  return new ServiceError(401, 'The API key was revoked.', { code: 'invalid_api_key' });
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

/** Faults of the world behind the service: what a request is about changes under its hands. */
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
