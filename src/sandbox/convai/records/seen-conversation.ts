import { isRecorded, stateOf, type Call, type CallCourse, type CallState } from '../../core/state/call.ts';
import type { Talk, Turn, Assessment } from '../../core/state/talk.ts';
import type { Dialect } from '../../schemas/building-blocks.ts';
import type { RecordHabits } from '../../core/world/record-habits.ts';
import { ShownRecord } from './shown-record.ts';
import { isoTime, unixSeconds } from '../../core/times.ts';
import { assess } from '../../core/conversation/assess.ts';
import { talkOf } from '../../core/conversation/talk-of.ts';

export interface ConversationView {
  seed: string;
  dialect: Dialect;
  now: number;
  habits: RecordHabits;
  shownTime: (at: number) => number;
  audioUrl: (conversationId: string) => string | null;
}

/** A conversation as it stands at one moment. What was said is worked out when it is first wanted: most lists do not show it. */
export class SeenConversation {
  readonly call: Call;
  readonly course: CallCourse;
  readonly state: CallState;
  readonly startedAt: number;
  readonly durationSeconds: number;
  readonly ended: boolean;
  readonly analysed: boolean;
  readonly shown: ShownRecord;
  readonly #view: ConversationView;
  #talk: Talk | null = null;
  #turns: readonly Turn[] | null = null;
  #assessment: Assessment | null = null;

  constructor(call: Call, view: ConversationView) {
    const { course } = call;
    if (course === null) throw new Error(`Conversation ${call.conversationId} has a record before its call was dialled.`);
    const { now } = view;
    this.shown = new ShownRecord(view.seed, call, view.habits);
    const countedFrom = course.answeredAt ?? (this.shown.countsRing ? call.dialedAt : null);
    const talkMs = countedFrom === null ? 0 : Math.max(0, Math.min(now, course.endedAt) - countedFrom);
    this.#view = view;
    this.call = call;
    this.course = course;
    this.state = stateOf(call, now);
    this.startedAt = call.recordedAt ?? course.endedAt;
    this.durationSeconds = Math.round(talkMs / 1000);
    this.ended = now >= course.endedAt;
    this.analysed = now >= course.analysedAt;
  }

  get talk(): Talk {
    return (this.#talk ??= recallTalk(this.#view.seed, this.call));
  }

  get turns(): readonly Turn[] {
    return (this.#turns ??= this.talk.turns.filter((turn) => turn.at <= this.#view.now));
  }

  isoTime(at: number): string {
    return isoTime(this.#view.shownTime(at));
  }

  unixSeconds(at: number): number {
    return unixSeconds(this.#view.shownTime(at));
  }

  get recorded(): boolean {
    return isRecorded(this.course, this.talk, this.#view.now);
  }

  get assessment(): Assessment {
    return (this.#assessment ??= recallAssessment(this.call, this.talk));
  }

  /** The carrier tells its result when it knows it; a conversation that broke down was no matter of the carrier. */
  get hasCarrierResult(): boolean {
    const { course, state, ended } = this;
    return !course.brokeDown && (course.answeredAt === null ? ended : state !== 'dialing');
  }
}

const mostRemembered = 1_000;

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
  if (remembered.size > mostRemembered) remembered.delete(oldest);
  return known.talk;
}

export function recallAssessment(call: Call, talk: Talk): Assessment {
  const known = call.course === null ? undefined : remembered.get(call.course);
  if (known?.talk !== talk) return assess(call.agent?.platform ?? {}, talk);
  known.assessment ??= assess(call.agent?.platform ?? {}, talk);
  return known.assessment;
}
