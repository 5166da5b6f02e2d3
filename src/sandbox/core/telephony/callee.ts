import { Random } from '../random.ts';
import type { Inhabitant, People } from '../world/people.ts';
import { goodwill, type Person, stranger } from '../world/person.ts';
import type { AnalysisScript, Reach } from '../world/schema.ts';
import { openCourse, type CallCourse, type CallResult } from '../state/call.ts';
import { asksToStop } from '../conversation/hearing.ts';
import type { Talk } from '../state/talk.ts';
import { personLines } from '../world/lines.ts';

export interface OutcomeMix {
  answered: number;
  busy: number;
  no_answer: number;
  voicemail: number;
  failed: number;
}

export const unansweredCalls = {
  busy: { least: 1_500, most: 4_000, reason: 'The line is busy.' },
  no_answer: { least: 25_000, most: 35_000, reason: 'Nobody answered.' },
  failed: { least: 500, most: 3_000, reason: 'The carrier could not complete the call.' },
} as const;

export interface DialedNumber {
  seed: string;
  number: string;
  nth: number;
  dialedAt: number;
  people: People;
  outcomeMix: OutcomeMix;
  meanTalkSeconds: number;
}

/** From (seed, number, nth) and hours only: named people, magic endings, patterns, then the population. */
export function decideCourse(dialed: DialedNumber): CallCourse {
  const { seed, number, nth, dialedAt } = dialed;
  const random = new Random(seed, number, nth, 'course');
  const behaviour = behaviourOf(dialed, random);
  if (behaviour.breaksDown === true) return breakDown(random, dialedAt);
  const { result } = behaviour;
  if (result === 'answered' || result === 'voicemail') return pickUp(random, behaviour, dialed);
  const { least, most, reason } = unansweredCalls[result];
  return unanswered(result, dialedAt + random.between(least, most), reason);
}

export function decideInbound(dialed: DialedNumber): CallCourse {
  const { seed, number, nth, people, dialedAt } = dialed;
  const random = new Random(seed, number, nth, 'inbound');
  const inhabitant = people.named(number) ?? people.byPattern(number) ?? people.ofPopulation(seed, number);
  const behaviour: Behaviour = inhabitant === null ? callerBehaviour(number, nth, random) : behaveAs(inhabitant, 'answered', random);
  return { ...pickUp(random, { ...behaviour, ringMs: 0 }, dialed), answeredAt: dialedAt };
}

/** Numbers that never pick up or break down behave normally as inbound callers. */
function callerBehaviour(number: string, nth: number, random: Random): Behaviour {
  const magic = magicBehaviour(number, nth);
  if (magic?.result === 'answered') return magic;
  return { result: 'answered', cooperative: random.chance(goodwill.neutral) };
}

function behaviourOf({ seed, number, nth, dialedAt, people, outcomeMix }: DialedNumber, random: Random): Behaviour {
  const named = people.named(number);
  if (named !== null) return behaveAs(named, drawReached(named.reachAt(dialedAt, number), random) ?? 'answered', random);
  const magic = magicBehaviour(number, nth);
  if (magic !== null) return magic;
  const other = people.byPattern(number) ?? people.ofPopulation(seed, number);
  if (other === null) return drawBehaviour(random, outcomeMix);
  return behaveAs(other, drawReached(other.reachAt(dialedAt, number), random) ?? drawResult(random, outcomeMix), random);
}

function behaveAs({ person, analysis }: Inhabitant, result: CallResult, random: Random): Behaviour {
  return { result, person, analysis, cooperative: random.chance(goodwill[person.mood]) };
}

function drawReached(reach: Reach | null, random: Random): CallResult | null {
  if (reach === null) return null;
  const { busy, absent, voicemail, failed } = reach;
  const answered = Math.max(0, 1 - busy - absent - voicemail - failed);
  return drawResult(random, { busy, no_answer: absent, voicemail, failed, answered });
}

export function failedCourse(endedAt: number, terminationReason: string): CallCourse {
  return unanswered('failed', endedAt, terminationReason);
}

function drawBehaviour(random: Random, mix: OutcomeMix): Behaviour {
  const result = drawResult(random, mix);
  const mood = random.next();
  return { result, optsOut: mood < 0.02, silent: mood >= 0.02 && mood < 0.04, cooperative: mood > 0.3 };
}

function drawResult(random: Random, mix: OutcomeMix): CallResult {
  const weights = Object.entries(mix) as [CallResult, number][];
  let rest = random.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  return weights.find(([, weight]) => (rest -= weight) < 0)?.[0] ?? 'answered';
}

function pickUp(random: Random, behaviour: Behaviour, { dialedAt, meanTalkSeconds }: DialedNumber): CallCourse {
  const machine = behaviour.result === 'voicemail';
  const { person } = behaviour;
  const silent = !machine && (person?.silent ?? behaviour.silent === true);
  const ringMs = behaviour.ringMs ?? (machine ? random.between(15_000, 25_000) : random.between(3_000, 12_000));
  const talkMs = machine
    ? random.between(12_000, 25_000)
    : silent
      ? random.between(25_000, 35_000)
      : Math.min(600_000, Math.max(5_000, random.logNormal(meanTalkSeconds * 1_000, 0.5)));
  const answeredAt = Math.round(dialedAt + ringMs);
  return openCourse(answeredAt, {
    result: behaviour.result,
    analysisMs: behaviour.analysisMs ?? random.between(2_000, 8_000),
    leastTalkMs: person !== undefined && isBrief(person) ? 0 : talkMs,
    silent,
    optedOut: !machine && behaviour.optsOut === true,
    cooperative: !machine && behaviour.cooperative === true,
    ...(machine || person === undefined ? {} : { person, analysis: behaviour.analysis }),
  });
}

function isBrief({ persona, mood, talksOn, leavesAfterTurns, script, wrongPerson }: Person): boolean {
  const inNoMood = persona === 'terse' || mood === 'impatient' || mood === 'hostile';
  return inNoMood || talksOn || leavesAfterTurns !== null || script !== null || wrongPerson !== null;
}

function breakDown(random: Random, dialedAt: number): CallCourse {
  const answeredAt = Math.round(dialedAt + random.between(3_000, 12_000));
  const endedAt = Math.round(answeredAt + random.between(1_000, 3_000));
  const terminationReason = 'The language model was not available.';
  return { ...unanswered('failed', endedAt, terminationReason), answeredAt, brokeDown: true };
}

/** The recipient picks up and hears nothing: the conversation could not begin. */
export function refusedStart(answeredAt: number, terminationReason: string, errorCode: number): CallCourse {
  return { ...unanswered('failed', answeredAt + 1_000, terminationReason), answeredAt, brokeDown: true, errorCode };
}

export function withRingLimit(course: CallCourse, dialedAt: number, ringMs: number): CallCourse {
  const givenUpAt = dialedAt + ringMs;
  const rings = course.answeredAt !== null || course.result === 'no_answer';
  if (!rings || (course.answeredAt ?? course.endedAt) <= givenUpAt) return course;
  return unanswered('no_answer', givenUpAt, unansweredCalls.no_answer.reason);
}

function unanswered(result: CallResult, endedAt: number, terminationReason: string): CallCourse {
  const at = Math.round(endedAt);
  const course = openCourse(at, { result, analysisMs: 0, cooperative: false, terminationReason });
  return { ...course, answeredAt: null, endedAt: at, analysedAt: at };
}

export function closeCourse(course: CallCourse, talk: Talk): CallCourse {
  const { endedAt, terminationReason, brokeDown } = talk;
  return {
    ...course,
    ...(course.person === undefined ? {} : observedTraits(course, talk)),
    endedAt,
    analysedAt: analysedAt(course, talk),
    terminationReason,
    brokeDown,
  };
}

function analysedAt({ analysis, analysisMs }: CallCourse, { endedAt, brokeDown }: Talk): number {
  const after = brokeDown ? undefined : analysis?.after_minutes;
  return after === 'never' ? Infinity : Math.round(endedAt + (after === undefined ? analysisMs : after * 60_000));
}

function observedTraits({ result }: CallCourse, { turns }: Talk): Pick<CallCourse, 'silent' | 'optedOut'> {
  const userTurns = turns.filter(({ speaker }) => speaker === 'user');
  const answered = result === 'answered';
  return {
    silent: answered && turns.length > 0 && userTurns.length === 0,
    optedOut: answered && userTurns.some(({ text }) => asksToStop(text)),
  };
}

export interface Behaviour {
  result: CallResult;
  person?: Person;
  silent?: boolean;
  optsOut?: boolean;
  cooperative?: boolean;
  breaksDown?: boolean;
  ringMs?: number;
  analysisMs?: number;
  analysis?: AnalysisScript | undefined;
}

/** Answered by a person with these traits, by default without goodwill. */
function answeredBy(traits: Partial<Person>, cooperative = false): () => Behaviour {
  const behaviour: Behaviour = { result: 'answered', cooperative, person: { ...stranger, ...traits } };
  return () => behaviour;
}

const magicNumbers: Readonly<Record<string, (nth: number) => Behaviour>> = {
  '0100': () => ({ result: 'answered', cooperative: true }),
  '0101': () => ({ result: 'busy' }),
  '0102': () => ({ result: 'no_answer' }),
  '0103': () => ({ result: 'voicemail', ringMs: 4_000 }),
  '0104': () => ({ result: 'failed' }),
  '0105': answeredBy({ greetsFirst: true, greeting: 'Hello?', leavesAfterSeconds: 2 }),
  '0106': () => ({ result: 'answered', silent: true }),
  '0107': answeredBy({ interrupts: 1 }, true),
  '0108': () => ({ result: 'answered', optsOut: true }),
  '0109': answeredBy({ talksOn: true, mood: 'friendly' }),
  '0110': (nth) => (nth === 1 ? { result: 'busy' } : { result: 'answered', cooperative: true }),
  '0111': answeredBy({ language: 'es' }),
  '0112': answeredBy({ wrongPerson: personLines.wrongNumber }),
  '0113': () => ({ result: 'answered', cooperative: true, analysisMs: 30 * 60_000 }),
  '0114': () => ({ result: 'failed', breaksDown: true }),
  '0115': () => ({ result: 'answered', cooperative: true }),
};

export function magicBehaviour(number: string, nth: number): Behaviour | null {
  return magicNumbers[number.slice(-4)]?.(nth) ?? null;
}

export function isRefusedNumber(number: string): boolean {
  return number.endsWith('0120');
}
