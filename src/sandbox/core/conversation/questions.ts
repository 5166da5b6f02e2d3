import type { CollectionItem } from '../../schemas/agent-schemas.ts';
import { agentLines } from './agent-lines.ts';
import type { Language } from '../world/language.ts';
import { contentWords } from './content-words.ts';

/** Something that an agent is to find out. */
export interface Question {
  id: string;
  item: CollectionItem;
  /** The words in which it is asked. */
  text: string;
  /** The same without choices and hints: what a repetition has in common with it. */
  core: string;
  /** What any wording of it shares some of. */
  words: ReadonlySet<string>;
}

/** How an item gets its value. */
export type ItemKind = 'asked' | 'opt_out' | 'observed';

const optOutId = /^(?:opt_?out|opted_?out|do_?not_?call|dnc)$/i;
const optOutDescription = /\bnot (?:to )?be called\b|\bopt(?:ed|s)? out\b|\bdo[- ]not[- ]call\b/i;
const observation =
  /^whether (?:the |this )?\w+ (?:asked|mentioned|sounded|seemed|complained|expressed|hung up|was (?:angry|happy|upset|polite|rude|friendly))\b/i;

export function kindOf(id: string, item: CollectionItem): ItemKind {
  if (item.type === 'boolean' && (optOutId.test(id) || optOutDescription.test(item.description ?? '')))
    return 'opt_out';
  return item.type === 'boolean' && observation.test(item.description ?? '') ? 'observed' : 'asked';
}

const known = new WeakMap<object, Map<Language, readonly Question[]>>();

/** What is to be asked of the callee, in order. */
export function questionsOf(
  items: Record<string, CollectionItem> | undefined,
  language: Language,
): readonly Question[] {
  if (items === undefined) return [];
  const byLanguage = known.get(items) ?? new Map<Language, readonly Question[]>();
  known.set(items, byLanguage);
  const made = byLanguage.get(language) ?? makeQuestions(items, language);
  byLanguage.set(language, made);
  return made;
}

function makeQuestions(items: Record<string, CollectionItem>, language: Language): Question[] {
  return Object.entries(items)
    .filter(([id, item]) => kindOf(id, item) === 'asked')
    .map(([id, item]) => {
      const core = coreOf(id, item, language);
      const hint = hintOf(core, item, language);
      return {
        id,
        item,
        core,
        text: hint === '' ? core : `${core} ${hint}`,
        words: new Set([...contentWords(id.replaceAll(/[_-]/g, ' ')), ...contentWords(item.description ?? '')]),
      };
    });
}

function coreOf(id: string, item: CollectionItem, language: Language): string {
  const lines = agentLines[language];
  const described = item.description?.trim().replace(/\.$/, '') ?? '';
  if (described.endsWith('?')) return described;
  if (described === '') return lines.couldYouTell(nounOf(id, language));
  const whether = /^whether (?<rest>.+)$/is.exec(described)?.groups?.rest;
  if (whether !== undefined) return lines.couldYouTell(`whether ${toYou(whether)}`);
  return lines.couldYouTell(toYou(described.charAt(0).toLowerCase() + described.slice(1)));
}

function nounOf(id: string, language: Language): string {
  const noun = id.replaceAll(/[_-]+/g, ' ').trim();
  return language === 'en' ? `your ${noun}` : noun;
}

const thirdPerson = 'the (?:person|customer|caller|callee|user|client|patient|guest|contact|lead)';

/** Turns words about the person into words to the person. */
function toYou(text: string): string {
  return text
    .replaceAll(new RegExp(`\\b${thirdPerson}['’]s\\b`, 'gi'), 'your')
    .replaceAll(
      new RegExp(`\\b${thirdPerson} (has|is|was|wants|needs|agrees|likes|prefers|owns|plans|will|would|can)\\b`, 'gi'),
      (_, verb: string) => {
        const plain = { has: 'have', is: 'are', was: 'were' }[verb.toLowerCase()] ?? verb.replace(/(?<!s)s$/, '');
        return `you ${plain}`;
      },
    )
    .replaceAll(new RegExp(`\\b${thirdPerson}\\b`, 'gi'), 'you')
    .replaceAll(/\btheir\b/gi, 'your')
    .replaceAll(/\bthey\b/gi, 'you');
}

function hintOf(core: string, item: CollectionItem, language: Language): string {
  const lines = agentLines[language];
  if (item.enum !== undefined) return lines.choices(item.enum.join(', '));
  if (item.type === 'boolean') return isYesNoQuestion(core) ? '' : lines.yesOrNo;
  if (item.type === 'string' || asksForNumber(core)) return '';
  return lines.aNumber;
}

export function isYesNoQuestion(text: string): boolean {
  return (
    /(?:^|[.!] |,\s)(?:and )?(?:will|would|can|could|do|does|did|is|are|was|were|have|has|may|shall|should)\b(?! (?:tell|say) )(?!.*\b(?:tell me)\b)/i.test(
      text,
    ) || /\b(?:whether|yes or no|sí o no|ja oder nein|oui ou non)\b/i.test(text)
  );
}

export function asksForNumber(text: string): boolean {
  return /\b(?:scale|mark|rating|how (?:many|much|old|long|often)|number|zahl|número|nombre|from (?:\d+|one|zero) to|age|amount|count)\b/i.test(
    text,
  );
}

/** The item that something said asks for: in the agent's own words, else in words like them. Null for none. */
export function questionIn(text: string, questions: readonly Question[]): Question | null {
  const verbatim = questions.find(({ core }) => text.includes(core));
  if (verbatim !== undefined) return verbatim;
  const said = new Set(contentWords(text));
  let best: Question | null = null;
  let bestShare = 0;
  for (const question of questions) {
    const share = overlapOf(question, said);
    if (share > bestShare) [best, bestShare] = [question, share];
  }
  return bestShare >= leastOverlap ? best : null;
}

/** From this share of a question's words on, other words ask the same. */
const leastOverlap = 0.34;

function overlapOf({ words }: Question, said: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  let shared = 0;
  for (const word of words) if (said.has(word)) shared += 1;
  return shared / words.size;
}
