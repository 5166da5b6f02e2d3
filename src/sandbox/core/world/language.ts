export const languages = ['en', 'es', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  es: 'Spanish',
  de: 'German',
  fr: 'French',
};

/** Words that stand in most short utterances of one language and in none of the others. */
const marks: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set(
    'the you your is are was i am my not do does what who this that yes please thank thanks hello with have would will and for of it to'.split(
      ' ',
    ),
  ),
  es: new Set(
    'hola sí diga usted soy estoy gracias por favor qué quién habla hablo español inglés llame llamar entiendo el los las una pero para más muy adiós número equivocado'.split(
      ' ',
    ),
  ),
  de: new Set(
    'hallo ja nein ich nicht kein bitte danke wer ist das der die und sie mich mein deutsch englisch spreche verstehe rufen mehr auf wiederhören falsch verbunden'.split(
      ' ',
    ),
  ),
  fr: new Set(
    'allô oui non je ne pas vous est le les une des merci qui appelle parle français anglais comprends plus revoir bonjour désolé numéro mauvais trompez'.split(
      ' ',
    ),
  ),
};

/** The language of a tag such as `de-AT`; null for one that nobody here speaks. */
export function languageOfTag(tag: string | undefined): Language | null {
  const primary = tag?.toLowerCase().split(/[-_]/)[0];
  return languages.find((language) => language === primary) ?? null;
}

/** The language that something was said in; null when too little was said to tell. */
export function languageOf(text: string): Language | null {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const scores = languages.map((language) => ({
    language,
    score: words.filter((word) => marks[language].has(word)).length,
  }));
  const [first, second] = scores.sort((a, b) => b.score - a.score);
  if (first === undefined || second === undefined || first.score < 2 || first.score === second.score) return null;
  return first.language;
}
