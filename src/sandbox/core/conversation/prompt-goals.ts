import { toYou } from './questions.ts';

/** Most questions that a prompt is taken to ask for. */
const mostGoals = 20;
/** What a prompt is about stands at its beginning. */
const longestReading = 20_000;
const longestClause = 400;
const asking =
  /\b(?:ask|asks|find out|enquire|inquire|collect|get)\b(?: (?:them|the \w+|people|each \w+))? (?<what>(?:whether|if|for|about|how|what|when|why|which|where)\b[^.;\n?]+)/gi;
const question = /(?<=^|[.!?:\n"“]\s{0,4})(?<text>[A-ZÁÉÍÓÚÄÖÜ¿][^.!?\n"“”]{4,160}\?)/gu;
/** "- ", "2. ", "b) ", "(3) ": what begins a point of a list. */
const point = /^[ \t]*(?:[-*+•–—]|\(?(?:\d{1,2}|[a-z])[.)])[ \t]+(?=\S)/i;
/** "…? 2) …": points that follow each other in one line. */
const nextPoint = /(?<=[.?!:;][ \t]{1,4})(?=\(?(?:\d{1,2}|[a-z])[.)][ \t])/i;
const emphasis = /\*\*|__/g;
/** A line above a list that says that its points are to be asked. */
const listOfQuestions = /\b(?:ask|asks|asking|find out|enquire|inquire|collect|get|questions?)\b[^.!?]*:\s*$/i;
const beginsClause = /^(?:whether|if|for|about|how|what|when|why|which|where)\b/i;

/**
 * What an agent that collects nothing by name still asks for, read from its prompt, in the order in which it stands there:
 * questions, also as points of a list, "ask …" clauses, and the points of a list that is to be asked.
 */
export function goalsOf(prompt: string): string[] {
  const goals: string[] = [];
  let asksPoints = false;
  const lines = prompt.slice(0, longestReading).replaceAll(emphasis, '').split('\n');
  for (const line of lines.flatMap((line) => line.split(nextPoint))) {
    const isPoint = point.test(line);
    if (line.trim() !== '' && !isPoint) asksPoints = listOfQuestions.test(line.slice(-longestClause));
    goals.push(...(isPoint ? goalsOfPoint(line.replace(point, ''), asksPoints) : goalsIn(line)));
  }
  return [...new Set(goals)].slice(0, mostGoals);
}

function goalsIn(line: string): string[] {
  const questions = [...line.matchAll(question)].map(({ index, groups }) => ({ index, texts: [groups?.text ?? ''] }));
  const clauses = [...line.matchAll(asking)].map(({ index, groups }) => ({
    index,
    texts: toQuestions(groups?.what ?? ''),
  }));
  return [...questions, ...clauses].sort((a, b) => a.index - b.index).flatMap(({ texts }) => texts);
}

/** A point may be a question that begins without a capital, and in a list that is to be asked also less than a sentence. */
function goalsOfPoint(text: string, isToBeAsked: boolean): string[] {
  const found = goalsIn(text);
  const words = text.trim().replace(/[.;,]+$/, '');
  if (found.length > 0 || words === '' || words.length > longestClause) return found;
  if (words.endsWith('?')) return [words.charAt(0).toUpperCase() + words.slice(1)];
  if (!isToBeAsked) return [];
  return beginsClause.test(words) ? toQuestions(words) : [`Could you tell me ${toYou(asObject(words))}?`];
}

/** "Their name" and "Name" as they stand after "tell me": "their name", "your name". */
function asObject(words: string): string {
  const plain = /^\p{Lu}\p{Ll}/u.test(words) ? words.charAt(0).toLowerCase() + words.slice(1) : words;
  return /^(?:the|their|your|his|her|a|an|any|how|who|what)\b/.test(plain) ? plain : `your ${plain}`;
}

function toQuestions(what: string): string[] {
  return what
    .slice(0, longestClause)
    .split(/\s*(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:whether|if|for|about|how|what|when|why|which|where)\b)/i)
    .map((part) =>
      toYou(
        part
          .trim()
          .replace(/[,\s]+$/, '')
          .replaceAll(/\bthem\b/gi, 'you'),
      ),
    )
    .map((part) => `May I ask ${part.replace(/^if\b/i, 'whether')}?`);
}

/** Who the prompt says the agent is: "You are Ada of the clinic, …"; null for a mere description. */
export function nameInPrompt(prompt: string): string | null {
  const text = prompt.slice(0, longestReading);
  const name = /\byou are (?:called |named )?(?<name>\p{Lu}[^.,;:\n]{0,80}?)(?=[.,;:\n]| and | who | that |$)/u.exec(
    text.replace(/^You are/i, 'you are').replaceAll(/\bYou are\b/g, 'you are'),
  )?.groups?.name;
  return name?.trim() ?? null;
}
