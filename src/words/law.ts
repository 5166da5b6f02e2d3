import type { LegalRules } from '../campaign-file/legal-rules.ts';
import { printable } from '../input/printable.ts';
import { wrapped } from '../input/wrapped.ts';

const indent = ' '.repeat(10);

/** Which rules by law hold, in the head of a report. `law`: null when the campaign file turns them off. */
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

/** The same as plain data; null when they are off. */
export function lawAsJson(law: LegalRules | null): object | null {
  if (law === null) return null;
  const { rules, packagedAsOf, own, none } = law;
  return { rules: rules.length, packagedAsOf, own, none };
}
