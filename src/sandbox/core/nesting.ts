/** Nobody nests what the contract takes this deep; far deeper, and what was stored cannot be read again for want of stack. */
export const mostLevels = 100;

/** Whether objects and lists in a JSON text stand in each other more than `levels` deep. The text is only looked through, not parsed. */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > levels) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}
