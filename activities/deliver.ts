import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { failureTypes } from '../src/rules/failure-types.ts';
import { longestDeliveryMs, pauseAfterFailuresMs } from '../src/rules/webhooks/pace.ts';
import { HookError, addressPlace } from '../src/shared/hooks/errors.ts';
import { postSigned } from '../src/shared/hooks/signed-post.ts';
import { EventFeed } from '../src/ledger/read/event-feed.ts';
import { writeMessage, type WebhookMessage } from '../src/ledger/webhooks/message.ts';
import { claimDeliveries, moveCursor, noteDelivered, noteFailed, readClaim, type Claim } from '../src/ledger/webhooks/deliveries.ts';
import type { Webhook } from '../src/ledger/webhooks/registry.ts';
import { instantForLog, messageTimeoutMs, senderOf, type ActivityDependencies } from './dependencies.ts';
import { expectedWait } from './failures.ts';
import { startHeartbeat } from './heartbeat.ts';

export interface DeliverInput {
  webhookId: string;
}

export interface DeliverResult {
  /** The webhook is paused, disabled or gone. */
  isOver: boolean;
}

/** Real time between polls of the log. */
const pollMs = 1_000;
const pageSize = 200;
/** How often the cursor is saved past unwanted events; rereading them is harmless. */
const keepEveryMs = 30_000;

interface Delivery {
  deps: ActivityDependencies;
  claim: Claim;
  webhook: Webhook;
  /** Activity cancelled: aborts the request under way. */
  calledOff: AbortSignal;
  /** Cancelled, or the process stops: the request under way still gets its answer. */
  leaving: AbortSignal;
  onStep: () => void;
}

/**
 * Delivers events in order from the cursor until time or work is over. Throws a retryable failure for an event not taken; the next try
 * begins with it.
 */
export async function deliver(deps: ActivityDependencies, { webhookId }: DeliverInput): Promise<DeliverResult> {
  const claimed = await claimDeliveries(deps.store, webhookId);
  if (claimed === null) return { isOver: true };
  const context = Context.current();
  const { cancellationSignal: calledOff } = context;
  const leaving = AbortSignal.any([calledOff, deps.stopping]);
  const everyMs = deps.limits.heartbeatEveryMs;
  const heartbeat = startHeartbeat(() => context.heartbeat(), { everyMs, longestStepMs: 4 * messageTimeoutMs });
  try {
    return await deliverInOrder({ deps, ...claimed, calledOff, leaving, onStep: heartbeat.step });
  } finally {
    heartbeat.stop();
  }
}

async function deliverInOrder(delivery: Delivery): Promise<DeliverResult> {
  const { deps, claim, webhook, leaving, onStep } = delivery;
  const { store } = deps;
  const feed = new EventFeed(store);
  const begunAt = deps.monotonicMs();
  let { cursor } = webhook;
  let kept = { cursor, at: begunAt };
  for (;;) {
    onStep();
    const end = await findEnd(delivery);
    if (end !== null) return end;
    const page = await feed.read({ afterSeq: cursor, campaignId: null, limit: pageSize });
    for (const event of page.events) {
      const message = await writeMessage(store.db, webhook, event);
      if (message === null) continue;
      onStep();
      const left = await deliverOne(delivery, message, event.seq);
      if (left !== null) return left;
      kept = { cursor: event.seq, at: deps.monotonicMs() };
    }
    ({ cursor } = page);
    const isLeaving = leaving.aborted || deps.monotonicMs() - begunAt >= longestDeliveryMs;
    const isDue = isLeaving || deps.monotonicMs() - kept.at >= keepEveryMs;
    if (cursor > kept.cursor && isDue) {
      await moveCursor(store, claim, cursor);
      kept = { cursor, at: deps.monotonicMs() };
    }
    if (isLeaving) return { isOver: false };
    if (page.events.length < pageSize) await sleep(pollMs, undefined, { signal: leaving }).catch(() => {});
  }
}

/** Null when the receiver confirmed it; else how the delivery ends. Throws when the receiver did not take it. */
async function deliverOne(delivery: Delivery, message: WebhookMessage, seq: number): Promise<DeliverResult | null> {
  const { deps, claim, webhook, calledOff, leaving } = delivery;
  const end = await findEnd(delivery);
  if (end !== null) return end;
  if (leaving.aborted) return { isOver: false };
  try {
    // No transaction is open during the request.
    await postSigned({ ...senderOf(deps), url: webhook.url, eventId: message.id, body: message.body, stopping: calledOff });
  } catch (error) {
    if (error instanceof HookError) return failOne(delivery, error);
    throw error;
  }
  const confirmed = { cursor: seq, now: await instantForLog(deps), nowReal: deps.nowReal() };
  return (await noteDelivered(deps.store, claim, confirmed)) ? null : findEnd(delivery);
}

/** Null: the delivery may go on. */
async function findEnd({ deps, claim }: Delivery): Promise<DeliverResult | null> {
  const claimStatus = await readClaim(deps.store, claim);
  return claimStatus === 'held' ? null : { isOver: claimStatus === 'over' };
}

const statusGone = 410;

async function failOne({ deps, claim, webhook }: Delivery, { fault, status }: HookError): Promise<DeliverResult> {
  if (fault === 'stopped') return { isOver: false };
  const { webhookId } = claim;
  const isFinal = status === statusGone;
  const failed = { fault, status, isFinal, now: await instantForLog(deps), nowReal: deps.nowReal() };
  const failures = await noteFailed(deps.store, claim, failed);
  if (failures === null) return { isOver: false };
  const place = addressPlace(webhook.url);
  if (isFinal) {
    deps.logger.warn({ webhookId, place }, 'a webhook is disabled: its receiver wants nothing more (410)');
    return { isOver: true };
  }
  const retryInMs = pauseAfterFailuresMs(failures);
  deps.logger.warn({ webhookId, place, fault, status, failures, retryInMs }, 'a webhook did not take an event');
  throw expectedWait({ type: failureTypes.hook, message: `The webhook did not take an event (${status ?? fault})`, retryInMs });
}
