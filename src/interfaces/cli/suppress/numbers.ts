import type { Control } from '../../../operations/control/control.ts';
import { addToDoNotCall, removeFromDoNotCall, type EntryTerms } from '../../../operations/control/suppress.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import type { RunAnswer, Sent } from '../../../operations/runs/perform.ts';
import { accountScope } from '../../../ledger/rows/suppressions.ts';

/** A request of the API has no more; a command takes as many as fit in a line. */
const mostNumbers = 1000;

const ownOf = <Told>(
  numbers: readonly string[],
  { campaign = accountScope }: { campaign?: string | undefined },
  run: () => Promise<Told>,
) => (numbers.length > mostNumbers ? { log: campaign, run } : undefined);

/** Puts numbers, of `readNumbers`, on the do-not-call list. Throws as `performHere`. */
export function putOnList(
  control: Control,
  numbers: readonly string[],
  { expiresAt, ...entry }: EntryTerms,
  keyed: Pick<Sent, 'key' | 'written'>,
): Promise<RunAnswer<'addSuppressions'>> {
  const own = ownOf(numbers, entry, () => addToDoNotCall(control, numbers, { ...entry, expiresAt, source: 'person' }));
  const until = expiresAt === null ? undefined : new Date(expiresAt).toISOString();
  return performHere(control, 'addSuppressions', { body: { numbers, ...entry, expiresAt: until }, ...keyed }, own);
}

/** Takes numbers, of `readNumbers`, off the do-not-call list. Throws as `performHere`. */
export function takeOffList(
  control: Control,
  numbers: readonly string[],
  terms: { campaign?: string | undefined; purpose?: string; consentedAt?: number },
  key: string | undefined,
): Promise<RunAnswer<'removeSuppressions'>> {
  const own = ownOf(numbers, terms, () => removeFromDoNotCall(control, numbers, terms));
  const consentedAt = terms.consentedAt === undefined ? undefined : new Date(terms.consentedAt).toISOString();
  return performHere(control, 'removeSuppressions', { body: { numbers, ...terms, consentedAt }, key }, own);
}
