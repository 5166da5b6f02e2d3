import { toYou } from './questions.ts';

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
