import type { Call } from '../state/call.ts';
import { agentLines } from '../world/lines.ts';
import type { AgentReply, BuiltInMind } from './agent-mind.ts';
import { configOf, languageOfAgent, promptOf } from './call-config.ts';
import { meantIn, type Turn } from '../state/talk.ts';
import { asksToStop, asksWhoCalls, isNoAnswer, languageAsked, nameAskedFor, refusesToAnswer, saysWrongPerson, yesOrNo } from './hearing.ts';
import { countUsage } from './hosted-model.ts';
import { languageNames } from '../world/person.ts';
import { questionsOf, type Question, toYou } from './questions.ts';
import { readValue } from './read-value.ts';

/** How often a question is asked when nothing that answers it is said. */
const mostTries = 2;

/**
 * The agent that speaks where no model is asked. It makes sure whom it speaks with, goes through what it is to find out, asks
 * once more where it got no answer, says who is calling when asked, and ends the call on an opt-out, a wrong person or a
 * language that it does not have. What it says is a function of the call and of what was said so far.
 */
export function builtInMindOf(call: Call): BuiltInMind {
  const own = languageOfAgent(configOf(call));
  const prompt = promptOf(call);
  const name = nameOfCallee(call);

  const items = questionsOf(call.agent?.platform.data_collection);
  const questions = items.length > 0 ? items : askedByPrompt(prompt);

  const usage = countUsage(call, prompt);
  return {
    reply(turns) {
      const reply = decide(turns);
      return { ...reply, usage: usage(turns, reply.text) };
    },
  };

  function decide(turns: readonly Turn[]): AgentReply {
    const heard = turns.at(-1)?.speaker === 'user' ? (turns.at(-1)?.text ?? '') : '';
    if (asksToStop(heard)) return ends(agentLines.optedOut);
    if (saysWrongPerson(heard) || deniesName(turns, heard)) return ends(agentLines.wrongPerson);
    const theirs = languageAsked(heard);
    if (theirs !== null && theirs !== own) return ends(agentLines.otherLanguage(languageNames[theirs]));
    if (hasSaidGoodbye(turns)) return ends(agentLines.goodbyeAgain);
    const identity = asksWhoCalls(heard) ? introduce(call, prompt) : '';
    if (name !== null && !turns.some((turn) => turn.speaker === 'agent' && meantIn(turn).includes(name)))
      return says(join(identity, agentLines.isThis(name)));
    const next = nextQuestion(turns, questions);
    if (next === null) return ends(agentLines.thanks);
    if (identity !== '') return says(join(identity, next.question.text));
    if (next.again) return says(join(agentLines.again, next.question.text));
    return says(join(acknowledge(turns, heard), next.question.text));
  }
}

function says(text: string): AgentReply {
  return { text, ends: false };
}

function ends(text: string): AgentReply {
  return { text, ends: true };
}

function join(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}

function nextQuestion(turns: readonly Turn[], questions: readonly Question[]): { question: Question; again: boolean } | null {
  for (const question of questions) {
    const asked = turns.flatMap((turn, index) => (turn.speaker === 'agent' && meantIn(turn).includes(question.core) ? [index] : []));
    if (asked.length === 0) return { question, again: false };
    const settled = asked.some((index) => isSettledBy(question, turns[index + 1]));
    if (!settled && asked.length < mostTries) return { question, again: true };
  }
  return null;
}

function isSettledBy({ item }: Question, answer: Turn | undefined): boolean {
  if (answer === undefined || answer.speaker !== 'user') return false;
  return refusesToAnswer(answer.text) || readValue(item, answer.text) !== null;
}

const promptQuestions = new Map<string, readonly Question[]>();

function askedByPrompt(prompt: string): readonly Question[] {
  const known = promptQuestions.get(prompt);
  if (known !== undefined) return known;
  const made = goalsOf(prompt).map((text, index) => ({
    id: `goal_${index + 1}`,
    item: { type: 'string' as const },
    text,
    core: text,
    words: new Set<string>(),
  }));
  if (promptQuestions.size > 1_000) promptQuestions.clear();
  promptQuestions.set(prompt, made);
  return made;
}

const nameVariables = ['name', 'full_name', 'customer_name', 'user_name', 'contact_name', 'first_name', 'firstname'];

function nameOfCallee(call: Call): string | null {
  const found = nameVariables.find((key) => Object.hasOwn(call.variables, key));
  const name = found === undefined ? '' : String(call.variables[found]).trim();
  return name === '' ? null : name;
}

function deniesName(turns: readonly Turn[], heard: string): boolean {
  const question = turns.at(-2);
  if (question?.speaker !== 'agent') return false;
  return nameAskedFor(meantIn(question)) !== null && yesOrNo(heard) === false;
}

function hasSaidGoodbye(turns: readonly Turn[]): boolean {
  return turns.some((turn) => turn.speaker === 'agent' && meantIn(turn) === agentLines.thanks);
}

function introduce(call: Call, prompt: string): string {
  const name = nameInPrompt(prompt);
  if (name !== null) return agentLines.calling(name);
  const purpose = (call.openingLine ?? '').replace(/^(?:hello|hi|hey|good \w+|hola|hallo|bonjour)\b[\s,.!]*/i, '');
  return /^i\b/i.test(purpose) ? `This is an automated call. ${purpose}` : agentLines.automated(call.agent?.name ?? 'a message for you');
}

function acknowledge(turns: readonly Turn[], heard: string): string {
  const first = turns.filter(({ speaker }) => speaker === 'user').length <= 1;
  if (first || isNoAnswer(heard)) return '';
  return agentLines.acknowledgements[turns.length % agentLines.acknowledgements.length] ?? '';
}

/** Most questions that a prompt is taken to ask for. */
const mostGoals = 20;
/** What a prompt is about stands at its beginning. */
const longestReading = 20_000;
const longestClause = 400;
const beginning = 'whether|if|for|about|how|what|when|why|which|where';
const asking = new RegExp(
  String.raw`\b(?:ask|asks|find out|enquire|inquire|collect|get)\b(?: (?:them|the \w+|people|each \w+))? (?<what>(?:${beginning})\b[^.;\n?]+)`,
  'gi',
);
const question = /(?<=^|[.!?:\n"“]\s{0,4})(?<text>[A-ZÁÉÍÓÚÄÖÜ¿][^.!?\n"“”]{4,160}\?)/gmu;
/** "- ", "2. ", "b) ", "(3) ", at the beginning of a line or within it: what begins a point of a list. */
const points = /(?:^|(?<=[.?!:;][ \t]))[ \t]*(?:[-*+•–—]|\(?(?:\d{1,2}|[a-z])[.)])[ \t]+(?<first>\S)/gim;
const emphasis = /\*\*|__/g;

/** What an agent that collects nothing by name still asks for: the questions and "ask …" clauses of its prompt, in their order. */
export function goalsOf(prompt: string): string[] {
  const plain = prompt.slice(0, longestReading).replaceAll(emphasis, '');
  const text = plain.replaceAll(points, (_, first: string) => first.toUpperCase());
  const found = [
    ...[...text.matchAll(question)].map(({ index, groups }) => ({ index, goals: [groups?.['text'] ?? ''] })),
    ...[...text.matchAll(asking)].map(({ index, groups }) => ({ index, goals: toQuestions(groups?.['what'] ?? '') })),
  ];
  return [...new Set(found.sort((a, b) => a.index - b.index).flatMap(({ goals }) => goals))].slice(0, mostGoals);
}

function toQuestions(what: string): string[] {
  return what
    .slice(0, longestClause)
    .split(new RegExp(String.raw`\s*(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:${beginning})\b)`, 'i'))
    .map((part) =>
      toYou(
        part
          .trim()
          .replace(/[,\s]+$/, '')
          .replaceAll(/\bthem\b/gi, 'you'),
      ),
    ) // prettier-ignore
    .map((part) => `May I ask ${part.replace(/^if\b/i, 'whether')}?`);
}

/** Who the prompt says the agent is: "You are Ada of the clinic, …"; null for a mere description. */
export function nameInPrompt(prompt: string): string | null {
  const text = prompt.slice(0, longestReading).replaceAll(/\bYou are\b/g, 'you are');
  return (
    /\byou are (?:called |named )?(?<name>\p{Lu}[^.,;:\n]{0,80}?)(?=[.,;:\n]| and | who | that |$)/u.exec(text)?.groups?.['name']?.trim() ??
    null
  );
}
