import type { Call } from '../state/call.ts';
import { agentLines } from '../world/lines.ts';
import type { AgentReply, BuiltInResponder } from './agent-mind.ts';
import { configOf, languageOfAgent, promptOf } from './call-config.ts';
import { meantIn, type Turn } from '../state/talk.ts';
import {
  asksToStop,
  asksWhoCalls,
  isNoAnswer,
  requestedLanguage,
  nameAskedFor,
  refusesToAnswer,
  saysWrongPerson,
  yesOrNo,
} from './hearing.ts';
import { countUsage } from './effective-llm.ts';
import { languageNames } from '../world/person.ts';
import { questionsOf, type Question } from './questions.ts';
import { readValue } from './read-value.ts';

/** How often an unanswered question is asked. */
const mostTries = 2;

/**
 * Used when no model is asked: confirms the recipient, repeats an unanswered question once, says who is calling when asked; ends on an
 * opt-out, a wrong person or an unknown language. A function of the call and the words so far.
 */
export function builtInResponderOf(call: Call): BuiltInResponder {
  const own = languageOfAgent(configOf(call));
  const prompt = promptOf(call);
  const name = recipientName(call);
  const questions = questionsOf(call.agent?.platform.data_collection);
  const usage = countUsage(call, prompt);
  return {
    reply(turns) {
      const reply = decide(turns);
      return { ...reply, usage: usage(turns, reply.text) };
    },
  };

  function decide(turns: readonly Turn[]): AgentReply {
    const userText = turns.at(-1)?.speaker === 'user' ? (turns.at(-1)?.text ?? '') : '';
    if (asksToStop(userText)) return ends(agentLines.optedOut);
    if (saysWrongPerson(userText) || deniesName(turns, userText)) return ends(agentLines.wrongPerson);
    const theirs = requestedLanguage(userText);
    if (theirs !== null && theirs !== own) return ends(agentLines.otherLanguage(languageNames[theirs]));
    if (hasSaidGoodbye(turns)) return ends(agentLines.goodbyeAgain);
    const identity = asksWhoCalls(userText) ? introduce(call) : '';
    if (name !== null && !turns.some((turn) => turn.speaker === 'agent' && meantIn(turn).includes(name)))
      return continueWith(join(identity, agentLines.isThis(name)));
    const next = nextQuestion(turns, questions);
    if (next === null) return ends(agentLines.thanks);
    if (identity !== '') return continueWith(join(identity, next.question.text));
    if (next.again) return continueWith(join(agentLines.again, next.question.text));
    return continueWith(join(acknowledge(turns, userText), next.question.text));
  }
}

function continueWith(text: string): AgentReply {
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
    const askedAt = turns.flatMap((turn, index) => (turn.speaker === 'agent' && meantIn(turn).includes(question.core) ? [index] : []));
    if (askedAt.length === 0) return { question, again: false };
    const settled = askedAt.some((index) => isSettledBy(question, turns[index + 1]));
    if (!settled && askedAt.length < mostTries) return { question, again: true };
  }
  return null;
}

function isSettledBy({ item }: Question, answer: Turn | undefined): boolean {
  if (answer === undefined || answer.speaker !== 'user') return false;
  return refusesToAnswer(answer.text) || readValue(item, answer.text) !== null;
}

const nameVariables = ['name', 'full_name', 'customer_name', 'user_name', 'contact_name', 'first_name', 'firstname'];

function recipientName(call: Call): string | null {
  const found = nameVariables.find((key) => Object.hasOwn(call.variables, key));
  const name = found === undefined ? '' : String(call.variables[found]).trim();
  return name === '' ? null : name;
}

function deniesName(turns: readonly Turn[], userText: string): boolean {
  const question = turns.at(-2);
  if (question?.speaker !== 'agent') return false;
  return nameAskedFor(meantIn(question)) !== null && yesOrNo(userText) === false;
}

function hasSaidGoodbye(turns: readonly Turn[]): boolean {
  return turns.some((turn) => turn.speaker === 'agent' && meantIn(turn) === agentLines.thanks);
}

function introduce(call: Call): string {
  const purpose = (call.openingLine ?? '').replace(/^(?:hello|hi|hey|good \w+|hola|hallo|bonjour)\b[\s,.!]*/i, '');
  return /^i\b/i.test(purpose) ? `This is an automated call. ${purpose}` : agentLines.automated(call.agent?.name ?? 'a message for you');
}

function acknowledge(turns: readonly Turn[], userText: string): string {
  const first = turns.filter(({ speaker }) => speaker === 'user').length <= 1;
  if (first || isNoAnswer(userText)) return '';
  return agentLines.acknowledgements[turns.length % agentLines.acknowledgements.length] ?? '';
}
