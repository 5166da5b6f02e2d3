/** Service time: what the sandbox calls "now". All its records, headers and timers live on it. */
export interface Clock {
  /** Service milliseconds per real millisecond; 0 while it is moved by hand. */
  readonly speed: number;
  readonly anchorRealMs: number;
  readonly anchorServiceMs: number;
  now(): number;
  realNow(): number;
  /** Real milliseconds that pass while `serviceMs` pass on this clock; Infinity when none ever do. */
  toRealMs(serviceMs: number): number;
}

export type ClockMode = 'realtime' | 'scaled' | 'manual';

export interface ScaledClockOptions {
  /** Service milliseconds per real millisecond; 1 is real time, 0 stands still until it is moved. */
  speed: number;
  /** Service time at the moment of creation; the machine's time when left out. */
  epochMs?: number | undefined;
  realNow?: () => number;
}

/** service now = anchorServiceMs + (real now − anchorRealMs) × speed. Forward only: neither a new speed nor a move takes it back. */
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

  /** The one way back: a whole state of the past is put in the place of this one. */
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

/** How far the clock that the service shows is off from service time, since when: dates in headers and records follow it. */
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
