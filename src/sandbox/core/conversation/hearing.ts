import { languageNames, languages, type Language } from '../world/person.ts';

/** Speech rules, also for a world file's other languages: the same words mean the same. */

const optOut = [
  /\b(?:do not|don['’]?t|never|stop|quit) (?:ever )?(?:call|calling|phone|phoning|ring|ringing|contact|contacting)\b/i,
  /\b(?:take|remove|delete|strike) (?:me|us|my (?:name|number)|our number|this number) (?:off|from)\b/i,
  /\b(?:off|from) your (?:call(?:ing)? )?list\b/i,
  /\b(?:do[- ]not[- ]call|unsubscribe me|opt(?:ing)? (?:me )?out|no more calls|lose my number)\b/i,
  /\bno (?:me )?(?:vuelvan?|vuelva usted|llamen|llame|llames)\b(?: a llamar(?:me)?)?/i,
  /\b(?:quítenme|quíteme|bórrenme|bórreme|elimínenme) de\b/i,
  /\brufen sie (?:mich|uns|hier) (?:bitte )?(?:nicht|nie)(?: (?:mehr|wieder))?/i,
  /\b(?:keine anrufe mehr|nicht mehr anrufen|streichen sie mich)\b/i,
  /\bne (?:me |m['’])?(?:rappelez|appelez|téléphonez|contactez)(?:-moi)? (?:plus|jamais|pas)\b/i,
  /\b(?:retirez|supprimez|enlevez)(?:-moi| mon numéro) de\b/i,
];

const wrongPerson = [
  /\bwrong (?:number|person)\b/i,
  /\b(?:nobody|no one|no-one) (?:by|of|with|called|named)\b.*\bname|\b(?:nobody|no one) (?:here )?(?:called|named)\b/i,
  /\b(?:does not|doesn['’]?t) (?:live|work) here\b/i,
  /\bn[úu]mero equivocado\b|\bse equivoca de n[úu]mero\b/i,
  /\bfalsch verbunden\b|\bfalsche nummer\b|\bsich verwählt\b/i,
  /\b(?:mauvais|faux) numéro\b|\btrompez de numéro\b/i,
];

const refusal = [
  /\b(?:rather not|no idea|none of your|not (?:going to|gonna) (?:say|tell|answer)|no comment|not your business)\b/i,
  /\b(?:don['’]?t|do not) (?:know|want to (?:say|tell|answer))\b/i,
  /\b(?:prefiero no|no (?:lo )?sé|no quiero)\b/i,
  /\b(?:lieber nicht|keine ahnung|weiß (?:ich )?nicht|möchte nicht)\b/i,
  /\b(?:je préfère (?:ne )?pas|je ne sais pas|aucune idée|je ne veux pas)\b/i,
];

const yes =
  /(?<!\p{L})(?:yes|yeah|yep|yup|sure|certainly|definitely|absolutely|of course|correct|that['’]?s right|i (?:do|will|am|would|can)(?! not|n['’]t)|sí|claro|por supuesto|ja|jawohl|natürlich|oui|bien sûr|d['’]accord)(?!\p{L})/iu;
const no =
  /(?<!\p{L})(?:no|nope|nah|not|never|i (?:don['’]?t|won['’]?t|can['’]?t|wouldn['’]?t)|nein|nicht|kein\w*|non|jamais|nunca)(?!\p{L})/iu;
const harmlessNo = /\bno (?:problem|worries|doubt|trouble)\b|\bwhy not\b|\bnot (?:sure|certain)\b/gi;

const whoIsThis =
  /\b(?:who(?:['’]s| is| are)? (?:this|that|there|you|calling|speaking)|who am i (?:talking|speaking) (?:to|with)|what is this about|what['’]?s this about|why are you calling)\b|\bqui[ée]n (?:es|habla|llama)\b|\bwer (?:ist|spricht) (?:da|dort)\b|\bqui est(?:-ce| à l)|\bc['’]est qui\b/i;
const asksBack = /^\W*(?:(?:what|pardon|sorry|huh|eh|excuse me|come again|cómo|wie bitte|comment)(?:\W+|$))+$/i;
const repeatPlease =
  /\b(?:what was that|say that again|(?:could|can) you repeat|did not catch|didn['’]?t catch|puede repetir|noch einmal bitte|pouvez-vous répéter)\b/i;
const greeting =
  /^\W*(?:hello|hi|hey|good (?:morning|afternoon|evening)|yes,? speaking|speaking|hola|diga|hallo|allô|bonjour|buenos días|guten tag)\b[^.!?]{0,24}[.!?\s]*(?:yes\?)?$/i;
const goodbye = /\b(?:goodbye|good bye|bye|adiós|auf wiederhören|tschüss|au revoir)(?!\p{L})/iu;

const longestRemark = 200;

function matches(patterns: readonly RegExp[]): (text: string) => boolean {
  return (text) => patterns.some((pattern) => pattern.test(text));
}

export const asksToStop = matches(optOut);
export const refusesToAnswer = matches(refusal);
export const asksWhoCalls = matches([whoIsThis]);
export const saysGoodbye = matches([goodbye]);
const namesAnother = matches(wrongPerson);

/** Only in plain words: a long story about a wrong number does not count. */
export function saysWrongPerson(text: string): boolean {
  return text.length <= longestRemark && namesAnother(text);
}

export function yesOrNo(text: string): boolean | null {
  const words = text.replaceAll(harmlessNo, '');
  const [agreed, denied] = [words.search(yes), words.search(no)];
  if (agreed === -1 && denied === -1) return null;
  return denied === -1 || (agreed !== -1 && agreed < denied);
}

export function requestedLanguage(text: string): Language | null {
  const name = /\bI only speak (?<name>\p{Lu}\p{L}+)/u.exec(text)?.groups?.name;
  return languages.find((language) => languageNames[language] === name) ?? null;
}

/** The name in "Am I speaking with …?"; null without one. */
export function nameAskedFor(text: string): string | null {
  const own = /Am I speaking with (?<name>.+)\?$/.exec(text)?.groups?.name;
  const other = /\b(?:[Aa]m I (?:speaking|talking) (?:with|to)|[Ii]s this) (?<name>\p{Lu}[\p{L} .'’-]*)\?/u;
  return own ?? other.exec(text)?.groups?.name ?? null;
}

/** A greeting, a question back or a request to repeat. */
export function isNoAnswer(text: string): boolean {
  return greeting.test(text) || asksWhoCalls(text) || asksBack.test(text) || repeatPlease.test(text) || !/[\p{L}\p{N}]/u.test(text);
}

const idle = new Set(
  `a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me my not of on or our
  person please said say shall should so some tell than that the their them they this to was we were what when where whether which who
  why will with would yes no you your there about any ask asked asks want wants like customer caller user callee main`.split(/\s+/),
);

export function contentWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !idle.has(word)).map(stem);
}

function stem(word: string): string {
  if (word.length < 5) return word;
  return word.replace(/(?:ing|ed|es|s|ly)$/, '');
}
