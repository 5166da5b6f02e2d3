/**
 * The path of the first key that stands twice in one object, or null. `text` must be JSON. Parsers keep the last of the two and say
 * nothing, so what a caller meant would be a guess.
 */
export function duplicateKey(text: string): (string | number)[] | null {
  const open: { keys: Set<string> | null; at: string | number }[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const inner = open.at(-1);
    switch (text.charAt(index)) {
      case '{':
        open.push({ keys: new Set(), at: '' });
        break;
      case '[':
        open.push({ keys: null, at: 0 });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (typeof inner?.at === 'number') inner.at += 1;
        break;
      case '"': {
        const end = endOfString(text, index);
        if (inner?.keys != null && isBeforeColon(text, end)) {
          const key = JSON.parse(text.slice(index, end)) as string;
          inner.at = key;
          if (inner.keys.has(key)) return open.map(({ at }) => at);
          inner.keys.add(key);
        }
        index = end - 1;
        break;
      }
      default:
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    if (quote === -1) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
}

function isBeforeColon(text: string, from: number): boolean {
  let index = from;
  while (' \t\n\r'.includes(text[index] ?? '.')) index += 1;
  return text[index] === ':';
}

/** Nobody nests what the contract takes this deep; far deeper, and what was stored cannot be read again for want of stack. */
export const mostLevels = 100;

/** Whether objects and lists in a JSON text stand in each other more than `levels` deep. The text is only looked through, not parsed. */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index) - 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > levels) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}
