import type { Talk, Turn } from '../../core/state/talk.ts';
import { Random } from '../../core/random.ts';
import type { RecordHabits } from '../../core/world/record-habits.ts';
import type { Call } from '../../core/state/call.ts';

/** What of a call its record tells; each thing is drawn by itself, so that a new habit changes no other. */
export class ShownRecord {
  readonly #seed: string;
  readonly #call: Call;
  readonly #habits: RecordHabits;

  constructor(seed: string, call: Call, habits: RecordHabits) {
    this.#seed = seed;
    this.#call = call;
    this.#habits = habits;
  }

  shows(what: 'number' | 'batch' | 'reference' | 'direction'): boolean {
    return this.#happens(what, this.#habits[`${what}_shown`]);
  }

  /** A record of a call that nobody answered tells times alone. */
  get isBare(): boolean {
    const { unanswered } = this.#habits;
    return this.#call.course?.answeredAt === null && (unanswered === 'bare' || unanswered === 'ring');
  }

  get countsRing(): boolean {
    return this.isBare && this.#habits.unanswered === 'ring';
  }

  /** Decided for the whole talk, so that a record does not change its mind while it grows. */
  withholds({ turns }: Talk): boolean {
    return turns.length > 0 && this.#happens('withheld', this.#habits.withheld);
  }

  turns(talk: Talk, begun: readonly Turn[]): readonly Turn[] | undefined {
    if (this.withholds(talk)) return this.#habits.withheld_form === 'absent' ? undefined : [];
    const first = begun.findIndex(({ speaker }) => speaker === 'agent');
    return begun.map((turn, index) => (index === first ? { ...turn, text: this.#line(turn.text) } : turn));
  }

  withholdsResults(talk: Talk): boolean {
    return this.#habits.withheld_results && this.withholds(talk);
  }

  #line(text: string): string {
    const { altered, shortened, bare_hello: bareHello } = this.#habits;
    const words = text.split(' ');
    if (this.#happens('bare hello', bareHello)) return (words[0] ?? '').replace(/[,.!?]+$/, '');
    const kept = this.#happens('shortened', shortened)
      ? Math.max(1, Math.ceil(this.#draw('words kept').between(0, words.length - 1)))
      : words.length;
    const line = words.slice(0, kept).join(' ');
    return this.#happens('altered', altered) ? alterLetter(line, this.#draw('letter')) : line;
  }

  #happens(what: string, share: number): boolean {
    return share >= 1 || (share > 0 && this.#draw(what).chance(share));
  }

  #draw(what: string): Random {
    return new Random(this.#seed, this.#call.conversationId, 'record', what);
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

function alterLetter(line: string, random: Random): string {
  const places = [...line.matchAll(/[a-z]/gi)].map(({ index }) => index);
  const at = places[Math.floor(random.next() * places.length)];
  if (at === undefined) return line;
  const others = letters.replace(line.charAt(at).toLowerCase(), '');
  return line.slice(0, at) + others.charAt(Math.floor(random.next() * others.length)) + line.slice(at + 1);
}
