import type { CollectionItem } from '../../schemas/agent-schemas.ts';
import { asksToStop, isNoAnswer, refusesToAnswer } from './hearing.ts';
import { meantIn, type Turn, type CollectedValue, type CollectedItem } from '../state/talk.ts';
import { kindOf, questionIn, questionsOf, type Question } from './questions.ts';
import { choiceIn, readValue } from './read-value.ts';

/**
 * A question counts in the agent's own words or by item name, the next words answer it, the last meaningful answer wins; a choice counts
 * wherever the recipient named it.
 */
export function collect(items: Record<string, CollectionItem>, turns: readonly Turn[]): Record<string, CollectedItem> {
  const answers = answersByItem(items, turns);
  return Object.fromEntries(Object.entries(items).map(([id, item]) => [id, collectItem(id, item, turns, answers.get(id) ?? [])]));
}

function collectItem(id: string, item: CollectionItem, turns: readonly Turn[], answers: readonly string[]): CollectedItem {
  const kind = kindOf(id, item);
  if (kind === 'opt_out') {
    const sentence = userTexts(turns).find(asksToStop);
    return quotedItem(sentence !== undefined, sentence, 'Nobody asked not to be called again.');
  }
  if (kind === 'observed') return { value: false, rationale: 'Nothing of the kind was said.' };
  const values = answers.map((answer) => ({ answer, value: readValue(item, answer) }));
  const last = values.findLast(({ value }) => value !== null);
  if (last !== undefined) return quotedItem(last.value, last.answer, '');
  const named = item.enum === undefined ? null : namedAnywhere(item.enum, turns);
  if (named !== null) return quotedItem(named.value, named.sentence, '');
  if (answers.some(refusesToAnswer)) return { value: null, rationale: 'The person did not want to say.' };
  return { value: null, rationale: answers.length === 0 ? 'It was not asked.' : 'It was not said.' };
}

function quotedItem(value: CollectedValue, sentence: string | undefined, otherwise: string): CollectedItem {
  if (sentence === undefined) return { value, rationale: otherwise };
  const quoted = sentence.length > 160 ? `${sentence.slice(0, 160)}…` : sentence;
  return { value, rationale: `The person said: "${quoted}"` };
}

function answersByItem(items: Record<string, CollectionItem>, turns: readonly Turn[]): Map<string, string[]> {
  const answers = new Map<string, string[]>();
  for (const [index, turn] of turns.entries()) {
    const answer = turns[index + 1];
    if (turn.speaker !== 'agent' || answer?.speaker !== 'user') continue;
    const match = findQuestion(items, meantIn(turn));
    if (match === null || (!match.verbatim && isNoAnswer(answer.text))) continue;
    const { id } = match.question;
    answers.set(id, [...(answers.get(id) ?? []), answer.text]);
  }
  return answers;
}

function findQuestion(items: Record<string, CollectionItem>, text: string): { question: Question; verbatim: boolean } | null {
  const question = questionIn(text, questionsOf(items));
  return question === null ? null : { question, verbatim: text.includes(question.core) };
}

/** The last choice named anywhere; bare yes/no choices do not count. */
function namedAnywhere(choices: readonly string[], turns: readonly Turn[]): { value: string; sentence: string } | null {
  const specificChoices = choices.filter((choice) => !/^(?:yes|no|true|false|ok(?:ay)?|none|other|unknown)$/i.test(choice));
  const found = userTexts(turns).map((sentence) => ({ sentence, value: choiceIn(specificChoices, sentence) }));
  const last = found.findLast(({ value }) => value !== null);
  return last === undefined || last.value === null ? null : { value: last.value, sentence: last.sentence };
}

export function userTexts(turns: readonly Turn[]): string[] {
  return turns.flatMap(({ speaker, text }) => (speaker === 'user' ? [text] : []));
}
