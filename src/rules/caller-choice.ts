/** US territories with ISO 3166 codes of their own, where US law applies: American Samoa, Guam, … */
export const usTerritories: ReadonlySet<string> = new Set(['AS', 'GU', 'MP', 'PR', 'VI']);

/** A caller number. */
export interface Caller {
  phoneNumberId: string;
  /** ISO 3166 code of the number, or null. */
  country: string | null;
  /** Of its area code; null: not known. */
  regions: readonly string[] | null;
  /** Recipients assigned to it so far. */
  given: number;
}

/** The recipient to choose a caller number for. */
export interface CallerRecipient {
  /** Chosen for this recipient before, or null. */
  caller: string | null;
  country: string | null;
  regions: readonly string[] | null;
  /** Has a callback, for which capacity was reserved. */
  isPromised?: boolean;
}

/** How to choose among several numbers for a recipient never called (`caller_choice`); default: `region`. */
export type CallerChoice = 'region' | 'rotation';

/**
 * Chooses the number the recipient knows, else by `choice` (`region`: same state or province, then country), then the least chosen, then
 * the first. `callers` are usable and in campaign-file order; null: none.
 */
export function chooseCaller(callers: readonly Caller[], recipient: CallerRecipient, choice: CallerChoice): Caller | null {
  const known = callers.find((caller) => caller.phoneNumberId === recipient.caller);
  if (known !== undefined) return known;
  const nearness = (caller: Caller): number => (choice === 'region' ? nearnessOf(caller, recipient) : 0);
  return callers.toSorted((a, b) => nearness(b) - nearness(a) || a.given - b.given)[0] ?? null;
}

/** 2: the recipient's region, 1: its country, 0: neither or unknown. */
function nearnessOf(caller: Caller, recipient: CallerRecipient): 0 | 1 | 2 {
  const country = landOf(recipient.country);
  // Region codes are unique only within a country: WA is in the US and in Australia.
  if (country === null || landOf(caller.country) !== country) return 0;
  const own = recipient.regions ?? [];
  return caller.regions?.some((region) => own.includes(region)) === true ? 2 : 1;
}

function landOf(country: string | null): string | null {
  return country !== null && usTerritories.has(country) ? 'US' : country;
}

interface CallerAvailability {
  rooms?: ReadonlyMap<string, CallerCapacity>;
  sticksUntil?: number;
  looksAt?: number;
}

/**
 * Sorts due recipients into requests with one caller number each, decided by the first. Waiting recipients count as assigned; otherwise all
 * would crowd onto the same number.
 */
export class CallerSorting {
  readonly #callers: Caller[];
  readonly #choice: CallerChoice;
  readonly #rooms: ReadonlyMap<string, CallerCapacity>;
  readonly #sticksUntil: number;
  readonly #looksAt: number;
  #ofRequest: string | null = null;
  #taken = 0;
  #takenUnpromised = 0;

  /**
   * `rooms`: capacity of limited numbers; `sticksUntil`: a recipient whose number is full for longer gets another; `looksAt`: latest
   * recheck.
   */
  constructor(
    callers: readonly Caller[],
    choice: CallerChoice,
    { rooms: capacities = new Map(), sticksUntil = Infinity, looksAt: recheckAt = Infinity }: CallerAvailability = {},
  ) {
    this.#callers = callers.filter(({ phoneNumberId }) => capacities.get(phoneNumberId)?.room !== 0).map((caller) => ({ ...caller }));
    this.#choice = choice;
    this.#rooms = capacities;
    this.#sticksUntil = sticksUntil;
    this.#looksAt = recheckAt;
  }

  /** Null before the first recipient. */
  get caller(): string | null {
    return this.#ofRequest;
  }

  /** Until when the recipient's number, or every number, is at its limit or reserved for callbacks; null: no wait. */
  waitsUntil({ caller, isPromised: hasCallback }: CallerRecipient): number | null {
    const own = caller === null ? undefined : this.#rooms.get(caller);
    const known = (waitOf(own, hasCallback === true) ?? 0) <= this.#sticksUntil ? own : undefined;
    const capacities = known === undefined ? this.#callers.map(({ phoneNumberId }) => this.#rooms.get(phoneNumberId)) : [known];
    const waits = capacities.map((capacity) => waitOf(capacity, hasCallback === true));
    return waits.length > 0 && !waits.includes(null) ? Math.min(this.#looksAt, ...waits.map(Number)) : null;
  }

  /** Adds the recipient if it belongs to this request; returns whether it did. */
  takes(recipient: CallerRecipient): boolean {
    const hasCallback = recipient.isPromised === true;
    const usable = this.#callers.filter(({ phoneNumberId }) => waitOf(this.#rooms.get(phoneNumberId), hasCallback) === null);
    const caller = chooseCaller(usable, recipient, this.#choice);
    if (caller === null) return false;
    if (caller.phoneNumberId !== recipient.caller) caller.given += 1;
    this.#ofRequest ??= caller.phoneNumberId;
    const { room: capacity = Infinity, free = Infinity } = this.#rooms.get(this.#ofRequest) ?? {};
    if (caller.phoneNumberId !== this.#ofRequest || this.#taken >= capacity || (!hasCallback && this.#takenUnpromised >= free))
      return false;
    this.#taken += 1;
    if (!hasCallback) this.#takenUnpromised += 1;
    return true;
  }
}

/** Why a number may not call: the service does not have it, or reports it as unverified. */
export type CallerFault = 'unknown' | 'not_verified';

/** The service's report on a number. */
export interface CallerStatus {
  phoneNumberId: string;
  e164: string | null;
  country: string | null;
  regions: readonly string[] | null;
  /** Null: it may call. */
  fault: CallerFault | null;
  /** As the service reports it; null: not reported. */
  verified: boolean | null;
}

/** Why no campaign can start with these numbers; contains ids only. */
export function explainFaults(statuses: readonly CallerStatus[]): string {
  const [first] = statuses;
  if (statuses.length > 1) {
    const each = statuses.flatMap(({ phoneNumberId, fault }) => (fault === null ? [] : [`${phoneNumberId} ${faultWords[fault]}`]));
    const all = each.length === statuses.length;
    return all
      ? `None of the ${statuses.length} caller numbers may call (${each.join(', ')}): fix one of them with the service`
      : `${each.length} of the ${statuses.length} caller numbers may not call (${each.join(', ')}): fix them with the service, or take them out of from_phone_number_id`;
  }
  const id = first?.phoneNumberId ?? '';
  return first?.fault === 'not_verified'
    ? `Phone number ${id} is not verified, so its calls would fail: verify it with the service`
    : `The service has no phone number ${id}: import the number, or write another from_phone_number_id (a started campaign keeps its own)`;
}

/** Fault of a number, as a predicate for sentences to operators. */
export const faultWords: Readonly<Record<CallerFault, string>> = {
  unknown: 'is not known to the service',
  not_verified: 'is not verified',
};

/** Call limits of one number, over all campaigns of the database; null: no limit. */
export interface CallerLimits {
  perHour: number | null;
  perDay: number | null;
  /** Minimum interval between its calls; absent: none. */
  spreadMs?: number;
  /** A recipient whose number must wait longer than this gets another one; absent: waits. */
  stickMs?: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How far back calls count. */
export const callerLookBackMs = dayMs;

/** Sliding windows, so that calls do not burst at midnight. */
export function windowsOf({ perHour, perDay, spreadMs }: CallerLimits): { most: number; ms: number }[] {
  return [
    ...(perHour === null ? [] : [{ most: perHour, ms: hourMs }]),
    ...(perDay === null ? [] : [{ most: perDay, ms: dayMs }]),
    ...(spreadMs === undefined ? [] : [{ most: 1, ms: spreadMs }]),
  ];
}

/** Calls that a number may begin now, or when it may begin one. */
export interface CallerCapacity {
  room: number;
  freeAt: number;
  /** How many may go to recipients without a callback, so that callbacks have capacity; if none, when to recheck. */
  free: number;
  looksAt: number;
}

/** Until when a number places no calls, or callbacks only; null: no wait. */
export function waitOf(capacity: CallerCapacity | undefined, hasCallback: boolean): number | null {
  if (capacity?.room === 0) return capacity.freeAt;
  return capacity?.free === 0 && !hasCallback ? capacity.looksAt : null;
}

/** Minimum wait before rechecking reserved capacity. */
export const minRecheckMs = 60_000;

/** `calls`: when its calls rang, or may ring at the latest; `callbacks`: due instants that need capacity. In any order. */
export function capacityOf(limits: CallerLimits, calls: readonly number[], now: number, callbacks: readonly number[] = []): CallerCapacity {
  const found: CallerCapacity = { room: Infinity, freeAt: now, free: Infinity, looksAt: Infinity };
  for (const { most, ms } of windowsOf(limits)) {
    const within = calls.filter((at) => at > now - ms).sort((a, b) => a - b);
    found.room = Math.min(found.room, Math.max(0, most - within.length));
    // The last call that must leave the window before another fits.
    const leaving = within[within.length - most];
    if (leaving !== undefined) found.freeAt = Math.max(found.freeAt, leaving + ms);
    found.looksAt = Math.min(found.looksAt, (within[0] ?? Infinity) + ms);
  }
  found.free = Math.max(0, Math.min(keptFor(limits, calls, now, callbacks), found.room));
  found.looksAt = Math.max(now + minRecheckMs, Math.min(found.looksAt, ...callbacks.map((due) => Math.max(due, now))));
  return found;
}

/** How many calls may begin now and leave capacity for each callback due within their windows. */
export function keptFor(limits: CallerLimits, calls: readonly number[], now: number, callbacks: readonly number[]): number {
  const dues = callbacks.map((due) => Math.max(due, now)).sort((a, b) => a - b);
  return Math.min(
    ...windowsOf(limits).flatMap(({ most, ms }) => {
      const within = calls.filter((at) => at > now - ms);
      // A call that begins now still counts when each of these is due.
      return dues.filter((at) => at <= now + ms).map((due, before) => most - within.filter((at) => at > due - ms).length - (before + 1));
    }),
  );
}
