import { Random } from '../../src/sandbox/core/random.ts';

const areas = ['201', '212', '213', '305', '312', '404', '415', '503', '602', '617', '702', '713', '720', '808', '916'];
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
  /** Some hang up before the agent has said a word, or interrupt it before it has said their name, so that no line tells who it was. */
  hasty?: boolean;
  /** So many names among all of them; a name of their own each when left out. */
  names?: number | undefined;
  /** They have first names alone, which come round again. */
  firstNames?: boolean;
}

/** Endings that decide what happens, so that a story can be read; the rest is left to the service's seed. */
const patient = ['0100', '0100', '0106', '0112', '0113'] as const;
const interrupting = '0107';
/** Gone before the agent has said a word. */
const gone = '0105';
const misses = ['0101', '0102', '0102', '0104', '0110', '0103'] as const;

export function drawPeople(
  random: Random,
  { count, optOutEvery, answering: share, names = Infinity, firstNames: plain = false, hasty: some = false }: Crowd,
): Person[] {
  const taken = new Set<string>();
  const draw = (endings: readonly [string, ...string[]]): string => {
    for (;;) {
      const number = `+1${random.pick(areas as [string, ...string[]])}555${random.pick(endings)}`;
      if (taken.has(number)) continue;
      taken.add(number);
      return number;
    }
  };
  return Array.from({ length: count }, (_, index) => {
    const drawn = `01${Math.floor(random.between(30, 99))}`;
    const answers = some ? ([...patient, interrupting] as const) : patient;
    const answering = some && random.chance(0.1) ? ([gone] as const) : answers;
    const fixed = random.chance(share) ? answering : misses;
    const ending = index % optOutEvery === 1 ? (['0108'] as const) : random.chance(0.8) ? fixed : ([drawn] as const);
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

/** Somebody of whom no list knows. */
export function strangerAt(index: number): string {
  return `+1720555${String(130 + (index % 60)).padStart(4, '0')}`;
}
