import { cutTurn, speakingMs, type Talk } from '../state/talk.ts';
import { talkOf } from '../conversation/talk-of.ts';
import { Random } from '../random.ts';
import { closeCourse, failedCourse, unansweredCalls } from './callee.ts';
import { openCourse, type Call, type CallCourse, type CallResult, type ForcedCourse } from '../state/call.ts';

const hungUpReason = 'The call was hung up.';

const resultAfterMs: Record<CallResult, { least: number; most: number }> = {
  answered: { least: 3_000, most: 12_000 },
  voicemail: { least: 4_000, most: 20_000 },
  ...unansweredCalls,
};

/** For a call dialled at `dialedAt`; one already ringing gets its result at `resultAt`. */
export function forcedCourse(
  forced: ForcedCourse,
  facts: { seed: string; to: string; nth: number; dialedAt: number; resultAt?: number; meanTalkSeconds: number },
): CallCourse {
  const { result } = forced;
  const random = new Random(facts.seed, facts.to, facts.nth, 'forced course');
  const { least, most } = resultAfterMs[result];
  const resultAt = facts.resultAt ?? Math.round(facts.dialedAt + random.between(least, most));
  if (result !== 'answered' && result !== 'voicemail') return { ...failedCourse(resultAt, unansweredCalls[result].reason), result };
  const machine = result === 'voicemail';
  const drawnSeconds = machine ? 20 : random.logNormal(facts.meanTalkSeconds, 0.5);
  return openCourse(resultAt, {
    result,
    analysisMs: random.between(2_000, 8_000),
    leastTalkMs: Math.min(600_000, (forced.talkSeconds ?? drawnSeconds) * 1000),
    silent: !machine && forced.silent,
    optedOut: !machine && forced.optsOut,
    analysis: forced.analysis,
    cooperative: !machine && !forced.silent && !forced.optsOut,
  });
}

export function hangUpCall(
  network: { redirect(call: Call, course: CallCourse, at: number): void },
  call: Call,
  { seed, at, why = hungUpReason }: { seed: string; at: number; why?: string },
): void {
  if (call.course === null) return;
  call.live = { ...cutTalk(seed, call, at), terminationReason: why };
  network.redirect(call, closeCourse(call.course, call.live), at);
}

/** What was said until the hang-up at `at`. Of a talk held elsewhere only the opening line is known. */
export function cutTalk(seed: string, call: Call, at: number): Talk {
  const { course } = call;
  const known = call.live?.turns ?? (course === null || course.endedAt === Infinity ? openingTurn(call) : talkOf(seed, call).turns);
  const turns = known.filter((turn) => turn.at < at).map((turn) => cutTurn(turn, at));
  return { turns, endedAt: at, terminationReason: hungUpReason, brokeDown: false };
}

function openingTurn({ openingLine, course }: Call): Talk['turns'] {
  if (openingLine === null || course?.answeredAt == null) return [];
  const at = course.answeredAt;
  return [{ speaker: 'agent', text: openingLine, at, until: at + speakingMs(openingLine) }];
}
