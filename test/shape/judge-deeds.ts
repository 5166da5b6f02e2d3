import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';

/** What a person did to the row of a number, and what they were answered at last; `at`: when, in real time. */
export interface Deed {
  act: 'suppress' | 'withdraw';
  phone: string;
  /** `unheard`: nobody knows; `refused`: it was not done, be it since a call was open. */
  end: 'done' | 'refused' | 'unheard';
  at: number;
}

/** Calls, results and acts of a campaign that its people acted upon. */
export interface DeedTrial {
  calls: readonly Pick<CallTruth, 'to' | 'requestId' | 'realAcceptedAt'>[];
  outcomes: ReadonlyMap<string, string>;
  deeds: readonly Deed[];
  pauses: readonly { from: number; to: number }[];
  /** At most so many calls in a batch, from an answer on. */
  smaller: { at: number; size: number } | null;
  /** Changes in the event log, and those that people know to have been carried out, or know nothing of. */
  logged: number;
  counts: { carriedOut: number; unheard: number };
}

/** The outcome of a row that was acted upon. */
export const outcomeOf: Readonly<Record<Deed['act'], string>> = { suppress: 'suppressed', withdraw: 'cancelled' };

/** A request may have been on its way for so long. */
const onItsWayMs = 30_000;

/** Batches that may have been planned by then: the one that is being sent, and the one that is planned with it. */
const plannedBefore = 2;

/** Batches by the number in the names of their requests. */
function* judgeSizes({ calls, smaller }: DeedTrial): Generator<string> {
  if (smaller === null) return;
  const numberOf = (requestId: string | null): number => Number(requestId?.split('/').at(-2));
  const before = calls.filter(({ realAcceptedAt }) => realAcceptedAt <= smaller.at);
  const last = Math.max(0, ...before.map(({ requestId }) => numberOf(requestId)));
  const later = calls.filter(({ requestId }) => numberOf(requestId) > last + plannedBefore);
  for (const requestId of new Set(later.map((call) => call.requestId))) {
    const size = later.filter((call) => call.requestId === requestId).length;
    if (size > smaller.size) yield `${requestId} has ${size} calls, after batches of ${smaller.size} were asked for`;
  }
}

/** What became of acts, by the service's calls and the list: what was answered was done, once, and what was refused was not. */
export function* judgeDeeds(trial: DeedTrial): Generator<string> {
  const { calls, outcomes, deeds, pauses, logged, counts } = trial;
  yield* judgeSizes(trial);
  for (const { act, phone, end, at } of deeds) {
    const own = calls.filter(({ to }) => to === phone);
    const outcome = outcomes.get(phone);
    if (end === 'done' && own.some(({ realAcceptedAt }) => realAcceptedAt > at + onItsWayMs))
      yield `${phone} was called after its ${act} was answered`;
    if (end === 'done' && own.length === 0 && outcome !== outcomeOf[act])
      yield `${phone}: its ${act} was answered, and its row is ${outcome}`;
    if (end === 'refused' && outcome === outcomeOf[act]) yield `${phone}: its ${act} was refused, and its row is ${outcome}`;
  }
  for (const { from, to } of pauses) {
    const during = calls.filter(({ realAcceptedAt: at }) => at > from && at < to);
    const requests = new Set(during.map(({ requestId }) => requestId));
    if (requests.size > 1) yield `${requests.size} requests came while it was paused, and one may have been on its way`;
  }
  const { carriedOut, unheard } = counts;
  if (logged < carriedOut || logged > carriedOut + unheard)
    yield `The log has ${logged} changes of people, who were told of ${carriedOut} and know nothing of ${unheard}`;
}
