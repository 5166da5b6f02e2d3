import { isListed, isOpen, stateOf, type Call, type CallCourse } from '../state/call.ts';
import { talkOf } from '../conversation/talk-of.ts';

const turnCounts = new WeakMap<CallCourse, number>();

/** What really happened to an accepted call, for judges. Times are epoch milliseconds of service time, or null. */
export function tellCall(seed: string, call: Call, now: number) {
  const { course } = call;
  const known = course !== null && now >= (course.answeredAt ?? course.endedAt);
  return {
    callId: call.callId,
    batchId: call.batchId,
    requestId: call.requestId,
    agentId: call.agentId,
    to: call.to,
    nth: call.nth,
    acceptedAt: call.acceptedAt,
    realAcceptedAt: call.realAcceptedAt,
    queuedAt: call.acceptedAt,
    dialedAt: call.dialedAt,
    endedAt: course !== null && !isOpen(call, now) ? course.endedAt : null,
    state: stateOf(call, now),
    result: known ? course.result : null,
    silent: known && course.silent,
    optedOut: known && course.optedOut,
    conversationId: call.recordedAt === null ? null : call.conversationId,
    transcriptTurns: countTurns(seed, call),
    openingLine: call.openingLine,
    /** When its record comes, or came, into the list; null while or where there is none. */
    listedAt: call.recordedAt === null ? null : call.recordedAt + call.hiddenForMs,
    visible: isListed(call, now),
  };
}

export type CallTruth = ReturnType<typeof tellCall>;

/** Judges ask for all calls again and again, so what cannot change any more is kept. */
function countTurns(seed: string, call: Call): number {
  if (call.course === null || call.course.endedAt === Infinity) return 0;
  const known = turnCounts.get(call.course);
  if (known !== undefined) return known;
  const count = talkOf(seed, call).turns.length;
  turnCounts.set(call.course, count);
  return count;
}
