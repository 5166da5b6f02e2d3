import { createHash } from 'node:crypto';
import { Random } from '../../src/sandbox/core/random.ts';

/** What people do when their phone rings, by the last digits of their number; else by the service's seed. */
const endings = {
  answers: '0100',
  busy: '0101',
  no_answer: '0102',
  voicemail: '0103',
  fails: '0104',
  /** Gone before the agent has said a word. */
  hasty: '0105',
  silent: '0106',
  interrupts: '0107',
  opts_out: '0108',
  busy_first: '0110',
  wrong_person: '0112',
  /** Whose record is complete after half an hour. */
  recorded_late: '0113',
  breaks_down: '0114',
  /** The service refuses the number. */
  refused: '0120',
  /** Who asks is said to the service by number. */
  asks_back: '0130',
} as const;
type Manner = keyof typeof endings;

/** A fictional number in this area. */
export function numberOf(area: string | number, manner: Manner): string {
  return `+1${area}555${endings[manner]}`;
}

type Endings = readonly [string, ...string[]];
const endingsOf = (...manners: Manner[]): Endings => manners.map((manner) => endings[manner]) as unknown as Endings;

/** Somebody of whom no list knows. */
export function strangerAt(index: number): string {
  return `+1720555${String(130 + (index % 60)).padStart(4, '0')}`;
}

// Worlds

const areas = ['201', '212', '213', '305', '312', '404', '415', '503', '602', '617', '702', '713', '720', '808', '916'] as const;
/** No two of them could be taken for each other with some letters changed. */
const firstNames = ['Ada', 'Bartholomew', 'Cordelia', 'Dmitri', 'Esmeralda', 'Fitz', 'Guinevere', 'Hugo', 'Ingrid', 'Joachim'];
const lastNames = ['Abernathy', 'Brix', 'Castellanos', 'Dunworth', 'Eklund', 'Fjord', 'Gruber', 'Hollingsworth'];

export interface Person {
  e164: string;
  name: string;
}

export interface Crowd {
  count: number;
  /** Every so many asks never to be called again. */
  optOutEvery: number;
  /** Of the others, those who answer at the first dial. */
  answering: number;
  /** Some hang up before the agent speaks, or interrupt it before their name: no line shows who it was. */
  hasty?: boolean;
  /** So many names among all of them; a name of their own each when left out. */
  names?: number | undefined;
  /** They have first names alone, which come round again. */
  firstNames?: boolean;
}

/** Endings that decide what happens; the service's seed decides the rest. */
const crowd = {
  patient: endingsOf('answers', 'answers', 'silent', 'wrong_person', 'recorded_late'),
  some: endingsOf('answers', 'answers', 'silent', 'wrong_person', 'recorded_late', 'interrupts'),
  gone: endingsOf('hasty'),
  misses: endingsOf('busy', 'no_answer', 'no_answer', 'fails', 'busy_first', 'voicemail'),
  optsOut: endingsOf('opts_out'),
};

export function drawPeople(
  random: Random,
  { count, optOutEvery, answering: share, names = Infinity, firstNames: plain = false, hasty: some = false }: Crowd,
): Person[] {
  const taken = new Set<string>();
  const draw = (endings: Endings): string => {
    for (;;) {
      const number = `+1${random.pick(areas)}555${random.pick(endings)}`;
      if (taken.has(number)) continue;
      taken.add(number);
      return number;
    }
  };
  return Array.from({ length: count }, (_, index) => {
    const drawn = `01${Math.floor(random.between(30, 99))}`;
    const answers = some ? crowd.some : crowd.patient;
    const answering = some && random.chance(0.1) ? crowd.gone : answers;
    const fixed = random.chance(share) ? answering : crowd.misses;
    const ending = index % optOutEvery === 1 ? crowd.optsOut : random.chance(0.8) ? fixed : ([drawn] as const);
    return {
      e164: draw(ending),
      name: plain ? firstNameOf(index) : nameOf(names === Infinity ? index : index % names),
    };
  });
}

function firstNameOf(index: number): string {
  return firstNames[index % firstNames.length] ?? '';
}

function nameOf(index: number): string {
  return `${firstNameOf(index)} ${lastNames[(index * 3 + Math.floor(index / firstNames.length)) % lastNames.length]}`;
}

// Mixes

const areasOfMixes = ['212', '213', '312', '415', '602', '617', '713', '720', '808', '916'] as const;
const endingsOfMixes = endingsOf(
  'answers', 'busy', 'no_answer', 'voicemail', 'fails', 'silent', 'opts_out', 'busy_first', 'recorded_late', 'breaks_down',
); // prettier-ignore

/** Distinct numbers: for some the end decides what happens, for others the service's seed. */
export function drawNumbers(random: Random, count: number, withRefused: boolean): string[] {
  const numbers = new Set<string>();
  while (numbers.size < count) {
    const area = areasOfMixes[Math.floor(random.between(0, areasOfMixes.length))];
    const plain = `01${Math.floor(random.between(30, 99))}`;
    numbers.add(`+1${area}555${random.chance(0.45) ? random.pick(endingsOfMixes) : plain}`);
  }
  const drawn = [...numbers];
  if (withRefused) drawn[Math.floor(random.between(0, drawn.length))] = numberOf(areasOfMixes[3], 'refused');
  return [...new Set(drawn)];
}

/** A row of a list, and what is expected of it. */
export interface Listed {
  id: string;
  phone: string;
  name: string;
  /** `bad`: no number; `barred`: on the do-not-call list before the campaign starts. */
  kind: 'callable' | 'bad' | 'barred';
}

const areasOfLists = '201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240'.split(' ');
const endingsOfLists = endingsOf('busy', 'no_answer', 'voicemail', 'fails', 'silent', 'opts_out', 'busy_first');

/** A fifth of them does what is known beforehand; some cannot be called. */
export function drawList(seed: number, rows: number): Listed[] {
  const random = new Random(seed, 'people');
  const fated = areasOfLists.flatMap((area) => endingsOfLists.map((ending) => `+1${area}555${ending}`));
  const others = areasOfLists.flatMap((area) =>
    Array.from({ length: 60 }, (_, line) => `+1${area}555${String(130 + line).padStart(4, '0')}`),
  );
  return Array.from({ length: rows }, (_, index): Listed => {
    const from = random.chance(0.2) && fated.length > 0 ? fated : others;
    const [phone = ''] = from.splice(Math.floor(random.next() * from.length), 1);
    const kind = index % 40 === 7 ? 'bad' : index % 40 === 23 ? 'barred' : 'callable';
    // One of its kind, so that it can be searched for.
    const name = `Name${createHash('sha256').update(`${seed}/${index}`).digest('hex').slice(0, 14)}`;
    return { id: `p-${index + 1}`, phone: kind === 'bad' ? '555' : phone, name, kind };
  });
}

export function cellsOf({ phone, id, name }: Listed): Record<string, string> {
  return { phone, id, name };
}

export function toCsv(people: readonly Listed[]): string {
  return `${['phone,id,name', ...people.map((person) => Object.values(cellsOf(person)).join(','))].join('\n')}\n`;
}

// Small campaigns

export const manners = ['answers', 'busy', 'no_answer', 'hasty', 'opts_out', 'busy_first', 'asks_back'] as const satisfies Manner[];

const namesOfFew = ['Ada Abernathy', 'Bartholomew Brix', 'Cordelia Castellanos', 'Dmitri Dunworth', 'Esmeralda Eklund', 'Fergus Falk'];

/** Number and name of one of a few people, from 0. */
export function oneOfFew(index: number, manner: (typeof manners)[number]): Person {
  return { e164: numberOf(201 + index, manner), name: namesOfFew[index] ?? '' };
}
