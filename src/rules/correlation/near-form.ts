/**
 * The words of a line as they are compared: without case, quotes, punctuation and white space, which a service may change in what it
 * writes down. Words that are joined by a hyphen, a dash or a slash are two.
 */
export function nearWords(line: string): string[] {
  const plain = line
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[-‐-―/\\]/gu, ' ')
    .replace(/[\p{P}\p{S}]/gu, '');
  return plain.split(/\s+/u).filter((word) => word !== '');
}

/** The near form as one text without white space: two lines with the same one cannot be told apart. */
export function nearForm(line: string): string {
  return nearWords(line).join('');
}
