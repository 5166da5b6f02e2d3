/** Where a list tells of the consent of each row; columns exactly as in the header. */
export interface ConsentRules {
  /** When it was given. */
  atColumn: string;
  /** Where it was given: a form, paper, the id of a call. */
  sourceColumn: string;
  /** What was agreed to: its words, or the id of their version. */
  textColumn: string;
  /** Hash or address of what was shown. */
  proofColumn: string | null;
  /** What it was given for; says the purpose of the campaign. */
  purposeColumn: string | null;
  /** Older than this it does not hold; null: however old. */
  maxAgeMs: number | null;
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
