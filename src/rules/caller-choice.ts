import { usTerritories } from './campaign-rules.ts';

/** A number that may call. */
export interface Caller {
  phoneNumberId: string;
  /** ISO 3166 code of the number, or null. */
  country: string | null;
  /** States or provinces to which its area code belongs; null where that says nothing. */
  regions: readonly string[] | null;
  /** Recipients it has been chosen for so far. */
  given: number;
}

/** Whom the number is to call. */
export interface CallerWish {
  /** The number that was chosen for this recipient before, or null. */
  caller: string | null;
  country: string | null;
  regions: readonly string[] | null;
}

/** Which of several numbers calls somebody who was never called (`caller_choice`); `region` is the default. */
export type CallerChoice = 'region' | 'rotation';

/**
 * The number that calls a recipient: the one they know already, else by `choice`. `region` prefers a number of their own state or
 * province, then one of their country. Among equals it is the one chosen least often so far, then the first in order.
 * `callers` are those that may be used, in the order of the campaign file; null when there is none.
 */
export function chooseCaller(callers: readonly Caller[], recipient: CallerWish, choice: CallerChoice): Caller | null {
  const known = callers.find((caller) => caller.phoneNumberId === recipient.caller);
  if (known !== undefined) return known;
  const nearness = (caller: Caller): number => (choice === 'region' ? nearnessOf(caller, recipient) : 0);
  return callers.toSorted((a, b) => nearness(b) - nearness(a) || a.given - b.given)[0] ?? null;
}

/** 2: of the recipient's region, 1: of their country, 0: neither, or not known. */
function nearnessOf(caller: Caller, recipient: CallerWish): 0 | 1 | 2 {
  const country = landOf(recipient.country);
  // Codes of regions mean something only within their country: WA is in the US and in Australia.
  if (country === null || landOf(caller.country) !== country) return 0;
  const own = recipient.regions ?? [];
  return caller.regions?.some((region) => own.includes(region)) === true ? 2 : 1;
}

function landOf(country: string | null): string | null {
  return country !== null && usTerritories.has(country) ? 'US' : country;
}

/**
 * Sorts people who are due into requests, since one request names one number: the first decides whose it is, and whoever has
 * another number waits for the next. Those who wait are counted as chosen for, or all of them would crowd to the same number.
 */
export class CallerSorting {
  readonly #callers: Caller[];
  readonly #choice: CallerChoice;
  #ofRequest: string | null = null;

  constructor(callers: readonly Caller[], choice: CallerChoice) {
    this.#callers = callers.map((caller) => ({ ...caller }));
    this.#choice = choice;
  }

  /** The number of this request; null while nobody has been taken. */
  get caller(): string | null {
    return this.#ofRequest;
  }

  /** Whether the recipient belongs into this request. */
  takes(recipient: CallerWish): boolean {
    const caller = chooseCaller(this.#callers, recipient, this.#choice);
    if (caller === null) return false;
    if (caller.phoneNumberId !== recipient.caller) caller.given += 1;
    this.#ofRequest ??= caller.phoneNumberId;
    return caller.phoneNumberId === this.#ofRequest;
  }
}

/** Why a number may not call: the service does not have it, or says that it is not verified. */
export type CallerFault = 'unknown' | 'not_verified';

/** What the service says of a number. */
export interface CallerStanding {
  phoneNumberId: string;
  e164: string | null;
  country: string | null;
  regions: readonly string[] | null;
  /** Null: it may call. */
  fault: CallerFault | null;
  /** The service's own word; null: it does not say. */
  verified: boolean | null;
}

/** Why no call can be made when none of the numbers may; holds ids only. */
export function explainFaults(standings: readonly CallerStanding[]): string {
  const [first] = standings;
  if (standings.length > 1) {
    const each = standings.map(({ phoneNumberId, fault }) => `${phoneNumberId} ${faultWords[fault ?? 'unknown']}`);
    return `None of the ${standings.length} caller numbers may call (${each.join(', ')}): fix one of them with the service`;
  }
  const id = first?.phoneNumberId ?? '';
  return first?.fault === 'not_verified'
    ? `Phone number ${id} is not verified, so its calls would fail: verify it with the service`
    : `The service has no phone number ${id}: import the number, or write another from_phone_number_id (a started campaign keeps its own)`;
}

/** Why a number may not call, as a predicate for sentences to operators. */
export const faultWords: Readonly<Record<CallerFault, string>> = {
  unknown: 'is not known to the service',
  not_verified: 'is not verified',
};
