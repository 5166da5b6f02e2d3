import type { Clock } from '../clock/clock.ts';
import { configOf, maxDurationMs, renderOpeningLine } from '../conversation/call-config.ts';
import { endings } from '../conversation/converse.ts';
import type { LiveTalks } from '../conversation/agent-mind.ts';
import { talkOf } from '../conversation/talk-of.ts';
import type { Talk } from '../state/talk.ts';
import type { Scheduler } from '../clock/scheduler.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { People } from '../world/people.ts';
import type { CallChange, CallListener, Call, CallCourse, ForcedCourse } from '../state/call.ts';
import { startRefusedCode, whyNotStarted } from '../conversation/start-gate.ts';
import { concurrencyOf } from '../state/agent.ts';
import { decideCourse, failedCourse, type OutcomeMix, closeCourse, refusedStart, withRingLimit } from './callee.ts';
import { forcedCourse } from './forced-course.ts';

export interface NetworkParts {
  settings: {
    seed: string;
    concurrency: number;
    unansweredCreateRecord: boolean;
    strictStart: boolean;
    meanTalkSeconds: number;
    outcomeMix: OutcomeMix;
  };
  clock: Clock;
  scheduler: Scheduler;
  state: ServiceState;
  live: LiveTalks;
  people: People;
  pendingWork: Set<Promise<unknown>>;
  callListeners: ReadonlySet<CallListener>;
}

export type Switchboard = Pick<NetworkParts, 'settings' | 'clock' | 'state' | 'people'> & { network: PhoneNetwork };

export class PhoneNetwork {
  readonly #parts: Omit<NetworkParts, 'state'>;
  /** A reset gives the service another state; this network keeps its own. */
  readonly #state: ServiceState;
  #queue: Call[] = [];
  #head = 0;
  readonly #onTheLine = new Set<Call>();
  #closed = false;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
    this.#state = parts.state;
  }

  /** Queues calls accepted at `at` and dials those with a free line at that instant. */
  queue(calls: readonly Call[], at: number): void {
    for (const call of calls) {
      this.#queue.push(call);
      this.#tell(call, 'queued', at);
    }
    this.#dialNext(at);
  }

  /** Queues calls at a future instant, except those that got a course by then. */
  queueLater(calls: readonly Call[], notBefore: number): void {
    for (const call of calls) call.notBefore = notBefore;
    this.#parts.scheduler.schedule(notBefore, (at) => {
      const waiting = calls.filter(({ course }) => course === null);
      this.queue(waiting, at);
    });
  }

  /** Connects an inbound call whose course is decided. Requires a free line. */
  connect(call: Call, at: number): void {
    this.#onTheLine.add(call);
    this.#tell(call, 'dialed', at);
    this.#hold(call, at);
  }

  /** Queued calls wait, active ones go on. Events due by `at` have happened. */
  resume(calls: Iterable<Call>, at: number): void {
    for (const call of calls) {
      if (call.course === null && (call.notBefore ?? 0) > at) this.queueLater([call], call.notBefore ?? 0);
      else if (call.course === null) this.#queue.push(call);
      else if (call.course.analysedAt > at) {
        if (call.course.endedAt > at) this.#onTheLine.add(call);
        if (isOverSocket(call) && call.course.endedAt === Infinity) this.hangUp(call, lostTalk(call, at));
        else this.#hold(call, at + 1);
      }
    }
    this.#dialNext(at);
  }

  redirect(call: Call, course: CallCourse, at: number): void {
    call.course = course;
    this.#tell(call, 'redirected', at);
    this.#hold(call, at);
  }

  order(call: Call, forced: ForcedCourse, at: number): void {
    call.forced = forced;
    this.#tell(call, 'redirected', at);
  }

  hangUp(call: Call, talk: Talk): void {
    if (this.#closed || call.course === null || call.course.endedAt !== Infinity) return;
    this.#end(call, call.course, talk);
  }

  /** Ignores results of work still running elsewhere. */
  close(): void {
    this.#closed = true;
  }

  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  get linesInUse(): number {
    return this.#onTheLine.size;
  }

  get hasFreeLine(): boolean {
    return this.linesInUse < this.#parts.settings.concurrency;
  }

  #dialNext(at: number): void {
    while (this.hasFreeLine) {
      const call = this.#takeNext();
      if (call === undefined) break;
      if (call.course === null) this.#dial(call, at);
    }
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #takeNext(): Call | undefined {
    let place = this.#head;
    while (this.#isHeldBack(this.#queue[place])) place += 1;
    if (place > this.#head) return this.#queue.splice(place, 1)[0];
    if (place < this.#queue.length) this.#head += 1;
    return this.#queue[place];
  }

  #isHeldBack(call: Call | undefined): boolean {
    if (call?.course !== null) return false;
    if (this.#state.campaigns.get(call.campaign?.campaignId ?? '')?.standing === 'paused') return true;
    if (call.byShare === true && this.#isShareUsed(call)) return true;
    if (call.batchLines === undefined) return false;
    return [...this.#onTheLine].filter(({ batchId }) => batchId === call.batchId).length >= call.batchLines;
  }

  /** Upstream batches without their own limit share half of all lines, and 70 % of an agent's; at least one. */
  #isShareUsed({ agentId }: Call): boolean {
    const { concurrency } = this.#parts.settings;
    const shared = [...this.#onTheLine].filter(({ byShare }) => byShare === true);
    if (shared.length >= Math.max(1, Math.floor(concurrency * 0.5))) return true;
    const limit = concurrencyOf(this.#state.agents.get(agentId));
    return limit !== null && shared.filter((call) => call.agentId === agentId).length >= Math.max(1, Math.floor(limit * 0.7));
  }

  #dial(call: Call, at: number): void {
    const { settings, people } = this.#parts;
    const number = this.#state.numbers.get(call.phoneNumberId);
    call.dialedAt = at;
    call.agent = this.#state.agents.get(call.agentId) ?? null;
    call.agentNumber = number?.phoneNumber ?? null;
    call.course = this.#decide(call, at);
    this.#onTheLine.add(call);
    if (settings.unansweredCreateRecord && people.records.unanswered !== 'none') this.#state.conversations.add(call, at);
    this.#tell(call, 'dialed', at);
    this.#hold(call, at);
  }

  #decide(call: Call, at: number): CallCourse {
    const drawn = this.#draw(call, at);
    const course = call.ringLimitMs === undefined ? drawn : withRingLimit(drawn, at, call.ringLimitMs);
    if (!this.#parts.settings.strictStart || course.answeredAt === null) return course;
    const why = whyNotStarted(call);
    return why === null ? course : refusedStart(course.answeredAt, why, startRefusedCode);
  }

  #draw(call: Call, at: number): CallCourse {
    const { settings } = this.#parts;
    const number = this.#state.numbers.get(call.phoneNumberId);
    if (call.agent === null) return failedCourse(at + 1_000, 'The agent no longer exists.');
    if (number === undefined) return failedCourse(at + 1_000, 'The caller number is not imported.');
    if (!number.verified) return failedCourse(at + 1_000, 'The caller number is not verified.');
    call.openingLine = renderOpeningLine(call);
    const { seed, outcomeMix, meanTalkSeconds } = settings;
    const forced = call.forced ?? this.#state.takeNextCourse(call.to);
    if (forced !== undefined) return forcedCourse(forced, { seed, to: call.to, nth: call.nth, dialedAt: at, meanTalkSeconds });
    const { people } = this.#parts;
    return decideCourse({ seed, number: call.to, nth: call.nth, dialedAt: at, people, outcomeMix, meanTalkSeconds });
  }

  /** A talk that is not over is held first. Events due by `from` have happened. */
  #hold(call: Call, from: number): void {
    const { course } = call;
    if (course === null) return;
    const { answeredAt } = course;
    if (course.endedAt !== Infinity || answeredAt === null) {
      this.#follow(call, course, from);
      return;
    }
    if (isOverSocket(call)) {
      this.#schedule(call, 'answered', answeredAt, from);
      return;
    }
    const { live, settings } = this.#parts;
    if (!live.wants(call)) {
      call.course = closeCourse(course, talkOf(settings.seed, call));
      this.#follow(call, call.course, from);
      return;
    }
    this.#schedule(call, 'answered', answeredAt, from);
    this.#whenHeld(call, live.hold(call, answeredAt));
    this.#parts.scheduler.schedule(answeredAt + maxDurationMs(configOf(call)), (at) => {
      // Skip if it has ended or got another course meanwhile.
      if (this.#closed || call.course?.endedAt !== Infinity || call.course.answeredAt !== answeredAt) return;
      this.#end(call, call.course, live.cutShort(call, at));
    });
  }

  #whenHeld(call: Call, held: Promise<Talk>): void {
    const { clock, pendingWork } = this.#parts;
    const work = held.then((talk) => {
      if (this.#closed || call.course === null || call.course.endedAt !== Infinity) return;
      // Talk times run from pick-up, but the end cannot lie before it became known.
      const now = clock.now();
      this.#end(call, call.course, talk.endedAt >= now ? talk : { ...talk, endedAt: now });
    });
    pendingWork.add(work);
    void work.finally(() => pendingWork.delete(work));
  }

  #end(call: Call, course: CallCourse, talk: Talk): void {
    call.live = talk;
    call.course = closeCourse(course, talk);
    this.#schedule(call, 'ended', call.course.endedAt, -Infinity);
    this.#schedule(call, 'analysed', call.course.analysedAt, -Infinity);
  }

  #follow(call: Call, course: CallCourse, from: number): void {
    if (course.answeredAt !== null) this.#schedule(call, 'answered', course.answeredAt, from);
    this.#schedule(call, 'ended', course.endedAt, from);
    this.#schedule(call, 'analysed', course.analysedAt, from);
  }

  #schedule(call: Call, change: Milestone, at: number, from: number): void {
    if (at < from || at === Infinity) return;
    this.#parts.scheduler.schedule(at, (when) => this.#happen(call, change, when));
  }

  #happen(call: Call, change: Milestone, at: number): void {
    if (call.course === null || instantOf(call.course, change) !== at) return;
    // If unanswered calls leave no record, it is made at pick-up.
    if (change === 'answered' && call.recordedAt === null) this.#state.conversations.add(call, at);
    this.#tell(call, change, at);
    if (change === 'ended' && this.#onTheLine.delete(call)) this.#dialNext(at);
  }

  #tell(call: Call, change: CallChange, at: number): void {
    for (const listen of this.#parts.callListeners) listen(call, change, at);
  }
}

type Milestone = Extract<CallChange, 'answered' | 'ended' | 'analysed'>;

function instantOf(course: CallCourse, change: Milestone): number | null {
  return { answered: course.answeredAt, ended: course.endedAt, analysed: course.analysedAt }[change];
}

function isOverSocket({ channel = 'phone' }: Call): boolean {
  return channel !== 'phone';
}

function lostTalk({ live }: Call, at: number): Talk {
  const turns = live?.turns ?? [];
  return { turns, endedAt: at, terminationReason: endings.lost, brokeDown: false };
}
