import { assess } from '../../core/conversation/assess.ts';
import { talkOf } from '../../core/conversation/talk-of.ts';
import type { Talk } from '../../core/state/talk.ts';
import type { Call, CallCourse } from '../../core/state/call.ts';
import type { Assessment } from '../../core/state/assessment.ts';

const most = 1_000;

/**
 * What was said in the conversations that were looked at last, by the course of their calls: who reads a record or a list again does not
 * wait for it to be made out again. A call that takes another turn has another course.
 */
const remembered = new Map<CallCourse, { talk: Talk; assessment: Assessment | null }>();

export function recallTalk(seed: string, call: Call): Talk {
  const { course, live } = call;
  // What was held elsewhere is kept with the call, and may still grow.
  if (live !== null || course === null || course.endedAt === Infinity) return talkOf(seed, call);
  const known = remembered.get(course) ?? { talk: talkOf(seed, call), assessment: null };
  remembered.delete(course);
  remembered.set(course, known);
  const [oldest = course] = remembered.keys();
  if (remembered.size > most) remembered.delete(oldest);
  return known.talk;
}

export function recallAssessment(call: Call, talk: Talk): Assessment {
  const known = call.course === null ? undefined : remembered.get(call.course);
  if (known?.talk !== talk) return assess(call.agent?.platform ?? {}, talk);
  known.assessment ??= assess(call.agent?.platform ?? {}, talk);
  return known.assessment;
}
