import { hash } from 'node:crypto';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * Lines used of each area code's fictional 0100 to 0199; the sandbox uses lower ones for scripted recipients, higher ones as caller
 * numbers.
 */
const firstLine = 121;
const lastLine = 189;
const ukPrefix = '+442079460';
/** UK lines that have a scripted result in the sandbox. */
const scriptedUkLines = { from: 100, to: 120 };

/** Numbers reserved for fiction: 555-0121 to 0189 of North American area codes, UK 020 7946 0xxx. Each is used once. */
export class FictionalNumbers {
  readonly capacity: number;
  readonly #byArea = new Map<string, string[]>();
  /** Areas that still have numbers, in an order derived from the seed. */
  readonly #areas: string[];

  constructor(seed: string) {
    for (const area of areaCodes()) {
      const numbers: string[] = [];
      for (let line = lastLine; line >= firstLine; line -= 1) numbers.push(`+1${area}555${String(line).padStart(4, '0')}`);
      this.#byArea.set(`+1${area}`, numbers);
    }
    this.#byArea.set(ukPrefix, ukNumbers());
    this.capacity = [...this.#byArea.values()].reduce((sum, numbers) => sum + numbers.length, 0);
    const keyed = [...this.#byArea.keys()].map((area) => [hash('sha256', `${seed} ${area}`), area] as const);
    this.#areas = keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, area]) => area);
  }

  /** A replacement number from the same area or country if any is left, else from another; null: none is left. */
  take(e164: string): string | null {
    const home = e164.startsWith('+44') ? ukPrefix : e164.slice(0, 5);
    const near = this.#byArea.get(home)?.pop();
    if (near !== undefined) return near;
    for (let area = this.#areas.at(-1); area !== undefined; area = this.#areas.at(-1)) {
      const number = this.#byArea.get(area)?.pop();
      if (number !== undefined) return number;
      this.#areas.pop();
    }
    return null;
  }
}

let knownAreas: readonly string[] | null = null;

/** Geographic area codes in use: validation refuses a number with any other. */
function areaCodes(): readonly string[] {
  if (knownAreas !== null) return knownAreas;
  const areas: string[] = [];
  for (let area = 200; area < 1000; area += 1) {
    const number = parsePhoneNumberFromString(`+1${area}5550121`);
    if (number?.isValid() === true && number.getType() === 'FIXED_LINE_OR_MOBILE') areas.push(String(area));
  }
  knownAreas = areas;
  return areas;
}

function ukNumbers(): string[] {
  const numbers: string[] = [];
  for (let line = 999; line >= 0; line -= 1) {
    if (line < scriptedUkLines.from || line > scriptedUkLines.to) numbers.push(`${ukPrefix}${String(line).padStart(3, '0')}`);
  }
  return numbers;
}
