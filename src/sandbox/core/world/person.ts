export const moods = ['friendly', 'neutral', 'impatient', 'hostile'] as const;
export type Mood = (typeof moods)[number];

export const personas = ['plain', 'talkative', 'terse', 'confused', 'suspicious'] as const;
export type Persona = (typeof personas)[number];

export interface ScriptLine {
  /** Null: silence. */
  readonly say: string | null;
  readonly interrupts: boolean;
  readonly hangsUp: boolean;
}

export const languages = ['en', 'es', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = { en: 'English', es: 'Spanish', de: 'German', fr: 'French' };

export function languageOfTag(tag: string | undefined): Language | null {
  const primary = tag?.toLowerCase().split(/[-_]/)[0];
  return languages.find((language) => language === primary) ?? null;
}

export type AnswerValue = string | number | boolean;

export interface Person {
  readonly name: string | null;
  readonly persona: Persona;
  readonly mood: Mood;
  readonly language: Language | null;
  readonly answers: Readonly<Record<string, AnswerValue>>;
  readonly greeting: string | null;
  readonly greetsFirst: boolean;
  readonly script: readonly ScriptLine[] | null;
  /** Opt-out said instead of answering the first question. */
  readonly optsOut: string | null;
  readonly wrongPerson: string | null;
  readonly silent: boolean;
  /** Chance per turn of interrupting the agent. */
  readonly interrupts: number;
  readonly leavesAfterSeconds: number | null;
  /** Hangs up with this turn of theirs, from 1. */
  readonly leavesAfterTurns: number | null;
  readonly talksOn: boolean;
}

export const stranger: Person = {
  name: null,
  persona: 'plain',
  mood: 'neutral',
  language: null,
  answers: {},
  greeting: null,
  greetsFirst: false,
  script: null,
  optsOut: null,
  wrongPerson: null,
  silent: false,
  interrupts: 0,
  leavesAfterSeconds: null,
  leavesAfterTurns: null,
  talksOn: false,
};

/** Chance per mood of giving the hoped-for answers. */
export const goodwill: Readonly<Record<Mood, number>> = { friendly: 1, neutral: 0.7, impatient: 0.5, hostile: 0.1 };
