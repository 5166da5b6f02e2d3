import { expect, test } from 'vitest';
import { recallTalk } from '../../../src/sandbox/convai/records/seen-conversation.ts';
import { failedCourse } from '../../../src/sandbox/core/telephony/callee.ts';
import type { Call } from '../../../src/sandbox/core/state/call.ts';

function callThatEnds(at: number): Call {
  const call: Partial<Call> = { live: null, agent: null, course: failedCourse(at, 'Over.') };
  return call as Call;
}

test('what was said is made out once while it is looked at, and anew for a call that takes another course', () => {
  const call = callThatEnds(1_000);
  const talk = recallTalk('seed', call);
  expect(recallTalk('seed', call)).toBe(talk);
  call.course = failedCourse(2_000, 'Over later.');
  expect(recallTalk('seed', call).endedAt).toBe(2_000);
});

test('a talk that has not ended is never remembered', () => {
  const call = callThatEnds(Infinity);
  expect(recallTalk('seed', call)).not.toBe(recallTalk('seed', call));
});

test('no more than a thousand talks are remembered, those looked at last', () => {
  const [kept, forgotten] = [callThatEnds(1), callThatEnds(2)];
  const [keptTalk, forgottenTalk] = [recallTalk('seed', kept), recallTalk('seed', forgotten)];
  for (let nth = 0; nth < 999; nth += 1) {
    recallTalk('seed', callThatEnds(nth));
    recallTalk('seed', kept);
  }
  expect(recallTalk('seed', kept)).toBe(keptTalk);
  const again = recallTalk('seed', forgotten);
  expect(again).not.toBe(forgottenTalk);
  expect(again).toEqual(forgottenTalk);
});
