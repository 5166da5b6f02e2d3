import type { Scheduler } from '../scheduler.ts';
import type { SandboxSettings } from '../settings.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { Call } from './call.ts';
import { decideCourse, failedCourse } from './callee.ts';
import { renderOpeningLine } from './opening-line.ts';

/** Dials queued calls first come, first served, with a limited number of lines. */
export class PhoneNetwork {
  readonly #settings: SandboxSettings;
  readonly #scheduler: Scheduler;
  readonly #state: ServiceState;
  #queue: Call[] = [];
  #head = 0;
  #linesInUse = 0;

  constructor(settings: SandboxSettings, scheduler: Scheduler, state: ServiceState) {
    this.#settings = settings;
    this.#scheduler = scheduler;
    this.#state = state;
  }

  /** Queues calls accepted at `at`; those for which a line is free are dialled at that instant. */
  queue(calls: readonly Call[], at: number): void {
    for (const call of calls) this.#queue.push(call);
    this.#dialNext(at);
  }

  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  get linesInUse(): number {
    return this.#linesInUse;
  }

  #dialNext(at: number): void {
    while (this.#linesInUse < this.#settings.concurrency) {
      const call = this.#queue[this.#head];
      if (call === undefined) break;
      this.#head += 1;
      this.#dial(call, at);
    }
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #dial(call: Call, at: number): void {
    const agent = this.#state.agents.get(call.agentId) ?? null;
    const number = this.#state.numbers.get(call.phoneNumberId);
    call.dialedAt = at;
    call.agent = agent;
    call.agentNumber = number?.phoneNumber ?? null;
    if (agent === null) call.course = failedCourse(at + 1_000, 'The agent no longer exists.');
    else if (number === undefined) call.course = failedCourse(at + 1_000, 'The caller number is not imported.');
    else if (!number.verified) call.course = failedCourse(at + 1_000, 'The caller number is not verified.');
    else {
      call.openingLine = renderOpeningLine(agent.config, call.override, call.variables);
      const { seed, outcomeMix, meanTalkSeconds } = this.#settings;
      call.course = decideCourse({ seed, number: call.to, nth: call.nth, dialedAt: at, outcomeMix, meanTalkSeconds });
    }
    this.#linesInUse += 1;
    this.#scheduleRecord(call, at, number?.verified === true);
    this.#scheduler.schedule(call.course.endedAt, (endedAt) => {
      this.#linesInUse -= 1;
      this.#dialNext(endedAt);
    });
  }

  /** A record is made when the call is dialled, or on pick-up where unanswered calls leave none. */
  #scheduleRecord(call: Call, at: number, placed: boolean): void {
    if (!placed && this.#settings.dialect === 'spec') return;
    if (this.#settings.unansweredCreateRecord) {
      this.#state.conversations.add(call, at);
      return;
    }
    const answeredAt = call.course?.answeredAt ?? null;
    if (answeredAt !== null) this.#scheduler.schedule(answeredAt, (when) => this.#state.conversations.add(call, when));
  }
}
