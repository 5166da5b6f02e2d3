/**
 * Words of a line without case, quotes, punctuation and white space, which a service may change; a hyphen, dash or slash separates words.
 */
export function nearWords(line: string): string[] {
  const plain = line
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[-‐-―/\\]/gu, ' ')
    .replace(/[\p{P}\p{S}]/gu, '');
  return plain.split(/\s+/u).filter((word) => word !== '');
}

/** Near form as one text without white space: lines with the same one are indistinguishable. */
export function nearForm(line: string): string {
  return nearWords(line).join('');
}
