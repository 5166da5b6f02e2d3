import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaultEffect } from '../faults/fault-rule.ts';
import type { Clock } from '../clock.ts';
import { errorBody, notFound } from '../service-error.ts';
import { rateLimited } from './authentication.ts';

/** What the faults that hit a request do before its work. Throws the refusal they ask for; true when the connection is gone. */
export async function sufferBefore(
  request: FastifyRequest,
  reply: FastifyReply,
  clock: Clock,
  closing: AbortSignal,
): Promise<boolean> {
  for (const { effect } of request.exchange.hits) {
    switch (effect.type) {
      case 'delay':
        if (effect.work === 'last') await pause(effect.ms, closing);
        break;
      case 'rate_limited':
        throw rateLimited(effect.code, retryAfterHeader(effect, clock));
      case 'missing':
        throw notFound('record', lastPathPart(request.url));
      case 'reset':
        if (effect.when === 'before') {
          reply.hijack();
          cutConnection(request);
          return true;
        }
        break;
      case 'html':
      case 'error':
        if (effect.when === 'before') {
          replaceReply(reply, effect);
          await reply.send(errorPayload(effect, request.exchange.errorId));
          return true;
        }
        break;
      case 'truncate':
      case 'partial':
      case 'hide':
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
  closing: AbortSignal,
): Promise<unknown> {
  let body = payload;
  for (const { effect } of request.exchange.hits) {
    if (effect.type === 'delay' && effect.work === 'first') await pause(effect.ms, closing);
    else if (effect.type === 'truncate' && typeof body === 'string') body = body.slice(0, Math.floor(body.length / 2));
    else if (effect.type === 'reset' && effect.when === 'after') cutConnection(request);
    else if ((effect.type === 'error' || effect.type === 'html') && effect.when === 'after') {
      replaceReply(reply, effect);
      body = errorPayload(effect, request.exchange.errorId);
    }
  }
  return body;
}

function cutConnection(request: FastifyRequest): void {
  request.exchange.cut = true;
  request.raw.socket.resetAndDestroy();
}

export async function pause(realMs: number, closing: AbortSignal): Promise<void> {
  await sleep(realMs, undefined, { signal: closing, ref: false }).catch((error: unknown) => {
    if (!closing.aborted) throw error;
  });
}

type ReplyEffect = Extract<FaultEffect, { type: 'error' | 'html' }>;

function replaceReply(reply: FastifyReply, effect: ReplyEffect): void {
  reply.code(effect.status);
  reply.header('content-type', effect.type === 'html' ? 'text/html' : 'application/json; charset=utf-8');
}

function errorPayload(effect: ReplyEffect, errorId: string): string {
  if (effect.type === 'html')
    return `<html><head><title>${effect.status}</title></head><body><h1>Bad gateway</h1></body></html>`;
  const message = 'Something went wrong on our side.';
  const facts = { type: 'server_error', code: 'internal_error' };
  const bodies: Record<typeof effect.body, string> = {
    object: JSON.stringify(errorBody(message, facts, errorId)),
    legacy: JSON.stringify({ detail: { status: facts.code, message } }),
    string: JSON.stringify({ detail: message }),
    empty: '',
  };
  return bodies[effect.body];
}

function retryAfterHeader(
  effect: Extract<FaultEffect, { type: 'rate_limited' }>,
  clock: Clock,
): Record<string, string> {
  if (effect.retryAfter === 'none') return {};
  const date = new Date(Math.ceil(clock.now() / 1000 + effect.seconds) * 1000);
  return { 'retry-after': effect.retryAfter === 'date' ? date.toUTCString() : String(effect.seconds) };
}

function lastPathPart(url: string): string {
  return decodeURIComponent(url.split('?')[0]?.split('/').at(-1) ?? '');
}
