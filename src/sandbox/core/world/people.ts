import { Random } from '../random.ts';
import { personLines } from './lines.ts';
import { NumberZones } from './number-zones.ts';
import { stranger, type Person } from './person.ts';
import { plainQuirks, type Lateness, type RecordQuirks } from './record-habits.ts';
import type { AnalysisScript, KindInput, Reach, PersonInput, World, Period } from './schema.ts';
import { localTime } from '../times.ts';

export interface Inhabitant {
  person: Person;
  /** The person's own zone, if the world gives one. */
  zone: string | null;
  analysis: AnalysisScript | undefined;
  /** Chances of getting through at this instant; null where the world gives none. */
  reachAt(at: number, number: string): Reach | null;
}

interface Pattern {
  startsWith: string;
  endsWith: string;
  inhabitant: Inhabitant;
}

export class People {
  #world: World = { version: 1, people: [] };
  #byNumber = new Map<string, Inhabitant>();
  #patterns: Pattern[] = [];
  #kinds: { weight: number; inhabitant: Inhabitant }[] = [];

  constructor(world: World) {
    this.replace(world);
  }

  get world(): World {
    return this.#world;
  }

  get records(): RecordQuirks {
    return this.#world.records ?? plainQuirks;
  }

  ringDelayMs(seed: string, conversationId: string): number {
    return drawLateness(this.#world.late_rings, new Random(seed, conversationId, 'late ring'));
  }

  listDelayMs(seed: string, conversationId: string): number {
    return drawLateness(this.records.listed_late, new Random(seed, conversationId, 'listed late'));
  }

  replace(world: World): void {
    this.#world = world;
    this.#byNumber = new Map();
    this.#patterns = [];
    for (const who of world.people) {
      const inhabitant = settle(who);
      const { number, numbers = [], starts_with: startsWith, ends_with: endsWith } = who;
      for (const each of number === undefined ? numbers : [number]) this.#byNumber.set(each, inhabitant);
      if (startsWith !== undefined || endsWith !== undefined)
        this.#patterns.push({ startsWith: startsWith ?? '', endsWith: endsWith ?? '', inhabitant });
    }
    this.#kinds = (world.population ?? []).map((kind) => ({ weight: kind.weight, inhabitant: settle(kind) }));
  }

  named(number: string): Inhabitant | null {
    return this.#byNumber.get(number) ?? null;
  }

  /** Person of the first matching pattern. */
  byPattern(number: string): Inhabitant | null {
    const fits = ({ startsWith, endsWith }: Pattern): boolean => number.startsWith(startsWith) && number.endsWith(endsWith);
    return this.#patterns.find(fits)?.inhabitant ?? null;
  }

  zoneOf(number: string): string | null {
    return (this.named(number) ?? this.byPattern(number))?.zone ?? null;
  }

  /** One of the population; the same for a number at any time. */
  ofPopulation(seed: string, number: string): Inhabitant | null {
    if (this.#kinds.length === 0) return null;
    let rest = new Random(seed, number, 'population').next() * this.#kinds.reduce((sum, { weight }) => sum + weight, 0);
    const drawn = this.#kinds.find(({ weight }) => (rest -= weight) < 0) ?? this.#kinds.at(-1);
    return drawn?.inhabitant ?? null;
  }
}

function drawLateness(late: Lateness | undefined, random: Random): number {
  if (late === undefined || !random.chance(late.share)) return 0;
  return Math.round(random.between(late.from_seconds, late.to_seconds) * 1000);
}

const zones = new NumberZones();

function settle(traits: PersonInput | KindInput): Inhabitant {
  const { reach, hours, zone } = traits;
  return {
    person: readPerson(traits),
    zone: zone ?? null,
    analysis: traits.analysis,
    reachAt: (at, number) => {
      const period = hours === undefined ? null : periodAt(hours, zone ?? zones.of(number)[0] ?? 'utc', at);
      return period ?? reach ?? null;
    },
  };
}

function readPerson(traits: PersonInput | KindInput): Person {
  const { interrupts = false, hangs_up: hangsUp, script } = traits;
  return {
    name: traits.name ?? null,
    persona: traits.persona ?? stranger.persona,
    mood: traits.mood ?? stranger.mood,
    language: traits.language ?? stranger.language,
    answers: traits.answers ?? {},
    greeting: traits.greeting ?? null,
    greetsFirst: traits.greets_first ?? false,
    script:
      script?.map((line) =>
        typeof line === 'string'
          ? { say: line, interrupts: false, hangsUp: false }
          : { say: line.say, interrupts: line.interrupts, hangsUp: line.hangs_up },
      ) ?? null,
    optsOut: sentenceOf(traits.opts_out, personLines.optOut),
    wrongPerson: sentenceOf(traits.wrong_person, personLines.wrongNumber),
    silent: traits.silent ?? false,
    interrupts: typeof interrupts === 'boolean' ? Number(interrupts) : interrupts,
    leavesAfterSeconds: hangsUp?.after_seconds ?? null,
    leavesAfterTurns: hangsUp?.after_turns ?? null,
    talksOn: traits.talks_on ?? false,
  };
}

function sentenceOf(configured: boolean | string | undefined, usual: string): string | null {
  if (typeof configured === 'string') return configured;
  return configured === true ? usual : null;
}

const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** First period covering `at` on the person's clock, else null. One past midnight belongs to the day it began. */
export function periodAt(periods: readonly Period[], zone: string, at: number): Reach | null {
  const local = localTime(zone, at);
  if (local === null) return null;
  const { minute, weekday: today } = local;
  const holds = ({ days, from, to }: Period): boolean => {
    const on = (day: number): boolean => days === undefined || days.includes(weekdayNames[(day + 7) % 7] ?? 'mon');
    const [begin, end] = [minutesOf(from), minutesOf(to)];
    if (begin < end) return on(today) && minute >= begin && minute < end;
    return (on(today) && minute >= begin) || (on(today - 1) && minute < end);
  };
  return periods.find(holds)?.reach ?? null;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
