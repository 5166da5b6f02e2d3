/**
 * How far the clock that the service shows is off from service time, since when. What happens goes by service time; dates in
 * headers and records are told by the clock that was shown at their instant.
 */
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
