import { createHash } from 'node:crypto';
import { Random } from '../../src/sandbox/core/random.ts';

/** A row of the list, and what is expected of it whatever happens. */
export interface Person {
  id: string;
  phone: string;
  name: string;
  /** `bad`: no number; `barred`: on the do-not-call list before the campaign starts. */
  kind: 'callable' | 'bad' | 'barred';
}

const columns = ['phone', 'id', 'name'];
const areaCodes = '201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240'.split(' ');
/** Last four digits with a fate of their own: busy, no answer, voicemail, failed, silent, opts out, busy once. */
const fates = ['0101', '0102', '0103', '0104', '0106', '0108', '0110'];

/** People with numbers that are set aside for fiction; a fifth has a fate that is known beforehand, some cannot be called. */
export function drawPeople(seed: number, rows: number): Person[] {
  const random = new Random(seed, 'people');
  const numbers = areaCodes.flatMap((area) => [
    ...fates.map((fate) => `+1${area}555${fate}`),
    ...Array.from({ length: 60 }, (_, line) => `+1${area}555${String(130 + line).padStart(4, '0')}`),
  ]);
  const isFated = (phone: string): boolean => fates.includes(phone.slice(-4));
  const [fated, others] = [numbers.filter(isFated), numbers.filter((phone) => !isFated(phone))];
  return Array.from({ length: rows }, (_, index): Person => {
    const from = random.chance(0.2) && fated.length > 0 ? fated : others;
    const [phone = ''] = from.splice(Math.floor(random.next() * from.length), 1);
    const kind = index % 40 === 7 ? 'bad' : index % 40 === 23 ? 'barred' : 'callable';
    // One of its kind, so that it can be searched for.
    const name = `Name${createHash('sha256').update(`${seed}/${index}`).digest('hex').slice(0, 14)}`;
    return { id: `p-${index + 1}`, phone: kind === 'bad' ? '555' : phone, name, kind };
  });
}

export function cellsOf({ phone, id, name }: Person): Record<string, string> {
  return { phone, id, name };
}

export function toCsv(people: readonly Person[]): string {
  return `${[columns.join(','), ...people.map((person) => Object.values(cellsOf(person)).join(','))].join('\n')}\n`;
}
