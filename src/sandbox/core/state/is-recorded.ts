import type { Talk } from './talk.ts';
import type { CallCourse } from './call.ts';

/** Whether a call has left a recording by `now`: somebody or something picked up, a word was said, and it is over. */
export function isRecorded(course: CallCourse, talk: Talk, now: number): boolean {
  return course.answeredAt !== null && now >= course.endedAt && talk.turns.length > 0;
}
