import { Random } from '../random.ts';
import type { OutcomeMix } from '../settings.ts';
import type { CallCourse, CallResult } from './call.ts';

interface Behaviour {
  result: CallResult;
  silent?: boolean;
  optsOut?: boolean;
  cooperative?: boolean;
  breaksDown?: boolean;
  ringMs?: number;
  analysisMs?: number;
}

/** Numbers whose last four digits decide what happens, whatever the seed; `0120` is refused before it is queued. */
const magicNumbers: Readonly<Record<string, (nth: number) => Behaviour>> = {
  '0100': () => ({ result: 'answered', cooperative: true }),
  '0101': () => ({ result: 'busy' }),
  '0102': () => ({ result: 'no_answer' }),
  '0103': () => ({ result: 'voicemail', ringMs: 4_000 }),
  '0104': () => ({ result: 'failed' }),
  '0106': () => ({ result: 'answered', silent: true }),
  '0108': () => ({ result: 'answered', optsOut: true }),
  '0110': (nth) => (nth === 1 ? { result: 'busy' } : { result: 'answered', cooperative: true }),
  '0113': () => ({ result: 'answered', cooperative: true, analysisMs: 30 * 60_000 }),
  '0114': () => ({ result: 'failed', breaksDown: true }),
};

export function isRefusedNumber(number: string): boolean {
  return number.endsWith('0120');
}

/** Milliseconds from dialling to the end. */
const unansweredCalls = {
  busy: { least: 1_500, most: 4_000, reason: 'The line is busy.' },
  no_answer: { least: 25_000, most: 35_000, reason: 'Nobody answered.' },
  failed: { least: 500, most: 3_000, reason: 'The carrier could not complete the call.' },
} as const;

export interface DialedNumber {
  seed: string;
  number: string;
  /** Which dial of this number, from 1. */
  nth: number;
  dialedAt: number;
  outcomeMix: OutcomeMix;
  meanTalkSeconds: number;
}

/** Decides a call from (seed, number, nth) alone; nothing is drawn from a stream that other calls share. */
export function decideCourse(dialed: DialedNumber): CallCourse {
  const { seed, number, nth, dialedAt } = dialed;
  const random = new Random(seed, number, nth, 'course');
  const behaviour = magicNumbers[number.slice(-4)]?.(nth) ?? drawBehaviour(random, dialed.outcomeMix);
  if (behaviour.breaksDown === true) return breakDown(random, dialedAt);
  const { result } = behaviour;
  if (result === 'answered' || result === 'voicemail') return pickUp(random, behaviour, dialed);
  const { least, most, reason } = unansweredCalls[result];
  return unanswered(result, dialedAt + random.between(least, most), reason);
}

/** A call that the network could not place at all. */
export function failedCourse(endedAt: number, terminationReason: string): CallCourse {
  return unanswered('failed', endedAt, terminationReason);
}

function drawBehaviour(random: Random, mix: OutcomeMix): Behaviour {
  const weights = Object.entries(mix) as [CallResult, number][];
  let rest = random.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  const chosen = weights.find(([, weight]) => (rest -= weight) < 0)?.[0] ?? 'answered';
  const mood = random.next();
  return { result: chosen, optsOut: mood < 0.02, silent: mood >= 0.02 && mood < 0.04, cooperative: mood > 0.3 };
}

function pickUp(random: Random, behaviour: Behaviour, { dialedAt, meanTalkSeconds }: DialedNumber): CallCourse {
  const machine = behaviour.result === 'voicemail';
  const silent = !machine && behaviour.silent === true;
  const ringMs = behaviour.ringMs ?? (machine ? random.between(15_000, 25_000) : random.between(3_000, 12_000));
  const talkMs = machine
    ? random.between(12_000, 25_000)
    : silent
      ? random.between(25_000, 35_000)
      : Math.min(600_000, Math.max(5_000, random.logNormal(meanTalkSeconds * 1_000, 0.5)));
  const answeredAt = Math.round(dialedAt + ringMs);
  const endedAt = Math.round(answeredAt + talkMs);
  return {
    result: behaviour.result,
    answeredAt,
    endedAt,
    analysedAt: Math.round(endedAt + (behaviour.analysisMs ?? random.between(2_000, 8_000))),
    silent,
    optedOut: !machine && behaviour.optsOut === true,
    cooperative: !machine && behaviour.cooperative === true,
    brokeDown: false,
    terminationReason: silent ? 'Nobody spoke.' : machine ? 'A message was left.' : 'Call ended by remote party',
  };
}

function breakDown(random: Random, dialedAt: number): CallCourse {
  const answeredAt = Math.round(dialedAt + random.between(3_000, 12_000));
  const endedAt = Math.round(answeredAt + random.between(1_000, 3_000));
  const terminationReason = 'The language model was not available.';
  return { ...unanswered('failed', endedAt, terminationReason), answeredAt, brokeDown: true };
}

function unanswered(result: CallResult, endedAt: number, terminationReason: string): CallCourse {
  const at = Math.round(endedAt);
  return {
    result,
    answeredAt: null,
    endedAt: at,
    analysedAt: at,
    silent: false,
    optedOut: false,
    cooperative: false,
    brokeDown: false,
    terminationReason,
  };
}
