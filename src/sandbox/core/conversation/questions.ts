import type { CollectionItem } from '../../schemas/agent-schemas.ts';
import { agentLines } from '../world/lines.ts';

export interface Question {
  id: string;
  item: CollectionItem;
  text: string;
  core: string;
}

export type ItemKind = 'asked' | 'opt_out' | 'observed';

const optOutId = /^(?:opt_?out|opted_?out|do_?not_?call|dnc)$/i;
const optOutDescription = /\bnot (?:to )?be called\b|\bopt(?:ed|s)? out\b|\bdo[- ]not[- ]call\b/i;
const observation =
  /^whether (?:the |this )?\w+ (?:asked|mentioned|sounded|seemed|complained|expressed|hung up|was (?:angry|happy|upset|polite|rude|friendly))\b/i;

export function kindOf(id: string, item: CollectionItem): ItemKind {
  if (item.type === 'boolean' && (optOutId.test(id) || optOutDescription.test(item.description ?? ''))) return 'opt_out';
  return item.type === 'boolean' && observation.test(item.description ?? '') ? 'observed' : 'asked';
}

const known = new WeakMap<object, readonly Question[]>();

export function questionsOf(items: Record<string, CollectionItem> | undefined): readonly Question[] {
  if (items === undefined) return [];
  const made = known.get(items) ?? makeQuestions(items);
  known.set(items, made);
  return made;
}

function makeQuestions(items: Record<string, CollectionItem>): Question[] {
  return Object.entries(items)
    .filter(([id, item]) => kindOf(id, item) === 'asked')
    .map(([id, item]) => {
      const noun = id.replaceAll(/[_-]+/g, ' ').trim();
      const core = coreOf(noun, item);
      const hint = hintOf(core, item);
      return { id, item, core, text: hint === '' ? core : `${core} ${hint}` };
    });
}

function coreOf(noun: string, { description = '' }: CollectionItem): string {
  const described = description.trim().replace(/\.$/, '');
  if (described.endsWith('?')) return described;
  if (described === '') return agentLines.couldYouTell(`your ${noun}`);
  return agentLines.couldYouTell(described.charAt(0).toLowerCase() + described.slice(1));
}

function hintOf(core: string, item: CollectionItem): string {
  if (item.enum !== undefined) return agentLines.choices(item.enum.join(', '));
  if (item.type === 'boolean') return isYesNoQuestion(core) ? '' : agentLines.yesOrNo;
  return item.type === 'string' || asksForNumber(core) ? '' : agentLines.aNumber;
}

export function isYesNoQuestion(text: string): boolean {
  return (
    /(?:^|[.!] |,\s)(?:and )?(?:will|would|can|could|do|does|did|is|are|was|were|have|has|may|shall|should)\b(?! (?:tell|say) )(?!.*\b(?:tell me)\b)/i.test(
      text,
    ) || /\b(?:whether|yes or no)\b/i.test(text)
  );
}

export function asksForNumber(text: string): boolean {
  return /\b(?:scale|mark|rating|how (?:many|much|old|long|often)|number|from (?:\d+|one|zero) to|age|amount|count)\b/i.test(text);
}

/** By the agent's own words, else by the item's name; null for none. */
export function questionIn(text: string, questions: readonly Question[]): Question | null {
  const named = longestNamed(
    text,
    questions.map(({ id }) => id),
  );
  return questions.find(({ core }) => text.includes(core)) ?? questions.find(({ id }) => id === named) ?? null;
}

/** The longest of `ids` whose words appear in a row; null for none. */
export function longestNamed(text: string, ids: readonly string[]): string | null {
  const words = wordsOf(text);
  const named = ids.filter((id) => wordsOf(id) !== ' ' && words.includes(wordsOf(id)));
  return named.sort((a, b) => b.length - a.length)[0] ?? null;
}

/** Lower-case words with one space around each. */
const wordsOf = (text: string): string => ` ${text.toLowerCase()} `.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
