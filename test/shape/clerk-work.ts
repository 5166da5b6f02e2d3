import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../src/sandbox/core/random.ts';
import type { Deed } from '../world/judge/evidence.ts';
import type { Change, Clerk, Office, Said } from './office.ts';
import type { Listed } from '../world/population.ts';

const pausedForMs = 4_000;

interface CampaignSeen {
  state: string;
  pausesSeen: number;
}

/** Operators' acts through the API while processes are struck, and the answers. */
export class ClerkWork {
  readonly deeds: Deed[] = [];
  /** From the answer to a pause until a resume was requested, in real time. */
  readonly pauses: { from: number; to: number }[] = [];
  smaller: { at: number; most: number } | null = null;
  readonly broken: string[] = [];
  readonly counts = { carriedOut: 0, unheard: 0, repeated: 0 };
  readonly #office: Office;
  readonly #campaign: string;
  readonly #random: Random;
  /** Rows without acts; the end of the list first, which is called last. */
  readonly #left: Listed[];
  #keys = 0;

  constructor(office: Office, { campaignId, seed, people }: { campaignId: string; seed: number; people: readonly Listed[] }) {
    this.#office = office;
    this.#campaign = `campaigns/${campaignId}`;
    this.#random = new Random(seed, 'clerks');
    this.#left = people.filter(({ kind }) => kind === 'callable');
  }

  async actQuietly({ kills }: { kills: boolean }): Promise<void> {
    const [barred, withdrawn, spared] = [this.#next(), this.#next(), this.#next()];
    const bar = this.#ask('front desk', 'suppressions', { numbers: [barred.phone], reason: 'asked by letter' });
    await this.#office.send(bar, Math.round(this.#random.between(5, 60)));
    const done = await this.#carryOut(bar);
    this.#note('suppress', barred, done, () => true);
    if (done?.status === 200) await this.#refuse(spared, bar.key);

    const withdraw = this.#ask('back office', `${this.#campaign}/withdraw`, { ids: [withdrawn.id] });
    if (kills) {
      const sent = this.#office.send(withdraw);
      await pause(this.#random.between(0, 80));
      await this.#office.crash();
      await sent;
    }
    const isWithdrawn = ({ text }: Said): boolean => (JSON.parse(text) as { withdrawn: number }).withdrawn === 1;
    this.#note('withdraw', withdrawn, await this.#carryOut(withdraw), isWithdrawn);
  }

  async makeSmaller(size: number): Promise<void> {
    const said = await this.#carryOut(this.#ask('front desk', `${this.#campaign}/adjust`, { batchSize: size }));
    if (said?.status === 200) this.smaller = { at: said.at, most: size };
    else if (said !== null) this.#break(`smaller batches were answered with ${said.status}`);
  }

  /** One operator pauses it, another resumes it; then both press at once. At the end it goes on. */
  async pressOpposite(): Promise<void> {
    const before = await this.#look();
    const stop = this.#ask('front desk', `${this.#campaign}/pause`);
    const [first, second] = await Promise.all([this.#office.change(stop), this.#office.change(stop)]);
    if (first === null || second === null) this.#break('a pause was not answered');
    else if (first.isReplayed === second.isReplayed) this.#break('a pause that was sent twice was made twice');
    this.counts.carriedOut += 1;
    const from = Date.now();
    await pause(pausedForMs);
    await this.#mustStayPaused(before.pausesSeen);
    this.pauses.push({ from, to: Date.now() });
    await this.#goOn();
    await this.#repeat(stop, 'pause');
    const again = await this.#look();
    if (again.state !== 'running') this.#break(`a repeated pause left the campaign ${again.state}`);

    const both = this.#ask('front desk', `${this.#campaign}/pause`);
    const against = this.#ask('back office', `${this.#campaign}/resume`, { pausesSeen: again.pausesSeen });
    const [paused, resumed] = await Promise.all([this.#office.change(both), this.#office.change(against)]);
    for (const said of [paused, resumed]) {
      if (said?.status === 200) this.counts.carriedOut += 1;
      if (said === null) this.counts.unheard += 1;
    }
    if (paused?.status !== 200) this.#break(`a pause was answered with ${paused?.status}`);
    const { state } = await this.#look();
    if (state !== 'paused') this.#break(`who had not seen the pause undid it: the campaign is ${state}`);
    await this.#goOn();
  }

  async #mustStayPaused(pausesSeen: number): Promise<void> {
    const stale = this.#ask('back office', `${this.#campaign}/resume`, { pausesSeen });
    const said = await this.#office.change(stale);
    if (said !== null && said.status < 400) this.#break('a resume that was wished before a pause was granted after it');
    const { state } = await this.#look();
    if (state !== 'paused') this.#break(`it was paused, and is ${state}`);
  }

  async #goOn(): Promise<void> {
    for (;;) {
      const { pausesSeen } = await this.#look();
      const resume = this.#ask('back office', `${this.#campaign}/resume`, { pausesSeen });
      const said = await this.#office.change(resume);
      if (said?.status === 200) break;
      // No worker may have answered in time: the request is repeated, as its text says.
      if (said === null) this.counts.unheard += 1;
      await pause(500);
    }
    this.counts.carriedOut += 1;
  }

  async #refuse(spared: Listed, usedKey: string): Promise<void> {
    const body = { numbers: [spared.phone] };
    const looker = await this.#office.change(this.#ask('onlooker', 'suppressions', body));
    if (looker !== null && looker.status !== 403) this.#break(`who may only look was answered with ${looker?.status}`);
    const reused = await this.#office.change({ who: 'front desk', path: 'suppressions', key: usedKey, body });
    if (reused !== null && reused.code !== 'key_reused') this.#break(`a key that was used was answered with ${reused.status}`);
    this.deeds.push({ act: 'suppress', number: spared.phone, end: 'refused', at: Date.now() });
  }

  async #carryOut(change: Change): Promise<Said | null> {
    const said = await this.#office.change(change);
    if (said === null) this.counts.unheard += 1;
    else if (said.status === 200) {
      this.counts.carriedOut += 1;
      await this.#repeat(change, change.path, said);
    }
    return said;
  }

  /** Repeats a request: the same answer, and no other effect. */
  async #repeat(change: Change, what: string, first?: Said): Promise<void> {
    const again = await this.#office.change(change);
    if (again?.isReplayed !== true) this.#break(`${what} was carried out again`);
    else if (first !== undefined && again.text !== first.text) this.#break(`${what} was answered otherwise the second time`);
    this.counts.repeated += 1;
  }

  #note(act: Deed['act'], { phone }: Listed, said: Said | null, isDone: (said: Said) => boolean): void {
    const end = said === null ? 'unheard' : said.status === 200 && isDone(said) ? 'done' : 'refused';
    this.deeds.push({ act, number: phone, end, at: said?.at ?? Date.now() });
  }

  #look(): Promise<CampaignSeen> {
    return this.#office.read('onlooker', this.#campaign);
  }

  #ask(who: Clerk, path: string, body?: object): Change {
    this.#keys += 1;
    return { who, path, key: `change ${this.#keys}`, ...(body === undefined ? {} : { body }) };
  }

  #next(): Listed {
    const person = this.#left.pop();
    if (person === undefined) throw new Error('the list is too short for so many acts');
    return person;
  }

  #break(what: string): void {
    this.broken.push(what);
  }
}
