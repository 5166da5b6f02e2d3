import { agentLines } from './agent-lines.ts';

const ownWordings = Object.values(agentLines).map(({ isThis }) => {
  const [before = '', after = ''] = isThis('\u0000').split('\u0000');
  return { before, after };
});
const otherWordings = /\b(?:[Aa]m I (?:speaking|talking) (?:with|to)|[Ii]s this) (?<name>\p{Lu}[\p{L} .'’-]*)\?/u;

/** The name in "Am I speaking with …?"; null where nobody is asked for by name. */
export function nameAskedFor(text: string): string | null {
  for (const { before, after } of ownWordings) {
    const at = text.indexOf(before);
    if (at !== -1 && text.endsWith(after)) return text.slice(at + before.length, text.length - after.length);
  }
  return otherWordings.exec(text)?.groups?.name ?? null;
}
