const idle = new Set(
  `a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me my not of on or our
  person please said say shall should so some tell than that the their them they this to was we were what when where whether which who
  why will with would yes no you your there about any ask asked asks want wants like customer caller user callee main`.split(
    /\s+/,
  ),
);

/** The words that carry meaning, in lower case and without common endings, so that "appointments" is "appointment". */
export function contentWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !idle.has(word)).map(stem);
}

function stem(word: string): string {
  if (word.length < 5) return word;
  return word.replace(/(?:ing|ed|es|s|ly)$/, '');
}
