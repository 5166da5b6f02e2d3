import type { CollectionItem } from '../../schemas/agent-schemas.ts';
import { isNoAnswer, refusesToAnswer, saysGoodbye, yesOrNo } from './hearing.ts';
import type { CollectedValue } from '../state/talk.ts';

const numberWords = new Map(
  [
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    'cero uno dos tres cuatro cinco seis siete ocho nueve diez',
    'null eins zwei drei vier fünf sechs sieben acht neun zehn',
    'zéro un deux trois quatre cinq six sept huit neuf dix',
  ].flatMap((list) => list.split(' ').map((word, value) => [word, value] as const)),
);
const tens = new Map('twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, (index + 2) * 10]));
const agreeing = /^(?:yes|confirm(?:ed)?|accept(?:ed)?|agree[ds]?|interested|approved|coming|attending)$/i;
const denying = /^(?:no|declined?|reject(?:ed)?|refused?|not[_ -]interested|cancel(?:l?ed)?|absent)$/i;

export function readValue(item: CollectionItem, answer: string): CollectedValue {
  if (refusesToAnswer(answer)) return null;
  if (item.enum !== undefined) return choiceIn(item.enum, answer) ?? choiceByConsent(item.enum, answer);
  switch (item.type) {
    case 'boolean':
      return yesOrNo(answer);
    case 'string':
      return isNoAnswer(answer) || isMereGoodbye(answer) ? null : answer.trim();
    case 'integer':
    case 'number': {
      const value = numberIn(answer);
      return value === null || item.type === 'number' ? value : Math.trunc(value);
    }
  }
}

/** The choice named last and not denied, since people correct themselves. */
export function choiceIn(choices: readonly string[], text: string): string | null {
  let found: string | null = null;
  let foundAt = -1;
  for (const choice of choices) {
    for (const match of text.matchAll(patternOf(choice))) {
      const end = match.index + match[0].length;
      // Of two choices that end together the longer wins: "not interested", not "interested".
      if (end > foundAt || (end === foundAt && choice.length > (found ?? '').length)) [found, foundAt] = [choice, end];
    }
  }
  return found;
}

const patterns = new Map<string, RegExp>();

function patternOf(choice: string): RegExp {
  const known = patterns.get(choice);
  if (known !== undefined) return known;
  const words = choice.trim().split(/[\s_-]+/);
  const forms = words.map((word) => {
    const stem = word.length > 5 ? word.replace(/(?:ing|ed|es|e|s|d)$/i, '') : word;
    return `${escapePattern(stem)}${stem === word && word.length <= 3 ? '' : '(?:ing|ed|es|e|s|d)?'}`;
  });
  const pattern = new RegExp(
    `(?<!(?:^|[^\\p{L}])(?:not|nicht|pas|never|isn['’]t|kein\\p{L}*) (?:a |an |the )?)(?<![\\p{L}\\p{N}])${forms.join('[\\s_-]+')}(?![\\p{L}\\p{N}])`,
    'giu',
  );
  if (patterns.size > 5_000) patterns.clear();
  patterns.set(choice, pattern);
  return pattern;
}

/** Plain agreement picks the only choice that expresses consent. */
function choiceByConsent(choices: readonly string[], answer: string): string | null {
  const agreed = yesOrNo(answer);
  if (agreed === null) return null;
  const fitting = choices.filter((choice) => (agreed ? agreeing : denying).test(choice));
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

export function numberIn(text: string): number | null {
  const digits = /-?\d+(?:[.,]\d{3})*(?:[.,]\d+)?/.exec(text)?.[0];
  if (digits !== undefined) return parseDigits(digits);
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  for (const [index, word] of words.entries()) {
    const ten = tens.get(word);
    if (ten !== undefined) {
      const one = numberWords.get(words[index + 1] ?? '');
      return one !== undefined && one > 0 && one < 10 ? ten + one : ten;
    }
    const value = numberWords.get(word);
    if (value !== undefined) return value;
  }
  return null;
}

/** `1,200` and `1.200` are thousands, `4,5` and `4.5` fractions. */
function parseDigits(text: string): number {
  const whole = text.replaceAll(/[.,](?=\d{3}(?:\D|$))/g, '');
  return Number(whole.replace(',', '.'));
}

function isMereGoodbye(text: string): boolean {
  return saysGoodbye(text) && text.length < 40;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
