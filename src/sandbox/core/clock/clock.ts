/** Service time: "now" in all records, headers and timers. */
export interface Clock {
  /** Service ms per real ms; 0 while moved by hand. */
  readonly speed: number;
  readonly anchorRealMs: number;
  readonly anchorServiceMs: number;
  now(): number;
  realNow(): number;
  /** Real ms until `serviceMs` have passed; Infinity when the clock stands still. */
  toRealMs(serviceMs: number): number;
}

export type ClockMode = 'realtime' | 'scaled' | 'manual';

export interface ScaledClockOptions {
  /** Service ms per real ms: 1 is real time, 0 stands still. */
  speed: number;
  /** Start in service time; default: the machine's time. */
  epochMs?: number | undefined;
  realNow?: () => number;
}

/** service now = anchorServiceMs + (real now − anchorRealMs) × speed. Moves forward only, also when the speed changes. */
export class ServiceClock implements Clock {
  readonly realNow: () => number;
  #speed: number;
  #anchorRealMs: number;
  #anchorServiceMs: number;

  constructor({ speed, epochMs, realNow = Date.now }: ScaledClockOptions) {
    this.realNow = realNow;
    this.#speed = speed;
    this.#anchorRealMs = realNow();
    this.#anchorServiceMs = epochMs ?? this.#anchorRealMs;
  }

  get speed(): number {
    return this.#speed;
  }

  get anchorRealMs(): number {
    return this.#anchorRealMs;
  }

  get anchorServiceMs(): number {
    return this.#anchorServiceMs;
  }

  now(): number {
    return Math.floor(this.#exactNow());
  }

  toRealMs(serviceMs: number): number {
    return this.#speed === 0 ? Infinity : serviceMs / this.#speed;
  }

  setSpeed(speed: number): void {
    this.#anchorAt(this.#exactNow());
    this.#speed = speed;
  }

  moveTo(serviceMs: number): void {
    if (serviceMs > this.now()) this.#anchorAt(serviceMs);
  }

  /** The only way back: restores a whole earlier state. */
  returnTo(serviceMs: number): void {
    this.#anchorAt(serviceMs);
  }

  #exactNow(): number {
    return this.#anchorServiceMs + (this.realNow() - this.#anchorRealMs) * this.#speed;
  }

  #anchorAt(serviceMs: number): void {
    this.#anchorRealMs = this.realNow();
    this.#anchorServiceMs = serviceMs;
  }
}

export function modeOf({ speed }: Clock): ClockMode {
  if (speed === 0) return 'manual';
  return speed === 1 ? 'realtime' : 'scaled';
}

/** Offset of the shown clock from service time, since when; dates in headers and records follow it. */
export class ClockSteps {
  readonly #steps: { at: number; offsetMs: number }[] = [];

  get offsetMs(): number {
    return this.#steps.at(-1)?.offsetMs ?? 0;
  }

  step(at: number, byMs: number): void {
    this.#steps.push({ at, offsetMs: this.offsetMs + byMs });
  }

  shown(at: number): number {
    return at + (this.#steps.findLast((step) => step.at <= at)?.offsetMs ?? 0);
  }

  clear(): void {
    this.#steps.length = 0;
  }
}
