/** Whose calls need consent by law: `required`, those of all who sell; `artificial_voice`, those by machine or such a voice. */
export const consentKinds = ['required', 'artificial_voice'] as const;

/** What the calls of a campaign rest on, as its file states it; nobody judges whether that is so. */
export const bases = ['consent', 'existing_customer', 'legitimate_interest', 'legal_duty'] as const;
/** One of them. */
export type Basis = (typeof bases)[number];
/** All of them, as a sentence names them. */
export const basisWords = `${bases.slice(0, -1).join(', ')} or ${String(bases.at(-1))}`;

/** Where a list tells of the consent of each row; columns exactly as in the header. */
export interface ConsentRules {
  /** When it was given. */
  atColumn: string;
  /** Where it was given: a form, paper, the id of a call. */
  sourceColumn: string | null;
  /** What was agreed to: its words, or the id of their version. */
  textColumn: string | null;
  /** A column that must say yes; left out: none. */
  yesColumn?: string;
  /** Source and text that are the same for the whole list, where no column says them. */
  sourceOfList?: string;
  textOfList?: string;
  /** Hash or address of what was shown. */
  proofColumn: string | null;
  /** What it was given for; says the purpose of the campaign. */
  purposeColumn: string | null;
  /** Older than this it does not hold; null: however old. */
  maxAgeMs: number | null;
}

const yes = ['yes', 'y', 'true', '1', 'ja', 'oui', 'si', 'sí', 'wahr'];
const no = ['no', 'n', 'false', '0', 'nein', 'non', 'falsch', 'declined', 'refused', 'denied', 'withdrawn'];

/** Whether a cell says yes; every other word, and an empty cell, does not. */
export function saysYes(cell: string): boolean {
  return yes.includes(cell.trim().toLowerCase());
}

/** Whether a cell answers a question of yes or no. */
export function saysYesOrNo(cell: string): boolean {
  return saysYes(cell) || no.includes(cell.trim().toLowerCase());
}

const consentStems = /consent|opt_?in(?:_|$)|opted_?in|permission|permitted|einwillig|einverst|zustimm|consenso|toestemm|samtyk/;
const consentWords =
  /(?:^|_)(?:tcpa|gdpr|dsgvo|(?:may|can|ok|okay|allowed|agreed?|agrees)(?:_we|_to)?(?:_be)?_?(?:call|contact)(?:s|ed)?)(?:_|$)/;
const detailWords =
  /_(?:at|date|time|timestamp|on|when|until|source|channel|method|via|by|text|words?|wording|version|ip|id|ref|proof|hash|url|link|form|purpose|for)$/;

/** What the name of a column promises: consent itself, a detail of it such as its date, or neither (null). */
export function consentKind(column: string): 'consent' | 'detail' | null {
  const name = column
    .normalize('NFKC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
  if (!consentStems.test(name) && !consentWords.test(name)) return null;
  return detailWords.test(name) ? 'detail' : 'consent';
}

/** Why nobody is called for want of consent: none is told, it is too old, or it was taken back for the purpose of the campaign. */
export const consentFaults = ['missing_consent', 'consent_expired', 'consent_revoked'] as const;
/** One of them. */
export type ConsentFault = (typeof consentFaults)[number];

/** When the consent of a row begins to hold and from when on it does not; null: it tells of none, or it holds for ever. */
export interface ConsentSpan {
  from: number | null;
  until: number | null;
}

/** Undefined where the campaign asks for none. */
export function consentSpan(rules: ConsentRules | undefined, consentedAt: number | null | undefined): ConsentSpan | undefined {
  if (rules === undefined) return undefined;
  const from = consentedAt ?? null;
  return { from, until: from === null || rules.maxAgeMs === null ? null : from + rules.maxAgeMs };
}

/** What is wrong with a consent for a call that may ring until `until`; null: nothing. One that is not given yet is none. */
export function consentFault(consent: ConsentSpan, { at, until }: { at: number; until: number }): ConsentFault | null {
  if (consent.from === null || consent.from > at) return 'missing_consent';
  return consent.until !== null && until >= consent.until ? 'consent_expired' : null;
}

/** The scope of do-not-call entries by which people took their consent for a purpose back. */
export function purposeScope(purpose: string): string {
  return `${purposePrefix}${purpose}`;
}

/** The word of such a scope; null: it is another scope. */
export function purposeOf(scope: string): string | null {
  return scope.startsWith(purposePrefix) ? scope.slice(purposePrefix.length) : null;
}

/** With what such scopes begin; no id of a campaign has a colon. */
export const purposePrefix = 'purpose:';
