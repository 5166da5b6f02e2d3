/** Calls that need consent by law: `required`, all sales calls; `artificial_voice`, calls by machine or such a voice. */
export const consentKinds = ['required', 'artificial_voice'] as const;

/** Basis for calls that the campaign file states; its truth is not checked. */
export const bases = ['consent', 'existing_customer', 'legitimate_interest', 'legal_duty'] as const;
/** One of `bases`. */
export type Basis = (typeof bases)[number];
/** All of `bases`, for a sentence. */
export const basisWords = `${bases.slice(0, -1).join(', ')} or ${String(bases.at(-1))}`;

/** Where a list gives the consent of each row; columns exactly as in the header. */
export interface ConsentRules {
  atColumn: string;
  /** Where it was given: a form, paper, the id of a call. */
  sourceColumn: string | null;
  /** What was agreed to: its words, or their version id. */
  textColumn: string | null;
  /** A column that must say yes; absent: none. */
  yesColumn?: string;
  /** Source and text of the whole list, where no column gives them. */
  sourceOfList?: string;
  textOfList?: string;
  /** Hash or address of what was shown. */
  proofColumn: string | null;
  /** What it was given for; must name the campaign's purpose. */
  purposeColumn: string | null;
  /** Maximum age; null: no limit. */
  maxAgeMs: number | null;
}

const yes = ['yes', 'y', 'true', '1', 'ja', 'oui', 'si', 'sí', 'wahr'];
const no = ['no', 'n', 'false', '0', 'nein', 'non', 'falsch', 'declined', 'refused', 'denied', 'withdrawn'];

/** Whether a cell says yes; every other word, and an empty cell, does not. */
export function isYes(cell: string): boolean {
  return yes.includes(cell.trim().toLowerCase());
}

/** Whether a cell answers a yes/no question. */
export function isYesOrNo(cell: string): boolean {
  return isYes(cell) || no.includes(cell.trim().toLowerCase());
}

const consentStems = /consent|opt_?in(?:_|$)|opted_?in|permission|permitted|einwillig|einverst|zustimm|consenso|toestemm|samtyk/;
const consentWords =
  /(?:^|_)(?:tcpa|gdpr|dsgvo|(?:may|can|ok|okay|allowed|agreed?|agrees)(?:_we|_to)?(?:_be)?_?(?:call|contact)(?:s|ed)?)(?:_|$)/;
const detailWords =
  /_(?:at|date|time|timestamp|on|when|until|source|channel|method|via|by|text|words?|wording|version|ip|id|ref|proof|hash|url|link|form|purpose|for)$/;

/** What a column name suggests: consent itself, a detail such as its date, or neither (null). */
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

/** Consent faults that prevent a call: none recorded, too old, or revoked for the campaign's purpose. */
export const consentFaults = ['missing_consent', 'consent_expired', 'consent_revoked'] as const;
/** One of `consentFaults`. */
export type ConsentFault = (typeof consentFaults)[number];

/** Validity of a row's consent. `from` null: none recorded; `until` null: no end. */
export interface ConsentSpan {
  from: number | null;
  until: number | null;
}

/** Undefined when the campaign requires no consent. */
export function consentSpan(rules: ConsentRules | undefined, consentedAt: number | null | undefined): ConsentSpan | undefined {
  if (rules === undefined) return undefined;
  const from = consentedAt ?? null;
  return { from, until: from === null || rules.maxAgeMs === null ? null : from + rules.maxAgeMs };
}

/** Fault of a consent for a call that may ring until `until`; null: none. A future consent counts as missing. */
export function consentFault(consent: ConsentSpan, { at, until }: { at: number; until: number }): ConsentFault | null {
  if (consent.from === null || consent.from > at) return 'missing_consent';
  return consent.until !== null && until >= consent.until ? 'consent_expired' : null;
}

/** Scope of do-not-call entries that revoke consent for a purpose. */
export function purposeScope(purpose: string): string {
  return `${purposePrefix}${purpose}`;
}

/** Purpose of such a scope; null: another scope. */
export function purposeOf(scope: string): string | null {
  return scope.startsWith(purposePrefix) ? scope.slice(purposePrefix.length) : null;
}

/** Prefix of such scopes; campaign ids contain no colon. */
export const purposePrefix = 'purpose:';
