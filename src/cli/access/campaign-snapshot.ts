import type { ServiceClock } from '../../convai/service-clock.ts';
import { findCampaign, type Campaign } from '../../ledger/rows/campaigns.ts';
import { readStatus, type CampaignStatus } from '../../ledger/campaign/campaign-status.ts';
import { countStarts } from '../../ledger/limits/counters.ts';
import { lastEventSeq, readEvents, type CampaignEvent } from '../../ledger/events.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { toldEvents } from '../words/events.ts';

/** A campaign at one moment. */
export interface Snapshot {
  campaign: Campaign;
  status: CampaignStatus;
  /** Calls begun per minute of service time, lately. */
  startsPerMinute: number;
  /** Real milliseconds until the end at the pace of the last minute; null while nothing can be said. */
  leftMs: number | null;
  /** What happened since the snapshot before. */
  events: CampaignEvent[];
}

const minuteMs = 60_000;
/** A minute of a fast sandbox is too short to count in. */
const startsOverRealMs = 10_000;
const paceOverMs = 60_000;
const shortestPaceMs = 3_000;
const mostEvents = 200;

/** Takes snapshots of one campaign and keeps what the next one needs: where the log was read to, and the pace. */
export class CampaignReader {
  readonly #store: Store;
  readonly #campaignId: string;
  readonly #clock: () => Promise<ServiceClock>;
  readonly #now: () => number;
  #seq: number | null;
  #samples: { at: number; done: number }[] = [];

  /** `fromSeq`: where in the event log to begin; null for its end. */
  constructor(input: {
    store: Store;
    campaignId: string;
    clock: () => Promise<ServiceClock>;
    now: () => number;
    fromSeq: number | null;
  }) {
    this.#store = input.store;
    this.#campaignId = input.campaignId;
    this.#clock = input.clock;
    this.#now = input.now;
    this.#seq = input.fromSeq;
  }

  async read(): Promise<Snapshot> {
    const { db } = this.#store;
    const campaign = await findCampaign(db, this.#campaignId);
    if (campaign === undefined) throw new Error(`campaign ${this.#campaignId} has gone from the database`);
    const status = await readStatus(db, campaign);
    const clock = await this.#clock();
    const withinMs = Math.max(minuteMs, startsOverRealMs * clock.speed);
    const { count } = await countStarts(db, this.#campaignId, Math.round(clock.now()), withinMs);
    return {
      campaign,
      status,
      startsPerMinute: Math.round((count * minuteMs) / withinMs),
      leftMs: this.#estimate(status, clock),
      events: await this.#readEvents(),
    };
  }

  async #readEvents(): Promise<CampaignEvent[]> {
    const { db } = this.#store;
    if (this.#seq === null) {
      this.#seq = await lastEventSeq(db, this.#campaignId);
      return [];
    }
    const events = await readEvents(db, this.#campaignId, this.#seq, mostEvents, toldEvents);
    this.#seq = events.at(-1)?.seq ?? this.#seq;
    return events;
  }

  #estimate({ done, total, open, nextDueAt }: CampaignStatus, clock: ServiceClock): number | null {
    const at = this.#now();
    this.#samples = [...this.#samples.filter((sample) => at - sample.at <= paceOverMs), { at, done }];
    const [first] = this.#samples;
    if (first === undefined || at - first.at < shortestPaceMs || done <= first.done || done >= total) return null;
    const left = ((total - done) * (at - first.at)) / (done - first.done);
    const untilDue = open > 0 || nextDueAt === null ? 0 : clock.atReal(nextDueAt) - at;
    return Math.max(left, untilDue);
  }
}
