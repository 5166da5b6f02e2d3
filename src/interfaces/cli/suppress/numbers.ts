import type { Control } from '../../../operations/control/control.ts';
import { addToDoNotCall, removeFromDoNotCall, type EntryTerms } from '../../../operations/control/suppress.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import type { Sent } from '../../../operations/runs/perform.ts';
import { accountScope } from '../../../ledger/rows/suppressions.ts';

type Terms = Pick<EntryTerms, 'campaign' | 'purpose'>;

/** An API request has at most 1000 numbers; a command line may have more. */
const ownOf = <Told>(numbers: readonly string[], { campaign = accountScope }: Terms, run: () => Promise<Told>) =>
  numbers.length > 1000 ? { log: campaign, run } : undefined;

const instantOf = (ms: number | null | undefined) => (ms == null ? undefined : new Date(ms).toISOString());

/** Numbers come from `readNumbers`. Throws as `performHere`. */
export function putOnList(control: Control, numbers: readonly string[], terms: EntryTerms, keyed: Sent) {
  const own = ownOf(numbers, terms, () => addToDoNotCall(control, numbers, { ...terms, source: 'person' }));
  const body = { numbers, ...terms, expiresAt: instantOf(terms.expiresAt) };
  return performHere(control, 'addSuppressions', { body, ...keyed }, own);
}

/** Numbers come from `readNumbers`. Throws as `performHere`. */
export function takeOffList(control: Control, numbers: readonly string[], terms: Terms & { consentedAt?: number }, keyed: Sent) {
  const own = ownOf(numbers, terms, () => removeFromDoNotCall(control, numbers, terms));
  const body = { numbers, ...terms, consentedAt: instantOf(terms.consentedAt) };
  return performHere(control, 'removeSuppressions', { body, ...keyed }, own);
}
