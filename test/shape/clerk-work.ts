import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../src/sandbox/core/random.ts';
import type { Deed } from '../world/judge/evidence.ts';
import type { Listed } from '../world/population.ts';
import type { Change, Office, Said } from './office.ts';

/** How long a campaign is left paused. */
const pausedForMs = 4_000;

/** What people do to a campaign through the API while its processes are struck, and what they were answered. */
export class ClerkWork {
  readonly deeds: Deed[] = [];
  /** From the answer to a pause until somebody asked for its end, in real time. */
  readonly pauses: { from: number; to: number }[] = [];
  /** What they were answered, and must not be. */
  readonly broken: string[] = [];
  /** Changes that were carried out, and those of which nobody knows. */
  readonly counts = { carriedOut: 0, unheard: 0 };
  readonly #office: Office;
  readonly #campaign: string;
  readonly #random: Random;
  /** Whose row nobody has acted on; the last of the list first, who are called last. */
  readonly #left: Listed[];
  #keys = 0;

  constructor(office: Office, { campaignId, seed, people }: { campaignId: string; seed: number; people: readonly Listed[] }) {
    this.#office = office;
    this.#campaign = `campaigns/${campaignId}`;
    this.#random = new Random(seed, 'clerks');
    this.#left = people.filter(({ kind }) => kind === 'callable');
  }

  /** One number barred and one row withdrawn, whatever is struck meanwhile; requests are cut off, repeated, and their process is killed. */
  async actQuietly({ kills }: { kills: boolean }): Promise<void> {
    const [barred, withdrawn] = [this.#next(), this.#next()];
    const bar = this.#ask('suppressions', { numbers: [barred.phone], reason: 'asked by letter' });
    // The client hears nothing of the first one.
    await this.#office.send(bar, Math.round(this.#random.between(5, 60)));
    this.#note('suppress', barred, await this.#carryOut(bar), () => true);

    const withdraw = this.#ask(`${this.#campaign}/withdraw`, { ids: [withdrawn.id] });
    if (kills) {
      const sent = this.#office.send(withdraw);
      await pause(this.#random.between(0, 80));
      await this.#office.crash();
      await sent;
    }
    const isWithdrawn = ({ text }: Said): boolean => (JSON.parse(text) as { withdrawn: number }).withdrawn === 1;
    this.#note('withdraw', withdrawn, await this.#carryOut(withdraw), isWithdrawn);
  }

  /** A pause is sent twice, and is over with a resume by whoever has seen it. */
  async pauseAndGoOn(): Promise<void> {
    const { pausesSeen } = await this.#look();
    const stop = this.#ask(`${this.#campaign}/pause`);
    const [first, second] = await Promise.all([this.#office.change(stop), this.#office.change(stop)]);
    if (first === null || second === null) this.broken.push('a pause was not answered');
    else if (first.isReplayed === second.isReplayed) this.broken.push('a pause that was sent twice was made twice');
    this.counts.carriedOut += 1;
    const from = Date.now();
    await pause(pausedForMs);
    const stale = await this.#office.change(this.#ask(`${this.#campaign}/resume`, { pausesSeen }));
    if (stale !== null && stale.status < 400) this.broken.push('a resume that was wished before a pause was granted after it');
    await this.#mustBe('paused');
    this.pauses.push({ from, to: Date.now() });
    await this.#goOn();
    await this.#repeat(stop);
    await this.#mustBe('running');
  }

  async #mustBe(wanted: string): Promise<void> {
    const { state } = await this.#look();
    if (state !== wanted) this.broken.push(`it is ${state}, and was to be ${wanted}`);
  }

  async #goOn(): Promise<void> {
    for (;;) {
      const { pausesSeen } = await this.#look();
      const said = await this.#office.change(this.#ask(`${this.#campaign}/resume`, { pausesSeen }));
      if (said?.status === 200) break;
      // No worker may have answered in time: the wish is repeated, as its words say.
      if (said === null) this.counts.unheard += 1;
      await pause(500);
    }
    this.counts.carriedOut += 1;
  }

  async #carryOut(change: Change): Promise<Said | null> {
    const said = await this.#office.change(change);
    if (said === null) this.counts.unheard += 1;
    else if (said.status === 200) {
      this.counts.carriedOut += 1;
      await this.#repeat(change, said);
    }
    return said;
  }

  /** The same request once more: the same answer, and nothing else. */
  async #repeat(change: Change, first?: Said): Promise<void> {
    const again = await this.#office.change(change);
    if (again?.isReplayed !== true) this.broken.push(`${change.path} was carried out again`);
    else if (first !== undefined && again.text !== first.text) this.broken.push(`${change.path} was answered otherwise the second time`);
  }

  #note(act: Deed['act'], { phone }: Listed, said: Said | null, isDone: (said: Said) => boolean): void {
    const end = said === null ? 'unheard' : said.status === 200 && isDone(said) ? 'done' : 'refused';
    this.deeds.push({ act, number: phone, end, at: said?.at ?? Date.now() });
  }

  #look(): Promise<{ state: string; pausesSeen: number }> {
    return this.#office.read(this.#campaign);
  }

  #ask(path: string, body?: object): Change {
    this.#keys += 1;
    return { path, key: `change ${this.#keys}`, ...(body === undefined ? {} : { body }) };
  }

  #next(): Listed {
    const person = this.#left.pop();
    if (person === undefined) throw new Error('the list is too short for so many acts');
    return person;
  }
}
