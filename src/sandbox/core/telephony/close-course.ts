import { asksToStop } from '../conversation/hearing.ts';
import type { CallCourse } from '../state/call.ts';
import type { Talk } from '../state/talk.ts';

/** The course once it is known what was said. */
export function closeCourse(course: CallCourse, talk: Talk): CallCourse {
  const { endedAt, terminationReason, brokeDown } = talk;
  return {
    ...course,
    ...(course.person === undefined ? {} : heardOf(course, talk)),
    endedAt,
    analysedAt: Math.round(endedAt + course.analysisMs),
    terminationReason,
    brokeDown,
  };
}

/** What a person of the world really did, whatever was to be expected of them. */
function heardOf({ result }: CallCourse, { turns }: Talk): Pick<CallCourse, 'silent' | 'optedOut'> {
  const said = turns.filter(({ speaker }) => speaker === 'user');
  const answered = result === 'answered';
  return {
    silent: answered && turns.length > 0 && said.length === 0,
    optedOut: answered && said.some(({ text }) => asksToStop(text)),
  };
}
