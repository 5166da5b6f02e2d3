import {
  isIdle,
  rowOf,
  type Attempt,
  type Batch,
  type AuditState,
  type CallFacts,
  type Campaign,
  type EventType,
  type LoggedEvent,
} from './book.ts';
import { numberOf, textOf } from './judged-rules.ts';
import type { Callback } from './number-book.ts';

/** A log line and what it refers to, by the current state. */
export class Line {
  readonly book: AuditState;
  readonly campaign: Campaign;
  readonly event: LoggedEvent;
  readonly data: Record<string, unknown>;
  readonly facts: CallFacts | undefined;
  /** Empty: none. */
  readonly recipientId: string;
  readonly calls: readonly Attempt[];
  readonly attempt: Attempt | undefined;
  readonly batch: Batch | undefined;

  constructor(book: AuditState, campaign: Campaign, event: LoggedEvent, facts: CallFacts | undefined) {
    const { type, attemptId = '', recipientId = '', batchId, data = {} } = event;
    const names = type.startsWith('attempt.') && type !== 'attempt.planned';
    this.book = book;
    this.campaign = campaign;
    this.event = event;
    this.data = data;
    this.facts = facts;
    this.recipientId = names ? rowOf(attemptId) : recipientId;
    this.calls = campaign.callsOf(this.recipientId);
    this.attempt = names ? this.calls.find((one) => one.attemptId === attemptId) : undefined;
    const isOwn = this.attempt === undefined || type === 'attempt.posted';
    this.batch = campaign.batches.get((isOwn ? batchId : this.attempt?.batchId) ?? '');
  }

  /** Null: no such row. */
  get row(): number | null {
    return this.campaign.rowNumber(this.recipientId);
  }

  get outcome(): string | undefined {
    return this.campaign.outcomes.get(this.recipientId);
  }

  get number(): string {
    return String(this.data['e164']);
  }

  /** The key by which caps count a person: `personKey`, else the row's own id. */
  get person(): string | null {
    return textOf(this.data['personKey']) ?? textOf(this.data['person']);
  }

  /** Number of the request in its batch. */
  get k(): number {
    return Number(this.data['k']);
  }

  /** The service took nothing. */
  get isIdle(): boolean {
    return isIdle(String(this.data['verdict']));
  }

  /** Round and number of its batch, from its id; null: none. */
  get place(): { round: string; number: number } | null {
    const [, round, number] = /\/(\d+)\/(\d+)$/.exec(this.event.batchId ?? '') ?? [];
    return round === undefined ? null : { round, number: Number(number) };
  }

  get promiseId(): string {
    return String(this.data['promise']);
  }

  get promise(): Callback | undefined {
    return this.campaign.promises.get(this.promiseId);
  }

  /** When a callback is due; null: no valid time. */
  get times(): { dueAt: number; until: number } | null {
    const [dueAt, until] = [numberOf(this.data['dueAt']), numberOf(this.data['until'])];
    return dueAt === null || until === null || until <= dueAt ? null : { dueAt, until };
  }

  /** A call given back on the service's word may have been made: its record shows it, or its end is unknown. */
  get wasMade(): boolean {
    const { attempt, batch, data } = this;
    return attempt?.state === 'released' && batch?.denied === true && (attempt.conversation !== null || data['disposition'] === 'unknown');
  }

  /** Ms; null: no rule or no record asks for another call. */
  get delayAsked(): number | null {
    const { results, callback } = this.campaign.rules;
    const { result, asks } = this.data;
    const delays = results.flatMap(({ result: name, next }) => {
      if (name !== result || next === undefined) return [];
      if (next.kind === asks) return [next.afterMs ?? 0];
      // A callback with an unclear time may become a retry.
      return next.kind === 'callback' && asks === 'retry' && callback?.unclear === 'retry' ? [0] : [];
    });
    return delays.length === 0 || this.attempt?.conversation == null ? null : Math.min(...delays);
  }

  /** How far its time is below an earlier one, in ms. */
  get fall(): number {
    const { event, data, campaign } = this;
    // Giving up a campaign may not reach the service, whose clock this is. Clock steps are logged.
    const isOwnTime = (event.type === 'campaign.state' && data['to'] === 'failed') || event.type.startsWith('clock.');
    return isOwnTime ? 0 : campaign.lastAt - event.at;
  }

  /** Change in calls that may have been placed; negative when some are disproven. */
  get placed(): number {
    const { attempt, batch, data } = this;
    const { type } = this.event;
    if (type === 'attempt.posted') return 1;
    if (type === 'attempt.settled' || type === 'attempt.corrected') return attempt?.state === 'released' ? 1 : 0;
    if (batch === undefined) return 0;
    const { calls, k, verdicts } = batch;
    if (type === 'post.verdict') return this.k === k && this.isIdle ? -calls.length : 0;
    if (type !== 'batch.state') return 0;
    if (data['state'] === 'not_sent' && data['by'] === 'look_up') return -calls.length;
    return data['state'] === 'unknown' && isIdle(verdicts[k - 1]) ? calls.length : 0;
  }
}

export type AttemptLine = Line & { readonly attempt: Attempt };
export type BatchLine = Line & { readonly batch: Batch };

/** Its attempt or batch is known: `alone` rules catch lines without one. */
export type LineOf<Type extends EventType> = Type extends 'attempt.planned'
  ? Line
  : Type extends `attempt.${string}`
    ? AttemptLine
    : Type extends 'batch.posting' | 'batch.state' | 'batch.withdrawing' | 'post.verdict'
      ? BatchLine
      : Line;
