const longestPhrase = 120;
const longestWord = 40;

/**
 * What the synthesiser can say of a text, in phrases: it knows ASCII alone, and every phrase is spoken in one go, so
 * its length bounds how long that takes. Empty when nothing can be said, as of another script.
 */
export function speakablePhrases(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u2013\u2014]/g, ', ')
    .replaceAll('\u00df', 'ss')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]/g, ' ');
  const phrases: string[] = [];
  for (const sentence of plain.split(/(?<=[.!?])\s+/)) phrases.push(...splitLong(sentence));
  return phrases.filter((phrase) => /[a-z0-9]/i.test(phrase));
}

function splitLong(sentence: string): string[] {
  const words = sentence.split(/\s+/).flatMap((word) => word.match(new RegExp(`.{1,${longestWord}}`, 'g')) ?? []);
  const phrases: string[] = [];
  let phrase = '';
  for (const word of words) {
    if (phrase !== '' && phrase.length + word.length >= longestPhrase) {
      phrases.push(phrase);
      phrase = '';
    }
    phrase += phrase === '' ? word : ` ${word}`;
  }
  return phrase === '' ? phrases : [...phrases, phrase];
}
