import type { LegalRules } from '../../campaign/file/legal-rules.ts';
import type { LawSummary } from '../../rules/hours/legal-hours.ts';
import { plural } from '../../shared/input/figures.ts';
import { printable, wrapped } from '../../shared/input/printable.ts';
import { basisWords, type Basis } from '../../rules/consent.ts';

const indent = ' '.repeat(10);

/** Law in the head of a report; `law` null: turned off. */
export function renderLaw(law: LegalRules | null): string[] {
  if (law === null) return ['Law       off: calling hours and caps by law do not hold'];
  const { packagedAsOf, own, none } = law;
  const packaged = packagedAsOf === null ? [] : [`rules as of ${packagedAsOf}`];
  const ids = (verb: string, which: readonly string[]): string[] =>
    which.length === 0 ? [] : [`${verb} ${which.map(printable).join(', ')}`];
  const what = own === null ? [] : [...ids('replaces', own.replaced), ...ids('adds', own.added)].join('; ');
  const ownLines = own === null ? [] : [`${printable(own.path)} as of ${own.asOf}`, ...wrapped(`It ${String(what)}.`)];
  const lifted = none.length === 0 ? [] : wrapped(`none holds in ${none.join(', ')}`);
  return [...packaged, ...ownLines, ...lifted].map((line, index) => `${index === 0 ? 'Law       ' : indent}${line}`);
}

const mostNamed = 10;

/** Sentences on consent and unconfirmed law in the called places; may be empty. */
export function lawSentences({ basis, consent, unconfirmed }: LawSummary): string[] {
  return [...consent.map((rule) => consentSentence(rule, basis)), ...unconfirmedSentences(unconfirmed)];
}

function consentSentence({ country, kind, rows, source }: LawSummary['consent'][number], basis: Basis | null): string {
  const scope = kind === 'required' ? 'to calls that sell anything' : 'to calls by machine or with an artificial voice';
  const law = `${country}: the law asks for consent ${scope} (${plural(rows, 'row')}; ${printable(source)}).`;
  if (basis === null) {
    const without = kind === 'required' ? '; a start is refused without it' : '';
    return `${law} The campaign file does not state what its calls rest on, basis: ${basisWords}${without}.`;
  }
  const basisNote = basis === 'consent' ? '' : ', which is not consent; whether it is enough is not judged';
  return `${law} The campaign file states basis: ${basis}${basisNote}.`;
}

function unconfirmedSentences(rules: LawSummary['unconfirmed']): string[] {
  if (rules.length === 0) return [];
  const named = rules.slice(0, mostNamed).map(({ id, what, rows }) => `${id} for ${plural(rows, 'row')} (${what})`);
  const more = rules.length > mostNamed ? [plural(rules.length - mostNamed, 'more rule')] : [];
  const were = rules.length === 1 ? 'was' : 'were';
  return [
    `${plural(rules.length, 'rule')} by law ${were} not confirmed at the source: ${[...named, ...more].map(printable).join('; ')}. The stricter of what is said about the law holds; look it up before you rely on it.`,
  ];
}

export function lawAsJson(law: LegalRules | null): object | null {
  if (law === null) return null;
  const { rules, packagedAsOf, own, none } = law;
  return { rules: rules.length, packagedAsOf, own, none };
}
