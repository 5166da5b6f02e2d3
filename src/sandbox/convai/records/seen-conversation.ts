import { isRecorded, stateOf, type Call, type CallCourse, type CallState } from '../../core/state/call.ts';
import type { Talk, Turn, Assessment } from '../../core/state/talk.ts';
import type { DialectFacts } from '../../core/dialects.ts';
import type { RecordQuirks } from '../../core/world/record-habits.ts';
import { isoTime, unixSeconds } from '../../core/times.ts';
import { assess, followScript } from '../../core/conversation/assess.ts';
import { talkOf } from '../../core/conversation/talk-of.ts';
import { Random } from '../../core/random.ts';

export interface ConversationView {
  seed: string;
  facts: DialectFacts;
  now: number;
  habits: RecordQuirks;
  shownTime: (at: number) => number;
  audioUrl: (conversationId: string) => string | null;
}

export class ObservedConversation {
  readonly call: Call;
  readonly course: CallCourse;
  readonly state: CallState;
  readonly startedAt: number;
  /** 0 while the talk is under way and hidden. */
  readonly durationSeconds: number;
  readonly ended: boolean;
  readonly analysed: boolean;
  readonly shown: VisibleRecord;
  readonly #view: ConversationView;
  #talk: Talk | null = null;
  #turns: readonly Turn[] | null = null;
  #assessment: Assessment | null = null;

  constructor(call: Call, view: ConversationView) {
    const { course } = call;
    if (course === null) throw new Error(`Conversation ${call.conversationId} has a record before its call was dialled.`);
    const { now } = view;
    this.shown = new VisibleRecord(view.seed, call, view.habits);
    const countedFrom = course.answeredAt ?? (this.shown.countsRing ? call.dialedAt : null);
    const talkMs = countedFrom === null ? 0 : Math.max(0, Math.min(now, course.endedAt) - countedFrom);
    this.#view = view;
    this.call = call;
    this.course = course;
    this.state = stateOf(call, now);
    this.startedAt = call.recordedAt ?? course.endedAt;
    this.ended = now >= course.endedAt;
    this.durationSeconds = this.isHidden ? 0 : Math.round(talkMs / 1000);
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

  /** The talk is under way and its record shows nothing of it. */
  get isHidden(): boolean {
    return !this.facts.showsUnfinished && !this.ended;
  }

  get facts(): DialectFacts {
    return this.#view.facts;
  }

  get recorded(): boolean {
    return isRecorded(this.course, this.talk, this.#view.now);
  }

  get assessment(): Assessment {
    const analysis = (this.#assessment ??= followScript(recallAssessment(this.call, this.talk), this.course, this.#view.now));
    return this.analysed ? analysis : draftOf(analysis, this.call);
  }

  /** The analysis is complete, or shown early as a draft. */
  get showsAnalysis(): boolean {
    return this.analysed || (this.ended && this.facts.further && this.shown.drafts);
  }

  /** The carrier knows a result; a conversation that broke down has none. */
  get hasCarrierResult(): boolean {
    const { course, state, ended } = this;
    return !course.brokeDown && (course.answeredAt === null ? ended : state !== 'dialing');
  }
}

const mostRemembered = 1_000;

/** Talks read last, by course: a call whose talk changes gets another course. */
const remembered = new Map<CallCourse, { talk: Talk; assessment: Assessment | null }>();

export function recallTalk(seed: string, call: Call): Talk {
  const { course, live } = call;
  // Talks held elsewhere are stored with the call and may still grow.
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

/** A draft analysis: each choice differs from the final one. */
function draftOf({ collected, evaluation }: Assessment, { agent }: Call): Assessment {
  const drafted = Object.entries(collected).map(([id, item]) => {
    const choices = agent?.platform.data_collection?.[id]?.enum ?? [];
    const other = choices.find((choice) => choice !== item.value);
    return [id, other === undefined ? item : { ...item, value: other }] as const;
  });
  return { collected: Object.fromEntries(drafted), evaluation };
}

/** Each quirk is drawn separately, so that adding one changes no other. */
export class VisibleRecord {
  readonly #seed: string;
  readonly #call: Call;
  readonly #habits: RecordQuirks;

  constructor(seed: string, call: Call, quirks: RecordQuirks) {
    this.#seed = seed;
    this.#call = call;
    this.#habits = quirks;
  }

  shows(what: 'number' | 'batch' | 'reference' | 'direction'): boolean {
    return this.#happens(what, this.#habits[`${what}_shown`]);
  }

  /** The record of an unanswered call shows times only. */
  get isBare(): boolean {
    const { unanswered } = this.#habits;
    return this.#call.course?.answeredAt === null && (unanswered === 'bare' || unanswered === 'ring');
  }

  get countsRing(): boolean {
    return this.isBare && this.#habits.unanswered === 'ring';
  }

  withholds({ turns }: Talk): boolean {
    return turns.length > 0 && this.#happens('withheld', this.#habits.withheld);
  }

  turns(talk: Talk, begun: readonly Turn[]): readonly Turn[] | undefined {
    if (this.withholds(talk)) return this.#habits.withheld_form === 'absent' ? undefined : [];
    const first = begun.findIndex(({ speaker }) => speaker === 'agent');
    return begun.map((turn, index) => (index === first ? { ...turn, text: this.#line(turn.text) } : turn));
  }

  get drafts(): boolean {
    return this.#happens('draft', this.#habits.draft_analysis);
  }

  withholdsResults(talk: Talk): boolean {
    return this.#habits.withheld_results && this.withholds(talk);
  }

  #line(text: string): string {
    const { altered, shortened, bare_hello: bareHello } = this.#habits;
    const words = text.split(' ');
    if (this.#happens('bare hello', bareHello)) return (words[0] ?? '').replace(/[,.!?]+$/, '');
    const kept = this.#happens('shortened', shortened)
      ? Math.max(1, Math.ceil(this.#draw('words kept').between(0, words.length - 1)))
      : words.length;
    const line = words.slice(0, kept).join(' ');
    return this.#happens('altered', altered) ? alterLetter(line, this.#draw('letter')) : line;
  }

  #happens(what: string, share: number): boolean {
    return share >= 1 || (share > 0 && this.#draw(what).chance(share));
  }

  #draw(what: string): Random {
    return new Random(this.#seed, this.#call.conversationId, 'record', what);
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

function alterLetter(line: string, random: Random): string {
  const places = [...line.matchAll(/[a-z]/gi)].map(({ index }) => index);
  const at = places[Math.floor(random.next() * places.length)];
  if (at === undefined) return line;
  const others = letters.replace(line.charAt(at).toLowerCase(), '');
  return line.slice(0, at) + others.charAt(Math.floor(random.next() * others.length)) + line.slice(at + 1);
}
