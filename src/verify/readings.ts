import { callsOf, type Attempt, type AttemptLine, type Book, type CallFacts, type Campaign, type Line, type LoggedEvent } from './book.ts';
import { numberOf, textOf, type JudgedRules } from './judged-rules.ts';
import { minuteMs } from './local-time.ts';

/** The line of an event, with the attempt and the batch that it names. */
export function lineOf(book: Book, campaign: Campaign, event: LoggedEvent, facts: CallFacts | undefined): Line {
  const { type, attemptId = '' } = event;
  const names = type.startsWith('attempt.') && type !== 'attempt.planned';
  const recipientId = names ? rowOf(attemptId) : (event.recipientId ?? '');
  const calls = callsOf(campaign, recipientId);
  const attempt = names ? calls.find((one) => one.attemptId === attemptId) : undefined;
  const batchId = attempt === undefined || type === 'attempt.posted' ? event.batchId : attempt.batchId;
  const [batch, data] = [campaign.batches.get(batchId ?? ''), event.data ?? {}];
  return { book, campaign, event, data, recipientId, number: String(data['e164']), calls, attempt, batch, facts };
}

/** The recipient of an attempt, by its id. */
export function rowOf(attemptId: string): string {
  return attemptId.slice(0, attemptId.lastIndexOf('/'));
}

/** Which of its row an attempt is, from 1. */
export function nthOf({ attemptId }: Pick<Attempt, 'attemptId'>): number {
  return Number(attemptId.slice(attemptId.lastIndexOf('/') + 1));
}

export function findAttempt(campaign: Campaign, attemptId: string): Attempt | undefined {
  return callsOf(campaign, rowOf(attemptId)).find((attempt) => attempt.attemptId === attemptId);
}

/** Attempts of a recipient that use up its present budget. */
export function countedOf(campaign: Campaign, recipientId: string): Attempt[] {
  const budget = campaign.budgets.get(recipientId) ?? 0;
  return callsOf(campaign, recipientId).filter((attempt) => attempt.counted && attempt.budget === budget);
}

/** The number of a row in the list, by its id; null: the list has no such row. */
export function rowNumber({ campaignId, firstRow, rows }: Campaign, recipientId: string): number | null {
  if (!recipientId.startsWith(`${campaignId}/`)) return null;
  const row = recipientId.slice(campaignId.length + 1);
  return /^[1-9]\d*$/.test(row) && Number(row) >= firstRow && Number(row) < firstRow + rows ? Number(row) : null;
}

export function isTalk({ disposition }: { disposition: string | null }): boolean {
  return disposition === 'answered' || disposition === 'opted_out';
}

/** Whether the service took nothing of a request. */
export function isIdle(verdict: string | null | undefined): boolean {
  return verdict === 'not_sent' || verdict === 'refused';
}

export function hasEnded({ state }: Campaign): boolean {
  return state === 'completed' || state === 'cancelled';
}

/** Whether the goal is reached in this round: whom an operator has called again in a later one is called. */
export function hasGoal({ goals, rounds }: Campaign): boolean {
  return goals.round !== null && goals.round === rounds;
}

/** Round and number of a batch, by its id; null: it has none. */
export function placeOf(batchId: string): { round: string; number: number } | null {
  const [, round, number] = /\/(\d+)\/(\d+)$/.exec(batchId) ?? [];
  return round === undefined ? null : { round, number: Number(number) };
}

/** Whether a call that was given back on the service's word may have been made: its record shows it, or its end is unknown. */
export function wasMade({ attempt, batch, data }: AttemptLine): boolean {
  const mayHaveBeenMade = attempt.conversation !== null || data['disposition'] === 'unknown';
  return attempt.state === 'released' && batch?.denied === true && mayHaveBeenMade;
}

/** How long a talk with this result asks to wait before another call; null: no rule, or no record, says that it asks for one. */
export function delayAsked(
  { results, callback }: JudgedRules,
  { result, asks, conversation }: Pick<Attempt, 'result' | 'asks' | 'conversation'>,
): number | null {
  const delays = results.flatMap(({ result: name, next }) => {
    if (name !== result || next === undefined) return [];
    if (next.kind === asks) return [next.afterMs ?? 0];
    // The time of the callback may be unclear.
    return next.kind === 'callback' && asks === 'retry' && callback?.unclear === 'retry' ? [0] : [];
  });
  return delays.length === 0 || conversation === null ? null : Math.min(...delays);
}

/** Calls that began in the minute before. */
export function startsBefore({ starts }: Campaign, at: number): Campaign['starts'] {
  return (starts[0]?.at ?? at) <= at - minuteMs ? starts.filter((start) => start.at > at - minuteMs) : starts;
}

/** When a promise is to be kept; null: the line has no such time. */
export function timesOf(data: Line['data']): { dueAt: number; until: number } | null {
  const [dueAt, until] = [numberOf(data['dueAt']), numberOf(data['until'])];
  return dueAt === null || until === null || until <= dueAt ? null : { dueAt, until };
}

/** Whom caps by person count: by a key of its own, else by the row's own id. */
export function personOf(data: Line['data']): string | null {
  return textOf(data['personKey']) ?? textOf(data['person']);
}

/** A talk after which the recipient is not called: only a record of its own, read to its end, may have asked for more. */
export function isLastWord(attempt: Attempt): boolean {
  return isTalk(attempt) && (attempt.disposition === 'opted_out' || attempt.asks === null);
}

export function isReached(outcome: string | undefined): boolean {
  return outcome === 'completed' || outcome === 'opted_out';
}

/** How many more calls may have been placed, by this line: negative where it shows that none of some was. */
export function callsPlaced({ event: { type }, attempt, batch, data }: Line): number {
  if (type === 'attempt.posted') return 1;
  if (type === 'attempt.settled' || type === 'attempt.corrected') return attempt?.state === 'released' ? 1 : 0;
  const { calls = [], k = 0, verdicts = [] } = batch ?? {};
  if (type === 'post.verdict') return Number(data['k']) === k && isIdle(String(data['verdict'])) ? -calls.length : 0;
  if (type !== 'batch.state') return 0;
  if (data['state'] === 'not_sent' && data['by'] === 'look_up') return -calls.length;
  return data['state'] === 'unknown' && isIdle(verdicts[k - 1]) ? calls.length : 0;
}
