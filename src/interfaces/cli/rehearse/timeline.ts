import { DateTime } from 'luxon';
import { timeZone } from '../../../rules/hours/time-zone.ts';
import type { EventType, NewEvent } from '../../../rules/events.ts';
import { hasEnded, type CampaignState } from '../../../rules/lifecycle.ts';
import { readEvents } from '../../../ledger/events.ts';
import type { Queries } from '../../../ledger/tx.ts';

/** Read from the event log. Instants are service time. */
export interface Timeline {
  startedAt: number | null;
  firstCallAt: number | null;
  lastCallAt: number | null;
  endedAt: number | null;
  /** UTC hours in which anything happened. */
  hours: { at: number; calls: number; answered: number; rowsDone: number }[];
  /** Earliest and latest local time of the recipients at which a call was placed; null without calls. */
  callees: { earliest: string; latest: string } | null;
  /** Times without a call while the campaign was under way. */
  quiet: { fromAt: number; untilAt: number; paused: boolean }[];
  pauses: { fromAt: number; untilAt: number | null; reason: string | null }[];
  /** Waits before a call, by reason. */
  waits: Record<string, number>;
  /** Planned calls released before they were placed, by reason. */
  released: Record<string, number>;
  optOuts: number;
}

const hourMs = 3_600_000;
/** Shorter gaps without a call are not reported. */
const quietFromMs = 2 * hourMs;
const eventsPerPage = 5_000;

/** `until`: time of the last read. */
export async function readTimeline(db: Queries, campaignId: string, until: number): Promise<Timeline> {
  const builder = new TimelineBuilder();
  for (let after = 0; ;) {
    const page = await readEvents(db, campaignId, { afterSeq: after, limit: eventsPerPage });
    for (const event of page) builder.take(event);
    const last = page.at(-1);
    if (last === undefined || page.length < eventsPerPage) return builder.finish(until);
    after = last.seq;
  }
}

class TimelineBuilder {
  readonly #calls: number[] = [];
  readonly #timeline: Timeline = {
    startedAt: null,
    firstCallAt: null,
    lastCallAt: null,
    endedAt: null,
    hours: [],
    callees: null,
    quiet: [],
    pauses: [],
    waits: {},
    released: {},
    optOuts: 0,
  };

  readonly #takers: { [Type in EventType]?: (event: Extract<NewEvent, { type: Type }>) => void } = {
    'round.started': ({ at }) => {
      this.#timeline.startedAt ??= at;
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
    'recipient.deferred': ({ data: { reason, count } }) => add(this.#timeline.waits, reason, count),
    'attempt.released': ({ data: { reason } }) => add(this.#timeline.released, reason, 1),
    'suppression.added': ({ attemptId }) => {
      if (attemptId !== undefined) this.#timeline.optOuts += 1;
    },
  };

  take(event: NewEvent): void {
    (this.#takers[event.type] as ((event: NewEvent) => void) | undefined)?.(event);
  }

  finish(until: number): Timeline {
    const calls = this.#calls.toSorted((a, b) => a - b);
    const hours = this.#timeline.hours.toSorted((a, b) => a.at - b.at);
    const [firstCallAt = null] = calls;
    const lastCallAt = calls.at(-1) ?? null;
    return { ...this.#timeline, firstCallAt, lastCallAt, hours, quiet: this.#findQuiet(calls, until) };
  }

  #noteState(at: number, to: CampaignState, reason: string | null): void {
    const { pauses } = this.#timeline;
    const last = pauses.at(-1);
    if (last?.untilAt === null) last.untilAt = at;
    if (to === 'paused') pauses.push({ fromAt: at, untilAt: null, reason });
    if (hasEnded({ state: to })) this.#timeline.endedAt = at;
  }

  #noteClock(at: number, zone: string): void {
    const time = DateTime.fromMillis(at, { zone: timeZone(zone) }).toFormat('HH:mm');
    const { earliest, latest } = this.#timeline.callees ?? { earliest: time, latest: time };
    this.#timeline.callees = { earliest: time < earliest ? time : earliest, latest: time > latest ? time : latest };
  }

  #hour(at: number): Timeline['hours'][number] {
    const { hours } = this.#timeline;
    const start = Math.floor(at / hourMs) * hourMs;
    const known = hours.findLast((hour) => hour.at === start);
    if (known !== undefined) return known;
    const hour = { at: start, calls: 0, answered: 0, rowsDone: 0 };
    hours.push(hour);
    return hour;
  }

  #findQuiet(calls: readonly number[], until: number): Timeline['quiet'] {
    const { startedAt, endedAt, pauses } = this.#timeline;
    if (startedAt === null) return [];
    const marks = [startedAt, ...calls, endedAt ?? until];
    return marks.flatMap((fromAt, index) => {
      const untilAt = marks[index + 1];
      if (untilAt === undefined || untilAt - fromAt < quietFromMs) return [];
      const paused = pauses.some((pause) => pause.fromAt < untilAt && (pause.untilAt ?? Infinity) > fromAt);
      return [{ fromAt, untilAt, paused }];
    });
  }
}

function add(counts: Record<string, number>, key: string, times: number): void {
  counts[key] = (counts[key] ?? 0) + times;
}
