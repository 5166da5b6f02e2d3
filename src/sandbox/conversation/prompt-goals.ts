/** Most questions that a prompt is taken to ask for. */
const mostGoals = 6;
/** What a prompt is about stands at its beginning. */
const longestReading = 20_000;
const longestClause = 400;
const asking =
  /\b(?:ask|asks|find out|enquire|inquire|collect|get)\b(?: (?:them|the \w+|people|each \w+))? (?<what>(?:whether|if|for|about|how|what|when|why|which|where)\b[^.;\n?]+)/gi;
const question = /(?:^|[.!:\n"“]\s{0,4})(?<text>[A-ZÁÉÍÓÚÄÖÜ¿][^.!?\n"“”]{4,160}\?)/gu;

/** What an agent that collects nothing by name still asks for, read from its prompt: questions that stand there, and "ask …" clauses. */
export function goalsOf(prompt: string): string[] {
  const text = prompt.slice(0, longestReading);
  const literal = [...text.matchAll(question)].map((match) => match.groups?.text?.trim() ?? '');
  const clauses = [...text.matchAll(asking)].flatMap((match) => toQuestions(match.groups?.what ?? ''));
  return [...new Set([...literal, ...clauses])].filter((text) => text !== '').slice(0, mostGoals);
}

function toQuestions(what: string): string[] {
  return what
    .slice(0, longestClause)
    .split(/\s*(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:whether|if|for|about|how|what|when|why|which|where)\b)/i)
    .map((part) => toYou(part.trim().replace(/[,\s]+$/, '')))
    .map((part) => `May I ask ${part.replace(/^if\b/i, 'whether')}?`);
}

function toYou(text: string): string {
  return text
    .replaceAll(/\bthey are\b/gi, 'you are')
    .replaceAll(/\b(?:they|them|he or she|the (?:person|customer|caller|user|client|callee))\b/gi, 'you')
    .replaceAll(/\btheir\b/gi, 'your')
    .replaceAll(/\byou (?:wants|needs|likes|has)\b/gi, (found) =>
      /has/i.test(found) ? 'you have' : found.slice(0, -1),
    );
}

/** Who the prompt says the agent is: "You are Ada of the clinic, …"; null for a mere description. */
export function nameInPrompt(prompt: string): string | null {
  const text = prompt.slice(0, longestReading);
  const name = /\byou are (?:called |named )?(?<name>\p{Lu}[^.,;:\n]{0,80}?)(?=[.,;:\n]| and | who | that |$)/u.exec(
    text.replace(/^You are/i, 'you are').replaceAll(/\bYou are\b/g, 'you are'),
  )?.groups?.name;
  return name?.trim() ?? null;
}
