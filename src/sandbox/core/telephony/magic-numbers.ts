import { personLines } from '../world/lines.ts';
import type { CallResult } from '../state/call.ts';
import { stranger, type Person } from '../world/person.ts';

export interface Behaviour {
  result: CallResult;
  person?: Person;
  silent?: boolean;
  optsOut?: boolean;
  cooperative?: boolean;
  breaksDown?: boolean;
  ringMs?: number;
  analysisMs?: number;
}

/** Holding a monologue, hanging up and the like are not for the agent to draw out. */
function answeredBy(traits: Partial<Person>, cooperative = false): () => Behaviour {
  const behaviour: Behaviour = { result: 'answered', cooperative, person: { ...stranger, ...traits } };
  return () => behaviour;
}

/** Numbers whose last four digits decide what happens, whatever the seed (gaps D.2); `0120` is refused before it is queued. */
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
