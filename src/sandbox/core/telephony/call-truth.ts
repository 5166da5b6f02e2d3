import { isListed, isOpen, stateOf, type Call, type CallCourse } from '../state/call.ts';
import { assess } from '../conversation/assess.ts';
import { talkOf } from '../conversation/talk-of.ts';

interface SpokenFacts {
  turns: number;
  collected: Readonly<Record<string, unknown>>;
}

const known = new WeakMap<CallCourse, SpokenFacts>();

/** What really happened to an accepted call. Times: epoch ms of service time, or null. */
export function describeCallTruth(seed: string, call: Call, now: number) {
  const { course } = call;
  const isTold = course !== null && now >= (course.answeredAt ?? course.endedAt);
  const spoken = spokenFactsOf(seed, call);
  return {
    callId: call.callId,
    batchId: call.batchId,
    requestId: call.requestId,
    agentId: call.agentId,
    to: call.to,
    /** The caller number; for an inbound call, the number called. Null before dialling. */
    agentNumber: call.agentNumber,
    nth: call.nth,
    acceptedAt: call.acceptedAt,
    realAcceptedAt: call.realAcceptedAt,
    queuedAt: call.acceptedAt,
    dialedAt: call.dialedAt,
    endedAt: course !== null && !isOpen(call, now) ? course.endedAt : null,
    state: stateOf(call, now),
    result: isTold ? course.result : null,
    silent: isTold && course.silent,
    optedOut: isTold && course.optedOut,
    conversationId: call.recordedAt === null ? null : call.conversationId,
    transcriptTurns: spoken.turns,
    /** Values by item id, regardless of what the record shows; empty before the call is over. */
    collected: spoken.collected,
    openingLine: call.openingLine,
    /** When its record appears in the list; null without a record. */
    listedAt: call.recordedAt === null ? null : call.recordedAt + call.hiddenForMs,
    visible: isListed(call, now),
  };
}

export type CallTruth = ReturnType<typeof describeCallTruth>;

/** Cached once final: verifiers read all calls repeatedly. */
function spokenFactsOf(seed: string, call: Call): SpokenFacts {
  const { course, agent } = call;
  if (course === null || course.endedAt === Infinity) return { turns: 0, collected: {} };
  const kept = known.get(course);
  if (kept !== undefined) return kept;
  const talk = talkOf(seed, call);
  const items = Object.entries(assess(agent?.platform ?? {}, talk).collected);
  const spoken = { turns: talk.turns.length, collected: Object.fromEntries(items.map(([id, { value }]) => [id, value])) };
  known.set(course, spoken);
  return spoken;
}
