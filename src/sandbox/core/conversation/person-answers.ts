import type { Random } from '../random.ts';
import { personLines } from '../world/lines.ts';
import type { AnswerValue, Person } from '../world/person.ts';
import { asksForNumber, isYesNoQuestion, longestNamed, type Question } from './questions.ts';
import { numberIn } from './read-value.ts';

export interface AgentQuestion {
  heard: string;
  question: Question | null;
}

export function answerOf(person: Person, { heard, question }: AgentQuestion, cooperative: boolean, random: Random): string {
  const known = knownAnswer(person, heard, question);
  if (known !== null) return sayValue(known, person);
  const choices = question?.item.enum;
  if (choices !== undefined) return sayChoice(choices, cooperative, random, person);
  const type = question?.item.type;
  if (type === 'integer' || type === 'number' || (type === undefined && asksForNumber(heard)))
    return sayNumber(drawNumber(heard, cooperative, random), person);
  if (type === 'boolean' || isYesNoQuestion(heard)) return cooperative ? personLines.yes : personLines.no;
  return cooperative ? inWords(heard, person, random) : personLines.rather;
}

function knownAnswer(person: Person, agentText: string, question: Question | null): AnswerValue | null {
  const { answers } = person;
  if (question !== null && Object.hasOwn(answers, question.id)) return answers[question.id] ?? null;
  const named = longestNamed(agentText, Object.keys(answers));
  return named === null ? null : (answers[named] ?? null);
}

function sayValue(value: AnswerValue, person: Person): string {
  if (typeof value === 'boolean') return value ? personLines.yes : personLines.no;
  if (typeof value === 'number') return sayNumber(value, person);
  return /[.!?]$/.test(value) ? value : `${capitalised(value)}.`;
}

function sayNumber(value: number, { persona }: Person): string {
  return persona === 'terse' ? `${value}.` : personLines.number(value);
}

function sayChoice([first = '', ...others]: readonly string[], cooperative: boolean, random: Random, { persona }: Person): string {
  const choice = cooperative || others.length === 0 ? first : random.pick(others as [string, ...string[]]);
  return persona === 'terse' ? `${capitalised(choice)}.` : personLines.please(capitalised(choice));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const range = /(?:from|between)?\s*(?<low>\d+|[a-z]+)\s*(?:to|and|-|–)\s*(?<high>\d+|[a-z]+)/gi;

/** Upper part of the scale for goodwill, else the lower part. */
function drawNumber(agentText: string, cooperative: boolean, random: Random): number {
  if (/\bhow old\b|\bage\b/i.test(agentText)) return Math.floor(random.between(20, 80));
  const [low, high] = scaleIn(agentText) ?? [1, 5];
  const middle = low + (high - low) * 0.6;
  return cooperative
    ? Math.round(random.between(Math.ceil(middle), high))
    : Math.round(random.between(low, Math.max(low, Math.floor(middle))));
}

function scaleIn(text: string): [number, number] | null {
  for (const match of text.matchAll(range)) {
    const [low, high] = [numberIn(match.groups?.low ?? ''), numberIn(match.groups?.high ?? '')];
    if (low !== null && high !== null && low < high) return [low, high];
  }
  return null;
}

const openAnswers: readonly (readonly [RegExp, readonly [string, ...string[]]])[] = [
  [/\b(?:when|what (?:day|time|date)|which day|date)\b/i, ['Next Tuesday at ten would suit me.', 'Friday afternoon, if that is possible.']],
  [/\b(?:why|reason)\b/i, ['Everything went well and nobody kept me waiting.', 'The people were kind and knew their job.']],
  [/\b(?:how can|anything|help|improve|else)\b/i, ['No, that is all, thank you.', 'Nothing that I can think of.']],
];

function inWords(agentText: string, { name }: Person, random: Random): string {
  if (/\byour (?:full |first |last )?name\b/i.test(agentText)) return name === null ? personLines.rather : `It is ${name}.`;
  const lines = openAnswers.find(([pattern]) => pattern.test(agentText))?.[1];
  return lines === undefined ? personLines.fine : random.pick(lines);
}
