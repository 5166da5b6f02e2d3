import { DateTime } from 'luxon';
import { timeZone } from '../../domain/time-zone.ts';
import type { EventType, NewEvent } from '../../domain/events.ts';
import { hasEnded, type CampaignState } from '../../domain/lifecycle.ts';
import { readEvents } from '../../ledger/events.ts';
import type { Queries } from '../../ledger/open-ledger.ts';

/** What happened when, told from the event log. Instants are service time. */
export interface Timeline {
  startedAt: number | null;
  firstCallAt: number | null;
  lastCallAt: number | null;
  endedAt: number | null;
  /** Hours of UTC in which anything happened. */
  hours: { at: number; calls: number; answered: number; rowsDone: number }[];
  /** Earliest and latest time of day, on the clocks of the people called, at which a call was placed; null without calls. */
  callees: { earliest: string; latest: string } | null;
  /** Times in which no call was placed although the campaign had begun and was not over. */
  quiet: { from: number; until: number; paused: boolean }[];
  pauses: { from: number; until: number | null; reason: string | null }[];
  /** How often somebody had to wait before a call, by what for. */
  waits: Record<string, number>;
  /** Calls that were planned and given back before they were placed, by reason. */
  released: Record<string, number>;
  optOuts: number;
}

const hourMs = 3_600_000;
/** Shorter times without a call are nothing to tell of. */
const quietFromMs = 2 * hourMs;
const eventsPerPage = 5_000;

/** Reads the log of a campaign. `until`: when it was looked at last. */
export async function readTimeline(db: Queries, campaignId: string, until: number): Promise<Timeline> {
  const book = new TimelineBook();
  for (let after = 0; ;) {
    const page = await readEvents(db, campaignId, after, eventsPerPage);
    for (const event of page) book.take(event);
    const last = page.at(-1);
    if (last === undefined || page.length < eventsPerPage) return book.finish(until);
    after = last.seq;
  }
}

class TimelineBook {
  #startedAt: number | null = null;
  #endedAt: number | null = null;
  readonly #calls: number[] = [];
  readonly #hours = new Map<number, Timeline['hours'][number]>();
  readonly #pauses: Timeline['pauses'] = [];
  readonly #waits: Record<string, number> = {};
  readonly #released: Record<string, number> = {};
  #earliest: string | null = null;
  #latest: string | null = null;
  #optOuts = 0;

  readonly #takers: { [Type in EventType]?: (event: Extract<NewEvent, { type: Type }>) => void } = {
    'round.started': ({ at }) => {
      this.#startedAt ??= at;
    },
    'campaign.state': ({ at, data: { to, reason } }) => this.#noteState(at, to, reason),
    'attempt.posted': ({ at, data: { zones } }) => {
      this.#calls.push(at);
      this.#hour(at).calls += 1;
      for (const zone of zones) this.#noteClock(at, zone);
    },
    'attempt.settled': ({ at, data: { disposition } }) => {
      if (disposition === 'answered' || disposition === 'opted_out') this.#hour(at).answered += 1;
    },
    'recipient.outcome': ({ at, data: { outcome } }) => {
      if (outcome !== null) this.#hour(at).rowsDone += 1;
    },
    'recipient.deferred': ({ data: { reason, count } }) => add(this.#waits, reason, count),
    'attempt.released': ({ data: { reason } }) => add(this.#released, reason, 1),
    'suppression.added': ({ attemptId }) => {
      if (attemptId !== undefined) this.#optOuts += 1;
    },
  };

  take(event: NewEvent): void {
    (this.#takers[event.type] as ((event: NewEvent) => void) | undefined)?.(event);
  }

  finish(until: number): Timeline {
    const calls = this.#calls.toSorted((a, b) => a - b);
    const hours = [...this.#hours.values()].sort((a, b) => a.at - b.at);
    return {
      startedAt: this.#startedAt,
      firstCallAt: calls[0] ?? null,
      lastCallAt: calls.at(-1) ?? null,
      endedAt: this.#endedAt,
      hours,
      callees:
        this.#earliest === null || this.#latest === null ? null : { earliest: this.#earliest, latest: this.#latest },
      quiet: this.#findQuiet(calls, until),
      pauses: this.#pauses,
      waits: this.#waits,
      released: this.#released,
      optOuts: this.#optOuts,
    };
  }

  #noteState(at: number, to: CampaignState, reason: string | null): void {
    const last = this.#pauses.at(-1);
    if (last?.until === null) last.until = at;
    if (to === 'paused') this.#pauses.push({ from: at, until: null, reason });
    if (hasEnded({ state: to })) this.#endedAt = at;
  }

  #noteClock(at: number, zone: string): void {
    const time = DateTime.fromMillis(at, { zone: timeZone(zone) }).toFormat('HH:mm');
    if (this.#earliest === null || time < this.#earliest) this.#earliest = time;
    if (this.#latest === null || time > this.#latest) this.#latest = time;
  }

  #hour(at: number): Timeline['hours'][number] {
    const start = Math.floor(at / hourMs) * hourMs;
    const known = this.#hours.get(start) ?? { at: start, calls: 0, answered: 0, rowsDone: 0 };
    this.#hours.set(start, known);
    return known;
  }

  #findQuiet(calls: readonly number[], until: number): Timeline['quiet'] {
    if (this.#startedAt === null) return [];
    const marks = [this.#startedAt, ...calls, this.#endedAt ?? until];
    return marks.flatMap((mark, index) => {
      const next = marks[index + 1];
      if (next === undefined || next - mark < quietFromMs) return [];
      const paused = this.#pauses.some(({ from, until: end }) => from < next && (end ?? Infinity) > mark);
      return [{ from: mark, until: next, paused }];
    });
  }
}

function add(counts: Record<string, number>, key: string, times: number): void {
  counts[key] = (counts[key] ?? 0) + times;
}
