/** Territories that have an ISO 3166 code of their own, and in which the law of the US holds: American Samoa, Guam, … */
export const usTerritories: ReadonlySet<string> = new Set(['AS', 'GU', 'MP', 'PR', 'VI']);

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
  /** A call back that was promised to them, for which room was kept. */
  isPromised?: boolean;
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

interface CallerLook {
  rooms?: ReadonlyMap<string, CallerRoom>;
  sticksUntil?: number;
  looksAt?: number;
}

/**
 * Sorts people who are due into requests, since one request names one number: the first decides whose it is, and whoever has
 * another number waits for the next. Those who wait are counted as chosen for, or all of them would crowd to the same number.
 */
export class CallerSorting {
  readonly #callers: Caller[];
  readonly #choice: CallerChoice;
  readonly #rooms: ReadonlyMap<string, CallerRoom>;
  readonly #sticksUntil: number;
  readonly #looksAt: number;
  #ofRequest: string | null = null;
  #taken = 0;
  #takenUnpromised = 0;

  /**
   * `rooms`: of those whose calls are limited; `sticksUntil`: whose number is full for longer is called from another one; `looksAt`: nobody
   * waits for longer before the numbers are looked at again.
   */
  constructor(
    callers: readonly Caller[],
    choice: CallerChoice,
    { rooms = new Map(), sticksUntil = Infinity, looksAt = Infinity }: CallerLook = {},
  ) {
    this.#callers = callers.filter(({ phoneNumberId }) => rooms.get(phoneNumberId)?.room !== 0).map((caller) => ({ ...caller }));
    this.#choice = choice;
    this.#rooms = rooms;
    this.#sticksUntil = sticksUntil;
    this.#looksAt = looksAt;
  }

  /** The number of this request; null while nobody has been taken. */
  get caller(): string | null {
    return this.#ofRequest;
  }

  /**
   * Until when the recipient waits for the number that they know, or any, since it has made as many calls as it may or keeps the rest for
   * call backs; null: they need not.
   */
  waitsUntil({ caller, isPromised }: CallerWish): number | null {
    const own = caller === null ? undefined : this.#rooms.get(caller);
    const known = (waitOf(own, isPromised === true) ?? 0) <= this.#sticksUntil ? own : undefined;
    const rooms = known === undefined ? this.#callers.map(({ phoneNumberId }) => this.#rooms.get(phoneNumberId)) : [known];
    const waits = rooms.map((room) => waitOf(room, isPromised === true));
    return waits.length > 0 && !waits.includes(null) ? Math.min(this.#looksAt, ...waits.map(Number)) : null;
  }

  /** Whether the recipient belongs into this request. */
  takes(recipient: CallerWish): boolean {
    const isPromised = recipient.isPromised === true;
    const usable = this.#callers.filter(({ phoneNumberId }) => waitOf(this.#rooms.get(phoneNumberId), isPromised) === null);
    const caller = chooseCaller(usable, recipient, this.#choice);
    if (caller === null) return false;
    if (caller.phoneNumberId !== recipient.caller) caller.given += 1;
    this.#ofRequest ??= caller.phoneNumberId;
    const { room = Infinity, free = Infinity } = this.#rooms.get(this.#ofRequest) ?? {};
    if (caller.phoneNumberId !== this.#ofRequest || this.#taken >= room || (!isPromised && this.#takenUnpromised >= free)) return false;
    this.#taken += 1;
    if (!isPromised) this.#takenUnpromised += 1;
    return true;
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

/** Why no campaign may start with these numbers, some of which may not call; holds ids only. */
export function explainFaults(standings: readonly CallerStanding[]): string {
  const [first] = standings;
  if (standings.length > 1) {
    const each = standings.flatMap(({ phoneNumberId, fault }) => (fault === null ? [] : [`${phoneNumberId} ${faultWords[fault]}`]));
    const all = each.length === standings.length;
    return all
      ? `None of the ${standings.length} caller numbers may call (${each.join(', ')}): fix one of them with the service`
      : `${each.length} of the ${standings.length} caller numbers may not call (${each.join(', ')}): fix them with the service, or take them out of from_phone_number_id`;
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

/** How many calls one number may make, over all campaigns of the database; null: no limit. */
export interface CallerLimits {
  perHour: number | null;
  perDay: number | null;
  /** Between two calls of it at least; absent: none. */
  spreadMs?: number;
  /** A recipient whose number must wait for longer than this is called from another one; absent: they wait. */
  stickMs?: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How far back calls count. */
export const callerLookBackMs = dayMs;

/** Any stretch of that length counts, so that nothing bursts at midnight. */
export function windowsOf({ perHour, perDay, spreadMs }: CallerLimits): { most: number; ms: number }[] {
  return [
    ...(perHour === null ? [] : [{ most: perHour, ms: hourMs }]),
    ...(perDay === null ? [] : [{ most: perDay, ms: dayMs }]),
    ...(spreadMs === undefined ? [] : [{ most: 1, ms: spreadMs }]),
  ];
}

/** Calls that a number may begin now, and when it may begin one more where that is none. */
export interface CallerRoom {
  room: number;
  freeAt: number;
  /** How many of them to people to whom nothing was promised, so that each call back finds room; where none, look again then. */
  free: number;
  looksAt: number;
}

/** Until when a number calls nobody, or nobody to whom nothing was promised; null: it may. */
export function waitOf(room: CallerRoom | undefined, isPromised: boolean): number | null {
  if (room?.room === 0) return room.freeAt;
  return room?.free === 0 && !isPromised ? room.looksAt : null;
}

/** Room that is kept is looked at again after this long at least. */
export const leastLookMs = 60_000;

/**
 * `calls`: when its calls rang, or may ring at the latest; `promised`: when call backs are due for which it is to have room; in any order.
 */
export function roomOf(limits: CallerLimits, calls: readonly number[], now: number, promised: readonly number[] = []): CallerRoom {
  const found: CallerRoom = { room: Infinity, freeAt: now, free: Infinity, looksAt: Infinity };
  for (const { most, ms } of windowsOf(limits)) {
    const within = calls.filter((at) => at > now - ms).sort((a, b) => a - b);
    found.room = Math.min(found.room, Math.max(0, most - within.length));
    // One more fits when all but the last few of them are so long ago.
    const leaving = within[within.length - most];
    if (leaving !== undefined) found.freeAt = Math.max(found.freeAt, leaving + ms);
    found.looksAt = Math.min(found.looksAt, (within[0] ?? Infinity) + ms);
  }
  found.free = Math.max(0, Math.min(keptFor(limits, calls, now, promised), found.room));
  found.looksAt = Math.max(now + leastLookMs, Math.min(found.looksAt, ...promised.map((due) => Math.max(due, now))));
  return found;
}

/** How many calls of now leave room for each callback that is due before they have left a stretch. */
export function keptFor(limits: CallerLimits, calls: readonly number[], now: number, promised: readonly number[]): number {
  const dues = promised.map((due) => Math.max(due, now)).sort((a, b) => a - b);
  return Math.min(
    ...windowsOf(limits).flatMap(({ most, ms }) => {
      const within = calls.filter((at) => at > now - ms);
      // A call that begins now still counts when each of these is due.
      return dues.filter((at) => at <= now + ms).map((due, before) => most - within.filter((at) => at > due - ms).length - (before + 1));
    }),
  );
}
