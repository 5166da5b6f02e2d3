import type { Call, CallCourse } from '../state/call.ts';
import { stranger } from '../world/person.ts';
import { builtInResponderOf } from './built-in-agent.ts';
import { configOf, languageOfAgent, maxDurationMs, silenceLimitMs, turnTimeoutMs } from './call-config.ts';
import { type Recipient, converseNow, type TalkSetup } from './converse.ts';
import { drawMachine, drawPerson } from './drawn-person.ts';
import { isHeldByModel } from './effective-llm.ts';
import { personLines } from '../world/lines.ts';
import { questionsOf } from './questions.ts';
import type { Talk } from '../state/talk.ts';

/** Regenerated for the built-in agent, otherwise stored with the call. */
export function talkOf(seed: string, call: Call): Talk {
  if (call.live !== null) return call.live;
  const { course } = call;
  if (course?.answeredAt == null || course.brokeDown || call.agent === null) return silence(course);
  // A model's words are unknown until the talk was held.
  if (isHeldByModel(call)) return silence(course);
  return converseNow(setUpTalk(seed, call, course, course.answeredAt), builtInResponderOf(call));
}

export function setUpTalk(seed: string, call: Call, course: CallCourse, answeredAt: number): TalkSetup {
  const config = configOf(call);
  return {
    seed,
    conversationId: call.conversationId,
    answeredAt,
    openingLine: call.openingLine ?? 'Hello.',
    callee: whoAnswers(seed, call, course),
    leastMs: course.leastTalkMs,
    mostMs: maxDurationMs(config),
    silenceMs: turnTimeoutMs(config),
    silenceLimitMs: silenceLimitMs(config),
  };
}

function whoAnswers(seed: string, call: Call, course: CallCourse): Recipient {
  const { conversationId } = call;
  const { result, silent, optedOut, cooperative } = course;
  if (result === 'voicemail') return drawMachine(seed, conversationId);
  const person = course.person ?? { ...stranger, silent, optsOut: optedOut ? personLines.optOut : null };
  const questions = questionsOf(call.agent?.platform.data_collection);
  const calledIn = languageOfAgent(configOf(call));
  return drawPerson({ seed, conversationId, person, cooperative, questions, calledIn });
}

function silence(course: CallCourse | null): Talk {
  return {
    turns: [],
    endedAt: course?.endedAt ?? 0,
    terminationReason: course?.terminationReason ?? '',
    brokeDown: course?.brokeDown ?? false,
  };
}
