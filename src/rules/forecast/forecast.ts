import { earliest } from '../campaign-rules.ts';
import { windowAt, type DatedCalendar } from '../hours/calling-window.ts';
import { capsAllowAt, type FrequencyCap } from '../frequency-caps.ts';
import { grainOf } from './grain.ts';
import { LineUse, type StartLimit } from './line-use.ts';
import { PriorityQueue } from './priority-queue.ts';

const dayMs = 24 * 60 * 60_000;
/** A longer campaign is reported as "more than a year". */
const horizonMs = 366 * dayMs;
/** Recheck interval for a window without a known closing time. */
const recheckMs = dayMs;

/** Recipients with the same rules and times. */
export interface ForecastGroup {
  count: number;
  /** Attempts already made; default: none. */
  attempts?: number;
  calendars: readonly DatedCalendar[];
  zones: readonly string[];
  /** No call before this instant; null: at once. */
  notBefore: number | null;
  /** No call from this instant on; null: no own limit. */
  expiresAt: number | null;
  /** Frequency caps of campaign and law; absent: those of the campaign. */
  caps?: readonly FrequencyCap[];
}

/** Assumptions about a campaign's calls. */
export interface CallAssumptions {
  /** Share of answered calls, 0 to 1. */
  answerRate: number;
  /** Line time of an answered call, and of an unanswered one. */
  answeredMs: number;
  unansweredMs: number;
  /** Retries after a failed attempt, and the earliest instant of each, from 1. */
  retries: number;
  retryAt: (retry: number, endedAt: number, zones: readonly string[]) => number;
}

/** Groups of rows that behave alike, and limits. Times are ms of service time. */
export interface ForecastInput {
  groups: readonly ForecastGroup[];
  course: CallAssumptions;
  at: number;
  endsAt: number | null;
  /** How long a window must stay open beyond a start. */
  marginMs: number;
  /** Maximum lines in use this long after the first instant. */
  linesAt: (sinceMs: number) => number;
  startLimits: readonly StartLimit[];
  caps: readonly FrequencyCap[];
  /** Step between instants; default: by `grainOf`. */
  grainMs?: number;
}

/** Result of one simulation. Not a bound: other campaigns and refusals are ignored. */
export interface Forecast {
  /** Null: no call, or not within a year. */
  finishesAt: number | null;
  /** Last first attempt, and last attempt of all. */
  lastFirstStartAt: number | null;
  lastStartAt: number | null;
  calls: number;
  /** Line time of all calls. */
  callMs: number;
  /** Recipients whose first attempt would come too late, and those whose retry would. */
  neverCalled: number;
  cutShort: number;
  /** Lasts longer than a year. */
  endless: boolean;
}

/** Recipients of one group waiting for the same attempt since the same instant. */
interface Cohort {
  group: Place;
  attempts: number;
  count: number;
  dueAt: number;
  /** Approximate place in the list, by the first attempt. */
  order: number;
  /** Instants of their calls, for frequency caps; empty without caps. */
  calledAt: readonly number[];
}

/** A group, and the known state of its window. */
interface Place extends ForecastGroup {
  /** Recipients who may be called now and have had no attempt. */
  fresh: number;
  /** Open: `changesAt` is the first closed instant. Closed: when they may be called (null: never). */
  open: boolean;
  changesAt: number | null;
  /** Until when both are valid. */
  knownUntil: number;
}

/**
 * Simulates when a campaign ends: retries before first attempts, groups in turn by size. Ignores other campaigns and batch size. Cost
 * depends on the number of calls and groups, not on the duration.
 */
export function forecast(input: ForecastInput): Forecast {
  return new Simulation(input).run();
}

class Simulation {
  readonly #input: ForecastInput;
  readonly #grainMs: number;
  readonly #answeredMs: number;
  readonly #unansweredMs: number;
  /** Ordered by due time. */
  readonly #waiting = new PriorityQueue<Cohort>((left, right) => left.dueAt - right.dueAt || left.order - right.order);
  /** Due, in the order of becoming due. */
  #retries: Cohort[] = [];
  #nextRetry = 0;
  /** Groups with first attempts to make, the one furthest behind first. */
  readonly #fresh = new PriorityQueue<Place>((left, right) => right.fresh / right.count - left.fresh / left.count);
  readonly #lines: LineUse;
  /** Fraction of an answered call carried over. */
  #answeredRest = 0;
  readonly #result: Forecast = {
    finishesAt: null,
    lastFirstStartAt: null,
    lastStartAt: null,
    calls: 0,
    callMs: 0,
    neverCalled: 0,
    cutShort: 0,
    endless: false,
  };

  constructor(input: ForecastInput) {
    this.#input = input;
    this.#lines = new LineUse(input.startLimits);
    const { answeredMs, unansweredMs } = input.course;
    this.#grainMs = input.grainMs ?? grainOf(answeredMs, unansweredMs);
    // With a common grain, calls that end together are one event.
    const onGrid = (ms: number): number => Math.max(1, Math.ceil(ms / this.#grainMs)) * this.#grainMs;
    this.#answeredMs = onGrid(answeredMs);
    this.#unansweredMs = onGrid(unansweredMs);
    for (const group of input.groups) {
      if (group.count <= 0) continue;
      const place = { ...group, fresh: 0, open: false, changesAt: null, knownUntil: -Infinity };
      const dueAt = Math.max(input.at, group.notBefore ?? input.at);
      this.#waiting.push({ group: place, attempts: 0, ...group, dueAt, order: 0, calledAt: [] });
    }
  }

  run(): Forecast {
    const { at } = this.#input;
    for (let now: number | null = at; now !== null; now = this.#nextInstant(now)) {
      if (now > at + horizonMs) {
        this.#result.endless = true;
        return this.#result;
      }
      this.#lines.advanceTo(now);
      this.#admitDue(now);
      this.#startCalls(now);
    }
    return { ...this.#result, finishesAt: this.#lines.lastEndsAt };
  }

  #nextInstant(now: number): number | null {
    const { at } = this.#input;
    let next = this.#waiting.peek()?.dueAt ?? null;
    if (this.#hasReady()) {
      // Recipients are ready but not called: a limit is reached and must give way.
      const lines = this.#lines;
      next = lines.nextStartAt ?? Math.min(lines.nextFreeAt, this.#warmsUp(now) ? now + this.#grainMs : Infinity);
    }
    if (next === null || !Number.isFinite(next)) return null;
    return at + Math.ceil((Math.max(next, now + 1) - at) / this.#grainMs) * this.#grainMs;
  }

  #warmsUp(now: number): boolean {
    const { linesAt, at } = this.#input;
    return linesAt(now - at) < linesAt(Infinity);
  }

  #hasReady(): boolean {
    return this.#nextRetry < this.#retries.length || this.#fresh.size > 0;
  }

  #admitDue(now: number): void {
    for (let next = this.#waiting.peek(); next !== undefined && next.dueAt <= now; next = this.#waiting.peek()) {
      this.#waiting.pop();
      if (!this.#isOpen(next, now)) continue;
      if (next.attempts > 0) this.#retries.push(next);
      else {
        next.group.fresh = next.count;
        this.#fresh.push(next.group);
      }
    }
  }

  /** Whether the cohort may be called now; if not, it waits or is given up. */
  #isOpen(cohort: Cohort, now: number): boolean {
    const { group } = cohort;
    this.#lookAtWindow(group, now);
    if (group.open) return true;
    if (group.changesAt !== null) this.#waiting.push({ ...cohort, dueAt: group.changesAt });
    else if (cohort.attempts === 0) this.#result.neverCalled += cohort.count;
    else this.#result.cutShort += cohort.count;
    return false;
  }

  #lookAtWindow(place: Place, now: number): void {
    if (now < place.knownUntil) return;
    const { marginMs } = this.#input;
    const endsAt = earliest(this.#input.endsAt, place.expiresAt);
    const window = windowAt({ calendars: place.calendars, zones: place.zones, at: now, marginMs, endsAt });
    place.open = window.open;
    if (window.open) {
      place.changesAt = window.closesAt === null ? null : window.closesAt - marginMs;
      place.knownUntil = place.changesAt ?? now + recheckMs;
    } else {
      place.changesAt = window.opensAt;
      place.knownUntil = window.opensAt ?? Infinity;
    }
  }

  #startCalls(now: number): void {
    const { linesAt, at } = this.#input;
    let left = Math.min(linesAt(now - at) - this.#lines.inUse, this.#lines.startsLeft);
    const called = { answered: 0, unanswered: 0 };
    while (left > 0 && this.#nextRetry < this.#retries.length) {
      const cohort = this.#retries[this.#nextRetry] as Cohort;
      if (!this.#isOpen(cohort, now)) {
        this.#nextRetry += 1;
        continue;
      }
      const count = Math.min(left, cohort.count);
      this.#call({ ...cohort, count }, now, called);
      left -= count;
      cohort.count -= count;
      if (cohort.count === 0) this.#nextRetry += 1;
    }
    if (this.#nextRetry === this.#retries.length) [this.#retries, this.#nextRetry] = [[], 0];
    if (left > 0) this.#startFresh(left, now, called);
    this.#occupyLines(now, called);
  }

  #startFresh(slots: number, now: number, called: Called): void {
    const taken = new Map<Place, number>();
    for (let left = slots; left > 0;) {
      const place = this.#fresh.pop();
      if (place === undefined) break;
      const waiting: Cohort = { group: place, attempts: 0, count: place.fresh, dueAt: now, order: 0, calledAt: [] };
      if (!this.#isOpen(waiting, now)) continue;
      const count = Math.min(place.fresh, left, Math.max(1, Math.floor(left / (this.#fresh.size + 1))));
      taken.set(place, (taken.get(place) ?? 0) + count);
      place.fresh -= count;
      left -= count;
      if (place.fresh > 0) this.#fresh.push(place);
    }
    for (const [group, count] of taken) this.#call({ group, attempts: 0, count, dueAt: now, order: now, calledAt: [] }, now, called);
  }

  #call({ group, attempts, count, order, calledAt }: Cohort, now: number, called: Called): void {
    const { course } = this.#input;
    const caps = group.caps ?? this.#input.caps;
    this.#answeredRest += count * course.answerRate;
    const answered = Math.min(count, Math.floor(this.#answeredRest + 1e-9));
    this.#answeredRest -= answered;
    called.answered += answered;
    called.unanswered += count - answered;
    this.#result.lastStartAt = now;
    if (attempts === 0) this.#result.lastFirstStartAt = now;
    if (answered === count || attempts >= course.retries) return;
    const calls = caps.length === 0 ? calledAt : [...calledAt, now];
    const retryAt = course.retryAt(attempts + 1, now + this.#unansweredMs, group.zones);
    const dueAt = caps.length === 0 ? retryAt : allowedBy(caps, calls, retryAt);
    this.#waiting.push({ group, attempts: attempts + 1, count: count - answered, dueAt, order, calledAt: calls });
  }

  #occupyLines(now: number, { answered, unanswered }: Called): void {
    const { course } = this.#input;
    this.#result.calls += answered + unanswered;
    this.#result.callMs += answered * course.answeredMs + unanswered * course.unansweredMs;
    this.#lines.begin(now, answered, this.#answeredMs);
    this.#lines.begin(now, unanswered, this.#unansweredMs);
  }
}

type Called = Record<'answered' | 'unanswered', number>;

function allowedBy(caps: readonly FrequencyCap[], calledAt: readonly number[], at: number): number {
  const calls = calledAt.map((call) => ({ at: call, talked: false }));
  return capsAllowAt(caps, { number: calls, person: calls }, at);
}
